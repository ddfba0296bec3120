/* transport_tcp.c - measures transport tcp on loopback: throughput beside iperf3's, latency, and
 * what a poll costs that finds nothing.
 *
 * Sender and receiver are two processes that poll, as workers do. iperf3 and the transport take
 * turns, so that both see the same machine; where iperf3 is not installed its half is left out. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/transport/transport.h"
#include "tests/child.h"

enum { ROUNDS = 5, WINDOW = 4, LARGE = 4 << 20, BATCH = 16, N_ECHOES = 20000, N_IDLE = 200000 };

static const int64_t ROUND_NS = 1500 * NS_PER_MS, PATIENCE_NS = 10LL * NS_PER_S;

struct side {
	struct transport *transport;
	int stage;
	int64_t n_sent, n_received, n_acked;
	bool is_lost;
	char *payload;
};

static void fail(const char *what, const struct err *err)
{
	fprintf(stderr, "transport_tcp: %s: %s\n", what, err->text);
	exit(1);
}

/* Returns whether there was nothing. */
static bool side_poll(struct side *side)
{
	struct transport_event events[BATCH];
	struct err err = {0};
	size_t n;

	if (transport_poll(side->transport, events, BATCH, &n, &err))
		fail("poll", &err);
	for (size_t i = 0; i < n; i++) {
		side->n_acked += events[i].kind == TRANSPORT_ACKED;
		side->is_lost |= events[i].kind == TRANSPORT_LOST;
		if (events[i].kind != TRANSPORT_RECEIVED)
			continue;
		side->n_received++;
		transport_release(side->transport, events[i].payload);
	}
	return n == 0;
}

/* As a worker's loop does it: who has nothing to do leaves the core to who has. */
static void side_work(struct side *side)
{
	if (side_poll(side))
		(void)sched_yield();
}

static void side_send(struct side *side, int64_t n_bytes)
{
	struct message message = {
		.run = 1,
		.kind = side->stage == 0 ? OP_F : OP_B,
		.from_stage = side->stage,
		.to_stage = 1 - side->stage,
		.n_bytes = n_bytes,
	};
	struct err err = {0};

	/* Each message under way has bytes of its own, as tensors have. */
	if (transport_send(side->transport, &message,
	                   side->payload + (size_t)(side->n_sent++ % WINDOW) * LARGE, &err))
		fail("send", &err);
}

static void side_open(struct side *side, int stage, struct transport_address *addresses)
{
	bool is_local[2] = {stage == 0, stage == 1};
	struct transport_config config = {.run = 1,
	                                  .n_stages = 2,
	                                  .is_local = is_local,
	                                  .n_rails = 1,
	                                  .n_queues = 1,
	                                  .max_bytes = LARGE};
	const struct transport_ops *ops;
	struct err err = {0};

	*side = (struct side){.stage = stage, .payload = malloc((size_t)WINDOW * LARGE)};
	if (!side->payload || transport_find("tcp", &ops, &err) ||
	    ops->open(&config, addresses, &side->transport, &err))
		fail("open", &err);
	memset(side->payload, 42, (size_t)WINDOW * LARGE);
}

static void side_connect(struct side *side, const struct transport_address *addresses)
{
	struct err err = {0};

	if (side->transport->ops->connect(side->transport, addresses, PATIENCE_NS, &err))
		fail("connect", &err);
}

/* Stage 1, in a process of its own: echo is_echo or only receive until the rail is lost. */
static void be_receiver(int report, bool is_echo)
{
	struct transport_address addresses[2] = {0};
	struct side side;
	int64_t n_echoed = 0;

	side_open(&side, 1, addresses);
	if (write(report, &addresses[1], sizeof(addresses[1])) != sizeof(addresses[1]))
		exit(1);
	side_connect(&side, addresses);
	while (!side.is_lost) {
		side_work(&side);
		for (; is_echo && n_echoed < side.n_received; n_echoed++)
			side_send(&side, 64);
	}
	exit(0);
}

static void start(struct side *side, bool is_echo, pid_t *child)
{
	struct transport_address addresses[2] = {0};
	int report[2];

	if (pipe(report))
		exit(1);
	*child = child_start();
	if (*child == 0)
		be_receiver(report[1], is_echo);
	side_open(side, 0, addresses);
	if (!child_read(report[0], &addresses[1], sizeof(addresses[1])))
		exit(1);
	(void)close(report[0]);
	(void)close(report[1]);
	side_connect(side, addresses);
}

static void stop(struct side *side, pid_t child)
{
	transport_close(side->transport);
	free(side->payload);
	if (child_wait(child) != 0)
		exit(1);
}

/* Gbit/s of 4 MiB messages, four under way. */
static double measure_throughput(void)
{
	int64_t start_ns, ns;
	struct side side;
	pid_t child;

	start(&side, false, &child);
	start_ns = clock_monotonic_ns();
	while ((ns = clock_monotonic_ns() - start_ns) < ROUND_NS) {
		while (side.n_sent < side.n_acked + WINDOW)
			side_send(&side, LARGE);
		side_work(&side);
	}
	ns = clock_monotonic_ns() - start_ns;
	stop(&side, child);
	return (double)side.n_acked * LARGE * 8 / (double)ns;
}

/* Half a round trip, both sides polling. */
static double measure_latency_us(void)
{
	struct side side;
	int64_t start_ns;
	double us;
	pid_t child;

	start(&side, true, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 1; i <= N_ECHOES; i++) {
		side_send(&side, 64);
		while (side.n_received < i)
			side_work(&side);
	}
	us = (double)(clock_monotonic_ns() - start_ns) / N_ECHOES / 2 / NS_PER_US;
	stop(&side, child);
	return us;
}

static double measure_idle_poll_ns(void)
{
	struct side side;
	int64_t start_ns, ns;
	pid_t child;

	start(&side, false, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 0; i < N_IDLE; i++)
		(void)side_poll(&side);
	ns = clock_monotonic_ns() - start_ns;
	stop(&side, child);
	return (double)ns / N_IDLE;
}

/* Gbit/s; 0: there is no iperf3. */
static double measure_iperf3(void)
{
	static const char command[] =
		"command -v iperf3 >/dev/null || exit 0; port=$((20000 + $$ % 10000)); "
		"iperf3 -s -1 -p $port >/dev/null & sleep 0.2; "
		"iperf3 -c 127.0.0.1 -p $port -t 2 -J | "
		"sed -n '/sum_received/,/}/s/.*bits_per_second\":[^0-9]*\\([0-9.e+]*\\).*/\\1/p'; "
		"wait";
	FILE *pipe = popen(command, "r");
	double bits_per_s = 0;

	if (!pipe)
		return 0;
	if (fscanf(pipe, "%lf", &bits_per_s) != 1)
		bits_per_s = 0;
	(void)pclose(pipe);
	return bits_per_s / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
}

int main(void)
{
	double ours[ROUNDS], theirs[ROUNDS], ratios[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		/* A B, then B A: a machine that gets slower favours neither. */
		if (i % 2)
			theirs[i] = measure_iperf3();
		ours[i] = measure_throughput();
		if (i % 2 == 0)
			theirs[i] = measure_iperf3();
		ratios[i] = theirs[i] > 0 ? ours[i] / theirs[i] : 0;
	}
	sort(ours);
	sort(theirs);
	sort(ratios);
	printf("tcp, 4 MiB messages, %d under way   %8.2f Gbit/s (median of %d)\n", WINDOW,
	       ours[ROUNDS / 2], ROUNDS);
	if (theirs[ROUNDS / 2] > 0)
		printf("iperf3, same loopback              %8.2f Gbit/s\n"
		       "ratio (target at least 0.90)       %8.2f (%.2f to %.2f)\n",
		       theirs[ROUNDS / 2], ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
	else
		printf("iperf3 is not installed; no comparison\n");
	printf("one way, 64 bytes, both poll       %8.2f us\n", measure_latency_us());
	printf("poll() that finds nothing          %8.0f ns (target at most 1000)\n",
	       measure_idle_poll_ns());
	return 0;
}
