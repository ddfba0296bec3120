/* dataplane_copies.c - tests that tensors come whole through host memory on every device, and how
 * much of that memory they take where the device has memory of its own. */
#include <errno.h>

#include "engine/base/clock.h"
#include "tests/plane_pair.h"
#include "tests/tap.h"

enum { N = 10, N_QUEUES = 2, N_BUFFERS = 2 * N_QUEUES, TENSOR_BYTES = 72 << 10 };

struct setting {
	bool is_reachable;
	int n_copy_streams;
};

static const struct setting settings[] = {{true, 1}, {true, 2}, {false, 2}};

static struct plane_rules delegates(void)
{
	struct plane_rules rules = plane_delegate();

	rules.n_queues = N_QUEUES;
	return rules;
}

/* false: there is no such device here, or it does not open. */
static bool open_pair(struct plane_pair *pair, const char *device, const struct setting *setting)
{
	int rc;

	*pair = (struct plane_pair){.device_name = device,
	                            .n_microbatches = N,
	                            .n_queues = N_QUEUES,
	                            .n_copy_streams = setting->n_copy_streams,
	                            .n_bytes = TENSOR_BYTES,
	                            .is_reachable = setting->is_reachable};
	rc = plane_pair_open(pair);
	if (rc == 0)
		return true;
	if (rc == -ENODEV)
		tap_skip("device %s: %s", device, pair->err.text);
	else
		tap_ok(false, "device %s: planes open: %s", device, pair->err.text);
	plane_pair_close(pair);
	return false;
}

static int send_all(struct plane_pair *pair, int stage)
{
	int rc = 0;

	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = plane_pair_send(pair, stage, mb);
	return rc;
}

static int receive_all(struct plane_pair *pair, int stage)
{
	int rc = 0;

	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = plane_pair_receive(pair, stage, mb);
	return rc;
}

static void check_whole(struct plane_pair *pair, int rc, const char *what)
{
	rc = rc ? rc : plane_pair_finish(pair);
	tap_is_int(rc, 0, "%s, %s: all arrive: %s", pair->device_name, what, pair->err.text);
	for (int stage = 0; stage < 2; stage++)
		tap_is_int(plane_pair_intact(pair, stage), N, "what stage %d has got is whole",
		           stage);
}

/* Both directions at once, over buffers that were used before. */
static void test_iterations(const char *device, const struct setting *setting)
{
	const struct plane_rules rules = delegates();
	struct plane_pair pair;

	if (!open_pair(&pair, device, setting))
		return;
	for (int iteration = 0; iteration < 3; iteration++) {
		int rc = plane_pair_begin(&pair, &rules, iteration);

		for (int stage = 0; rc == 0 && stage < 2; stage++) {
			rc = send_all(&pair, stage);
			rc = rc ? rc : receive_all(&pair, stage);
		}
		check_whole(&pair, rc, "delegates");
	}
	plane_pair_close(&pair);
}

static void test_stream(const char *device)
{
	const struct plane_rules rules = plane_batched();
	struct plane_pair pair;
	int rc;

	if (!open_pair(&pair, device, &settings[1]))
		return;
	rc = plane_pair_begin(&pair, &rules, 0);
	/* A sender's queue stands still until its message is taken. */
	rc = rc ? rc : receive_all(&pair, 1);
	rc = rc ? rc : send_all(&pair, 0);
	rc = rc ? rc : receive_all(&pair, 0);
	rc = rc ? rc : send_all(&pair, 1);
	check_whole(&pair, rc, "stream");
	plane_pair_close(&pair);
}

/* Until so many messages are in host memory, and some turns longer. */
static int stage_messages(struct plane_pair *pair, int n)
{
	int64_t end_ns = clock_monotonic_ns() + 20000000000;
	int rc = 0;

	while (rc == 0 && plane_pair_requested(pair, 0) < n && clock_monotonic_ns() < end_ns)
		rc = plane_pair_turn(pair, false);
	for (int i = 0; rc == 0 && i < 100; i++) {
		rc = plane_pair_turn(pair, false);
		clock_sleep_ns(20000);
	}
	return rc;
}

static int count_resends(const struct plane_pair *pair)
{
	int n = 0;

	for (int mb = 0; mb < N; mb++)
		n += dataplane_path(pair->planes[0], OP_F, mb).n_resends;
	return n;
}

/* Nobody polls the transport, so nothing is acknowledged. Then a rail dies with what is under way,
 * or everything goes on. */
static void test_buffers(const char *device, bool has_rail_died)
{
	const struct plane_rules rules = delegates();
	struct plane_pair pair;
	int n_staged, rc;

	if (!open_pair(&pair, device, &settings[1]))
		return;
	n_staged = pair.devices[0]->has_own_memory ? N_BUFFERS : N;
	rc = plane_pair_begin(&pair, &rules, 0);
	rc = rc ? rc : send_all(&pair, 0);
	rc = rc ? rc : stage_messages(&pair, n_staged);
	tap_is_int(rc, 0, "%s: messages are copied: %s", device, pair.err.text);
	tap_is_int(plane_pair_requested(&pair, 0), n_staged,
	           "as many as there are buffers, two a queue; a CPU has one for each");
	if (has_rail_died)
		rc = rc ? rc : transport_set_rail(pair.transport, 1, 0, false, &pair.err);
	for (int stage = 0; rc == 0 && stage < 2; stage++)
		rc = receive_all(&pair, stage);
	rc = rc ? rc : send_all(&pair, 1);
	check_whole(&pair, rc, has_rail_died ? "a rail dies" : "acknowledged late");
	if (has_rail_died)
		tap_is_int(count_resends(&pair), N_QUEUES,
		           "what its queues had under way went again, out of the same memory");
	plane_pair_close(&pair);
}

/* A message that waited for memory counts as requested when there was some: not before the first
 * was acknowledged, which is after polling began. */
static void test_requested(const char *device)
{
	const struct plane_rules rules = delegates();
	struct plane_pair pair;
	int64_t polled_ns;
	int rc, n_before = 0;

	if (!open_pair(&pair, device, &settings[1]))
		return;
	rc = plane_pair_begin(&pair, &rules, 0);
	rc = rc ? rc : send_all(&pair, 0);
	rc = rc ? rc : stage_messages(&pair, N_BUFFERS);
	polled_ns = clock_monotonic_ns();
	rc = rc ? rc : receive_all(&pair, 1);
	rc = rc ? rc : plane_pair_finish(&pair);
	tap_is_int(rc, 0, "%s: all arrive: %s", device, pair.err.text);
	for (int mb = 0; mb < N; mb++)
		n_before += dataplane_sent(pair.planes[0], OP_F, mb).requested_ns < polled_ns;
	tap_is_int(n_before, pair.devices[0]->has_own_memory ? N_BUFFERS : N,
	           "who waited for a buffer was not requested before it had one");
	plane_pair_close(&pair);
}

/* On the stream plane one message is under way, and all others wait behind it in their queue. */
static void test_switch(const char *device)
{
	const struct plane_rules stream = plane_batched(), later = delegates();
	struct plane_pair pair;
	int rc;

	if (!open_pair(&pair, device, &settings[1]))
		return;
	rc = plane_pair_begin(&pair, &stream, 0);
	rc = rc ? rc : send_all(&pair, 0);
	rc = rc ? rc : stage_messages(&pair, 1);
	for (int stage = 0; rc == 0 && stage < 2; stage++)
		rc = dataplane_switch(pair.planes[stage], &later, clock_monotonic_ns(), &pair.err);
	for (int stage = 0; rc == 0 && stage < 2; stage++)
		rc = receive_all(&pair, stage);
	rc = rc ? rc : send_all(&pair, 1);
	check_whole(&pair, rc, "over to delegates");
	plane_pair_close(&pair);
}

int main(void)
{
	for (const struct device_ops *const *at = device_list(); *at; at++) {
		const char *device = (*at)->name;

		for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
			test_iterations(device, &settings[i]);
		test_stream(device);
		test_buffers(device, false);
		test_buffers(device, true);
		test_requested(device);
		test_switch(device);
	}
	return tap_done();
}
