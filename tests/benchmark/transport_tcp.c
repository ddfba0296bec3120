/* transport_tcp.c - measures transport tcp on loopback: throughput beside iperf3's, latency, and
 * what a poll costs that finds nothing.
 *
 * Sender and receiver are two processes that poll, as workers do. iperf3 and the transport take
 * turns, so that both see the same machine; where iperf3 is not installed its half is left out. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/transport_side.h"

enum { ROUNDS = 5, N_ECHOES = 20000, N_IDLE = 200000 };

static const int64_t ROUND_NS = 1500 * NS_PER_MS;
static const struct side_setting tcp = {.transport = "tcp", .n_bytes = 4 << 20};

/* Half a round trip, both sides polling. */
static double measure_latency_us(void)
{
	struct side side;
	int64_t start_ns;
	double us;
	pid_t child;

	side_start(&side, &tcp, true, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 1; i <= N_ECHOES; i++) {
		side_send(&side, 64);
		while (side.n_received < i)
			side_work(&side);
	}
	us = (double)(clock_monotonic_ns() - start_ns) / N_ECHOES / 2 / NS_PER_US;
	side_stop(&side, child);
	return us;
}

static double measure_idle_poll_ns(void)
{
	struct side side;
	int64_t start_ns, ns;
	pid_t child;

	side_start(&side, &tcp, false, &child);
	start_ns = clock_monotonic_ns();
	for (int i = 0; i < N_IDLE; i++)
		(void)side_poll(&side);
	ns = clock_monotonic_ns() - start_ns;
	side_stop(&side, child);
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
		ours[i] = side_throughput(&tcp, ROUND_NS);
		if (i % 2 == 0)
			theirs[i] = measure_iperf3();
		ratios[i] = theirs[i] > 0 ? ours[i] / theirs[i] : 0;
	}
	sort(ours);
	sort(theirs);
	sort(ratios);
	printf("tcp, 4 MiB messages, %d under way   %8.2f Gbit/s (median of %d)\n", SIDE_WINDOW,
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
