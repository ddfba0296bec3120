/* dataplane_known.c - tests that a data plane has its transport know all that it is sent from, on
 * every device and either plane, and that nothing is left known when it is closed. */
#include <errno.h>
#include <stdint.h>

#include "tests/plane_pair.h"
#include "tests/tap.h"

enum { N = 6, N_QUEUES = 2, TENSOR_BYTES = 4096, REGIONS_MAX = 200 };

/* What loopback is told, and whether it is true. */
static const struct transport_ops *loopback;
static struct transport_ops listening;
static struct region {
	uintptr_t start;
	size_t n_bytes;
} regions[REGIONS_MAX];
static int n_regions, n_sent, n_sent_from_known, n_wrong;

static int open_listening(const struct transport_config *config,
                          struct transport_address *addresses_out, struct transport **out,
                          struct err *err)
{
	int rc = loopback->open(config, addresses_out, out, err);

	if (rc == 0)
		(*out)->ops = &listening;
	return rc;
}

static void listen_for_known(struct transport *transport, const void *memory, size_t n_bytes,
                             bool is_known)
{
	int i = 0;

	(void)transport;
	if (is_known && n_regions < REGIONS_MAX) {
		regions[n_regions++] = (struct region){(uintptr_t)memory, n_bytes};
		return;
	}
	while (i < n_regions &&
	       (regions[i].start != (uintptr_t)memory || regions[i].n_bytes != n_bytes))
		i++;
	if (is_known || i == n_regions)
		n_wrong++;
	else
		regions[i] = regions[--n_regions];
}

static int send_and_look(struct transport *transport, const struct message *message,
                         const void *payload, struct err *err)
{
	bool is_known = false;

	for (int i = 0; i < n_regions; i++) {
		uintptr_t at = (uintptr_t)payload - regions[i].start;

		is_known |= at <= regions[i].n_bytes &&
		            (size_t)message->n_bytes <= regions[i].n_bytes - at;
	}
	n_sent++;
	n_sent_from_known += is_known;
	return loopback->send(transport, message, payload, err);
}

static int exchange(struct plane_pair *pair, int sender)
{
	int rc = 0;

	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = plane_pair_receive(pair, 1 - sender, mb);
	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = plane_pair_send(pair, sender, mb);
	return rc;
}

static void test(const char *device, const struct plane_rules *rules, const char *plane)
{
	struct plane_pair pair = {.device_name = device,
	                          .n_microbatches = N,
	                          .n_queues = N_QUEUES,
	                          .n_copy_streams = 1,
	                          .n_bytes = TENSOR_BYTES,
	                          .transport_ops = &listening};
	int rc = plane_pair_open(&pair);

	n_sent = n_sent_from_known = n_wrong = 0;
	if (rc == -ENODEV) {
		tap_skip("device %s: %s", device, pair.err.text);
		plane_pair_close(&pair);
		return;
	}
	for (int iteration = 0; rc == 0 && iteration < 2; iteration++) {
		rc = plane_pair_begin(&pair, rules, iteration);
		for (int sender = 0; rc == 0 && sender < 2; sender++)
			rc = exchange(&pair, sender);
		rc = rc ? rc : plane_pair_finish(&pair);
	}
	tap_is_int(rc, 0, "%s, %s: all arrive: %s", device, plane, pair.err.text);
	tap_is_int(n_sent, 2 * 2 * N, "so many messages were sent");
	tap_is_int(n_sent_from_known, n_sent, "all of them from memory that the transport knows");
	plane_pair_close(&pair);
	tap_ok(n_regions == 0 && n_wrong == 0, "%s: nothing is known when the plane is closed (%d)",
	       device, n_regions);
}

int main(void)
{
	const struct plane_rules stream = plane_batched();
	struct plane_rules delegates = plane_delegate();

	delegates.n_queues = N_QUEUES;
	if (transport_find("loopback", &loopback, NULL))
		return tap_skip_all("there is no transport loopback");
	listening = *loopback;
	listening.open = open_listening;
	listening.send = send_and_look;
	listening.set_known = listen_for_known;
	for (const struct device_ops *const *at = device_list(); *at; at++) {
		test((*at)->name, &stream, "stream");
		test((*at)->name, &delegates, "delegates");
	}
	return tap_done();
}
