/* transport_connect.c - where tcp listens, and what it says of who does not come. */
#include <errno.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

static void test_nobody_comes(void)
{
	static const struct transport_variant variant = {"tcp", false, 2, false};
	struct transport_case c;
	struct err err = {0};

	case_init(&c, &variant, 4);
	c.config.n_rails = 2;
	if (case_open_workers(&c)) {
		tap_is_int(c.workers[0]->ops->connect(c.workers[0], c.addresses, 50 * NS_PER_MS,
		                                      &err),
		           -ETIMEDOUT, "who does not answer is not waited for");
		tap_contains(err.text, "stage 1 could not connect to stage 2", "stages are named");
		tap_contains(err.text, "rail 0, queue 0 within 50 ms", "and rail, queue and time");
		tap_is_int(c.workers[1]->ops->connect(c.workers[1], c.addresses, 50 * NS_PER_MS,
		                                      &err),
		           -ETIMEDOUT, "nor who does not come");
		tap_contains(err.text, "stage 1 did not connect to stage 2", "and that is named");
		transport_close(c.workers[1]);
		c.workers[1] = NULL;
		tap_is_int(c.workers[0]->ops->connect(c.workers[0], c.addresses, 50 * NS_PER_MS,
		                                      &err),
		           -ETIMEDOUT, "nor who is gone");
		tap_contains(err.text, "Connection refused", "with the system's reason");
		(void)snprintf(c.addresses[2].text[0], TRANSPORT_ADDRESS_BYTES, "nonsense");
		tap_is_int(c.workers[0]->ops->connect(c.workers[0], c.addresses, 50 * NS_PER_MS,
		                                      &err),
		           -EINVAL, "an address that is none is refused");
		tap_contains(err.text, "stage 2, rail 0: 'nonsense'", "and named");
	}
	case_fini(&c);
}

static void test_listen_addresses(void)
{
	struct transport_address listen[2] = {0};
	struct transport_address addresses[2];
	bool is_local[2] = {true, true};
	struct transport_config config = {.run = 1,
	                                  .n_stages = 2,
	                                  .is_local = is_local,
	                                  .n_rails = 2,
	                                  .n_queues = 1,
	                                  .listen = listen};
	const struct transport_ops *ops;
	struct transport *transport;
	struct err err = {0};

	(void)transport_find("tcp", &ops, &err);
	(void)snprintf(listen[1].text[1], TRANSPORT_ADDRESS_BYTES, "127.0.0.7:0");
	if (tap_is_int(ops->open(&config, addresses, &transport, &err), 0,
	               "each rail can listen on an address of its own")) {
		tap_contains(addresses[1].text[1], "127.0.0.7:", "and is reached there");
		tap_contains(addresses[0].text[0], "127.0.0.1:", "others on the default");
		tap_is_int(ops->connect(transport, addresses, NS_PER_S, &err), 0, "it connects");
		transport_close(transport);
	}
	(void)snprintf(listen[1].text[1], TRANSPORT_ADDRESS_BYTES, "192.0.2.1:0");
	tap_is_int(ops->open(&config, addresses, &transport, &err), -EADDRNOTAVAIL,
	           "an address that this machine does not have is refused");
	tap_contains(err.text, "stage 1, rail 1: cannot listen on 192.0.2.1:0", "and named");
}

int main(void)
{
	test_nobody_comes();
	test_listen_addresses();
	return tap_done();
}
