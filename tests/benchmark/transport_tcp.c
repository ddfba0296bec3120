/* transport_tcp.c - measures transport tcp on loopback: throughput beside iperf3's, latency, and
 * what a poll costs that finds nothing.
 *
 * Sender and receiver are two processes that poll, as workers do. iperf3 and the transport take
 * turns, so that both see the same machine; where iperf3 is not installed its half is left out. */
#include <stdio.h>

#include "engine/base/units.h"
#include "tests/transport_side.h"

enum { N_ECHOES = 20000, N_IDLE = 200000 };

static const int64_t ROUND_NS = 1500 * NS_PER_MS;
static const struct side_setting tcp = {.transport = "tcp", .n_bytes = 4 << 20};

/* Gbit/s; 0: there is no iperf3, or it has failed. */
static double measure_iperf3(const struct side_setting *setting)
{
	static const char command[] =
		"command -v iperf3 >/dev/null || exit 0; port=$((20000 + $$ % 10000)); "
		"iperf3 -s -1 -p $port >/dev/null & sleep 0.2; "
		"iperf3 -c 127.0.0.1 -p $port -t 2 -J | "
		"sed -n '/sum_received/,/}/s/.*bits_per_second\":[^0-9]*\\([0-9.e+]*\\).*/\\1/p'; "
		"wait";
	FILE *pipe = popen(command, "r");
	double bits_per_s = 0;

	(void)setting;
	if (!pipe)
		return 0;
	if (fscanf(pipe, "%lf", &bits_per_s) != 1)
		bits_per_s = 0;
	(void)pclose(pipe);
	return bits_per_s / 1e9;
}

int main(void)
{
	const struct side_comparison both = side_compare(&tcp, ROUND_NS, measure_iperf3);

	printf("tcp, 4 MiB messages, %d under way   %8.2f Gbit/s (median of %d)\n", SIDE_WINDOW,
	       both.ours, SIDE_ROUNDS);
	side_say_rounds(&both);
	if (both.n_whole > 0)
		printf("iperf3, same loopback              %8.2f Gbit/s\n"
		       "ratio (target at least 0.90)       %8.2f (%.2f to %.2f)\n",
		       both.theirs, both.ratio, both.ratio_least, both.ratio_most);
	else
		printf("iperf3 is not installed, or cannot run; no comparison\n");
	printf("one way, 64 bytes, both poll       %8.2f us\n", side_latency_us(&tcp, N_ECHOES));
	printf("poll() that finds nothing          %8.0f ns (target at most 1000)\n",
	       side_idle_poll_ns(&tcp, N_IDLE));
	return 0;
}
