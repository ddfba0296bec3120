/* transport_mixed.c - rails that different transports carry: which rail is whose, what a list of
 * them may not be, and that a rail of one goes on when that of another dies. */
#include <errno.h>
#include <string.h>

#include "engine/transport/payload.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_STAGES = 3, N_RAILS = 3, N_MESSAGES = 20, BYTES = 5000 };

static void check_found(const char *list, int want, const char *sentence)
{
	const struct transport_ops *ops = NULL;
	struct err err = {0};

	tap_is_int(transport_find(list, &ops, &err), want, "'%s'", list);
	if (want)
		tap_contains(err.text, sentence, "with a sentence");
	else
		tap_is_str(ops->name, sentence, "is found");
}

static void check_alone(void)
{
	static const bool is_local[] = {true, true};
	const struct transport_config config = {
		.n_stages = 2, .is_local = is_local, .n_rails = 1, .n_queues = 1};
	struct transport_address addresses[2];
	const struct transport_ops *ops;
	struct transport *transport = NULL;
	struct err err = {0};

	tap_is_int(transport_find("tcp,tcp", &ops, &err), 0, "mixed is found: %s", err.text);
	tap_is_int(ops->open(&config, addresses, &transport, &err), -EINVAL,
	           "it cannot be opened without its parts: %s", err.text);
}

/* A message on a rail, and what comes of it. */
static bool passes(struct transport_case *c, int rail, int mb)
{
	struct message message = case_message(c, 0, 1, mb, BYTES);
	char payload[BYTES];

	message.rail = rail;
	case_payload(&message, payload);
	c->n_log = 0;
	return case_send(c, &message, payload) == 0 && case_wait(c, TRANSPORT_ACKED, 0, 1) &&
	       case_count(c, TRANSPORT_RECEIVED, 1) == 1 && c->log[0].event.message.rail == rail;
}

static bool is_from(const struct transport_case *c, int rail, const char *start)
{
	return strncmp(c->addresses[1].text[rail], start, strlen(start)) == 0;
}

/* "loopback,tcp" of three rails: the first is loopback's. */
static void test_rails(void)
{
	static const struct transport_variant variant = {"loopback,tcp", false, 1, false};
	struct transport_case c;
	struct err err = {0};

	case_init(&c, &variant, N_STAGES);
	c.config.n_rails = N_RAILS;
	if (!case_open(&c))
		return;
	tap_ok(is_from(&c, 0, "loopback:"), "the first name has rail 0: %s",
	       c.addresses[1].text[0]);
	tap_ok(is_from(&c, 1, "127.0.0.1:") && is_from(&c, 2, "127.0.0.1:"),
	       "the last one has those that follow: %s, %s", c.addresses[1].text[1],
	       c.addresses[1].text[2]);
	for (int rail = 0; rail < N_RAILS; rail++)
		tap_ok(passes(&c, rail, rail), "a message passes rail %d", rail);

	c.n_log = 0;
	tap_is_int(transport_set_rail(case_worker(&c, 1), 1, 0, false, &err), 0, "rail 0 dies");
	tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1) && c.log[0].event.message.rail == 0,
	       "and is lost, no other one");
	tap_ok(!passes(&c, 0, 3), "it takes nothing any more");
	tap_ok(passes(&c, 1, 4), "another one does");
	c.n_log = 0;
	tap_is_int(transport_set_rail(case_worker(&c, 1), 1, 2, false, &err), 0, "rail 2 dies");
	tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1) && c.log[0].event.message.rail == 2,
	       "which is lost by its own number");
	tap_is_int(transport_set_rail(case_worker(&c, 1), 1, 0, true, &err), 0, "rail 0 is back");
	tap_ok(case_connect(&c) && passes(&c, 0, 5), "and carries messages again");
	case_fini(&c);
}

/* Payloads of all parts are out at once, and come back in any order, or never. */
static void test_payloads(void)
{
	static const struct transport_variant variant = {"tcp,loopback", false, 1, false};
	static _Alignas(64) char memory[N_MESSAGES * 2 * BYTES];
	const struct payload_area area = {memory, sizeof(memory)};
	char payload[BYTES];
	struct transport_case c;
	size_t n_given = 0;
	int n_there = 0, n_intact = 0;

	case_init(&c, &variant, 2);
	c.config.n_rails = 2;
	c.config.payloads = &area;
	c.keeps_payloads = true;
	if (!case_open(&c))
		return;
	for (int i = 0; i < N_MESSAGES; i++) {
		struct message message = case_message(&c, 0, 1, i, BYTES);

		message.rail = i % 2;
		memset(payload, i, sizeof(payload));
		(void)case_send(&c, &message, payload);
		tap_ok(case_wait(&c, TRANSPORT_ACKED, 0, i + 1), "message %d comes", i);
	}
	for (size_t i = 0; i < c.n_log; i++) {
		const struct transport_event *event = &c.log[i].event;
		const char *bytes = event->payload;

		if (event->kind != TRANSPORT_RECEIVED)
			continue;
		n_there += payload_area_holds(&area, bytes);
		n_intact += bytes[0] == event->message.microbatch &&
		            bytes[BYTES - 1] == event->message.microbatch;
	}
	tap_is_int(n_intact, N_MESSAGES, "no part writes where another one does");
	tap_ok(n_there > N_MESSAGES / 2, "most are in the caller's memory: %d", n_there);
	for (size_t i = c.n_log; i-- > 0;)
		if (c.log[i].event.kind == TRANSPORT_RECEIVED && n_given++ % 3)
			transport_release(c.workers[0], c.log[i].event.payload);
	transport_release(c.workers[0], NULL);
	tap_ok(passes(&c, 0, N_MESSAGES) && passes(&c, 1, N_MESSAGES + 1),
	       "and go on when most were given back");
	case_fini(&c);
}

int main(void)
{
	check_found("tcp,loopback", 0, "mixed");
	check_found("tcp,,tcp", -EINVAL, "write one for each rail");
	check_found(",tcp", -EINVAL, "write one for each rail");
	check_found("tcp,", -EINVAL, "write one for each rail");
	check_found("tcp,tpc", -ENOENT, "tcp");
	check_alone();
	test_rails();
	test_payloads();
	return tap_done();
}
