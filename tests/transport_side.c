/* transport_side.c - two stages in two processes that exchange messages as fast as they can. */
#include "tests/transport_side.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/child.h"

enum { BATCH = 16, ECHO_BYTES = 64 };

static const int64_t PATIENCE_NS = 10LL * NS_PER_S;

/* On a single core to wake up costs what a device in software would have needed. There, with an
 * emulated processor, sleeps of 50 us take 14 % of it, 200 us 5 %, 500 us 4 %, and of 2 ms on it
 * has nothing to do at times; a message of 64 bytes takes 2 ms in any case. */
static const int64_t SHORT_NS = 500 * NS_PER_US;

static _Noreturn void fail(const char *what, const struct err *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

bool side_poll(struct side *side)
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

void side_work(struct side *side)
{
	if (!side_poll(side))
		return;
	if (side->has_cores)
		(void)sched_yield();
	else
		clock_sleep_ns(SHORT_NS);
}

void side_send(struct side *side, int64_t n_bytes)
{
	struct message message = {
		.run = 1,
		.kind = side->stage == 0 ? OP_F : OP_B,
		.from_stage = side->stage,
		.to_stage = 1 - side->stage,
		.n_bytes = n_bytes,
	};
	struct err err = {0};
	const char *payload = side->payload + side->n_sent++ % SIDE_WINDOW * side->setting.n_bytes;

	if (transport_send(side->transport, &message, payload, &err))
		fail("send", &err);
}

static void open_side(struct side *side, const struct side_setting *setting, int stage,
                      struct transport_address *addresses)
{
	bool is_local[2] = {stage == 0, stage == 1};
	struct transport_config config = {.run = 1,
	                                  .n_stages = 2,
	                                  .is_local = is_local,
	                                  .n_rails = 1,
	                                  .n_queues = 1,
	                                  .max_bytes = setting->n_bytes,
	                                  .verbs = setting->verbs};
	size_t n_bytes = (size_t)(SIDE_WINDOW * setting->n_bytes);
	const struct transport_ops *ops;
	struct err err = {0};

	*side = (struct side){.setting = *setting,
	                      .stage = stage,
	                      .has_cores = sysconf(_SC_NPROCESSORS_ONLN) > 1,
	                      .payload = malloc(n_bytes)};
	if (!side->payload || transport_find(setting->transport, &ops, &err) ||
	    ops->open(&config, addresses, &side->transport, &err))
		fail("open", &err);
	memset(side->payload, 42, n_bytes);
	transport_set_known(side->transport, side->payload, n_bytes, true);
}

static void connect_side(struct side *side, const struct transport_address *addresses)
{
	struct err err = {0};

	if (side->transport->ops->connect(side->transport, addresses, PATIENCE_NS, &err))
		fail("connect", &err);
}

static _Noreturn void be_receiver(const struct side_setting *setting, int report, bool is_echo)
{
	struct transport_address addresses[2] = {0};
	struct side side;
	int64_t n_echoed = 0;

	open_side(&side, setting, 1, addresses);
	if (write(report, &addresses[1], sizeof(addresses[1])) != sizeof(addresses[1]))
		exit(1);
	connect_side(&side, addresses);
	while (!side.is_lost) {
		side_work(&side);
		for (; is_echo && n_echoed < side.n_received; n_echoed++)
			side_send(&side, ECHO_BYTES);
	}
	exit(0);
}

void side_start(struct side *side, const struct side_setting *setting, bool is_echo,
                pid_t *child_out)
{
	struct transport_address addresses[2] = {0};
	int report[2];

	if (pipe(report))
		exit(1);
	*child_out = child_start();
	if (*child_out == 0)
		be_receiver(setting, report[1], is_echo);
	open_side(side, setting, 0, addresses);
	if (!child_read(report[0], &addresses[1], sizeof(addresses[1])))
		exit(1);
	(void)close(report[0]);
	(void)close(report[1]);
	connect_side(side, addresses);
}

void side_stop(struct side *side, pid_t child)
{
	transport_close(side->transport);
	free(side->payload);
	if (child_wait(child) != 0)
		exit(1);
}

/* Until one more is acknowledged, with as many under way as there may be; when that was seen. */
static int64_t side_await_ack(struct side *side)
{
	int64_t n_before = side->n_acked;

	while (side->n_acked == n_before) {
		if (side->is_lost)
			fail("work", &(struct err){.text = "the rail was lost"});
		while (side->n_sent < side->n_acked + SIDE_WINDOW)
			side_send(side, side->setting.n_bytes);
		side_work(side);
	}
	return clock_monotonic_ns();
}

/* From one acknowledgement to another: neither the start counts, nor what is cut off at the end. */
double side_throughput(const struct side_setting *setting, int64_t round_ns)
{
	int64_t start_ns, n_start, ns = 0;
	struct side side;
	pid_t child;

	side_start(&side, setting, false, &child);
	start_ns = side_await_ack(&side);
	n_start = side.n_acked;
	while (ns < round_ns)
		ns = side_await_ack(&side) - start_ns;
	side_stop(&side, child);
	return (double)((side.n_acked - n_start) * setting->n_bytes * 8) / (double)ns;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return values[n / 2];
}

struct side_comparison side_compare(const struct side_setting *setting, int64_t round_ns,
                                    double (*measure)(const struct side_setting *setting))
{
	double ours[SIDE_ROUNDS], theirs[SIDE_ROUNDS], ratios[SIDE_ROUNDS];
	struct side_comparison out = {0};
	int n = 0;

	for (int i = 0; i < SIDE_ROUNDS; i++) {
		double other = 0;

		/* A B, then B A: a machine that gets slower favours neither. */
		if (i % 2)
			other = measure(setting);
		ours[i] = side_throughput(setting, round_ns);
		if (i % 2 == 0)
			other = measure(setting);
		if (other <= 0)
			continue;
		ratios[n] = ours[i] / other;
		theirs[n++] = other;
	}
	out.ours = median(ours, SIDE_ROUNDS);
	out.n_whole = n;
	if (n == 0)
		return out;
	out.theirs = median(theirs, n);
	out.ratio = median(ratios, n);
	out.ratio_least = ratios[0];
	out.ratio_most = ratios[n - 1];
	return out;
}

void side_say_rounds(const struct side_comparison *comparison)
{
	if (comparison->n_whole < SIDE_ROUNDS)
		printf("compared in %d of %d rounds; in the others the other program failed\n",
		       comparison->n_whole, SIDE_ROUNDS);
}

double side_latency_us(const struct side_setting *setting, int n_echoes)
{
	struct side side;
	int64_t start_ns;
	double us;
	pid_t child;

	side_start(&side, setting, true, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 1; i <= n_echoes; i++) {
		side_send(&side, 64);
		while (side.n_received < i)
			side_work(&side);
	}
	us = (double)(clock_monotonic_ns() - start_ns) / n_echoes / 2 / NS_PER_US;
	side_stop(&side, child);
	return us;
}

double side_idle_poll_ns(const struct side_setting *setting, int n_polls)
{
	struct side side;
	int64_t start_ns, ns;
	pid_t child;

	side_start(&side, setting, false, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 0; i < n_polls; i++)
		(void)side_poll(&side);
	ns = clock_monotonic_ns() - start_ns;
	side_stop(&side, child);
	return (double)ns / n_polls;
}
