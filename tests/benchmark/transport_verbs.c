/* transport_verbs.c - measures transport verbs: throughput beside ib_write_bw's, latency, and what
 * a poll costs that finds nothing.
 *
 * ADAPTRA_TEST_RDMA names the devices, as --rdma-device does; stage 0 has that of side a, stage 1
 * that of side b. ib_write_bw and the transport take turns, so that both see the same machine;
 * where perftest is not installed its half is left out. Without a device nothing is measured:
 * transport_verbs.sh makes some, in a virtual machine. */
#include <stdio.h>

#include "engine/base/units.h"
#include "engine/transport/verbs_agreement_internal.h"
#include "tests/transport_case.h"
#include "tests/transport_side.h"

enum { N_ECHOES = 2000, N_IDLE = 20000, N_BYTES = 1 << 20, MIB_BITS = 8 << 20 };

static const int64_t ROUND_NS = 2000 * NS_PER_MS;

/* Gbit/s of writes of the same size between the same ports, over the middle two seconds of four; 0:
 * there is no ib_write_bw, or it has failed. What it calls MB are MiB; of Gbit it prints too few
 * decimals for a device in software. */
static double measure_ib_write_bw(const struct side_setting *setting)
{
	const char *devices = setting->verbs->devices;
	struct verbs_name names[2];
	char command[1024];
	double mib_per_s = 0;
	FILE *pipe;

	if (verbs_name_of(devices, 0, 0, 1, &names[0], NULL) ||
	    verbs_name_of(devices, 0, 1, 0, &names[1], NULL))
		return 0;
	/* On a slow machine the server may not listen yet. Neither is waited for much longer than
	 * it takes, so that one that stands still does not hold up the rest. */
	(void)snprintf(
		command, sizeof(command),
		"command -v ib_write_bw >/dev/null || exit 0; port=$((20000 + $$ %% 10000)); "
		"options=\"-F -s %d -D 4 -f 1 -x 1 -p $port\"; "
		"ib_write_bw $options -d %s -i %d >/dev/null 2>&1 & "
		"for try in 1 2 3; do sleep 1; "
		"said=$(timeout -s KILL 15 ib_write_bw $options -d %s -i %d localhost "
		"2>/dev/null); [ $? = 1 ] || break; done; kill -s KILL $! 2>/dev/null; wait; "
		"echo \"$said\" | awk '$1 == %d { print $4 }'",
		N_BYTES, names[1].device, names[1].port, names[0].device, names[0].port, N_BYTES);
	pipe = popen(command, "r");
	if (!pipe)
		return 0;
	if (fscanf(pipe, "%lf", &mib_per_s) != 1)
		mib_per_s = 0;
	(void)pclose(pipe);
	return mib_per_s * MIB_BITS / 1e9;
}

static void report_throughput(const struct side_setting *verbs)
{
	const struct side_comparison both = side_compare(verbs, ROUND_NS, measure_ib_write_bw);

	printf("verbs, 1 MiB messages, %d under way %8.3f Gbit/s (median of %d)\n", SIDE_WINDOW,
	       both.ours, SIDE_ROUNDS);
	side_say_rounds(&both);
	if (both.n_whole > 0)
		printf("ib_write_bw, same ports            %8.3f Gbit/s\n"
		       "ratio (target at least 0.90)       %8.2f (%.2f to %.2f)\n",
		       both.theirs, both.ratio, both.ratio_least, both.ratio_most);
	else
		printf("perftest is not installed, or cannot run; no comparison\n");
}

int main(void)
{
	const struct side_setting verbs = {
		.transport = "verbs", .verbs = case_verbs(), .n_bytes = N_BYTES};

	if (!verbs.verbs->devices) {
		printf("ADAPTRA_TEST_RDMA names no devices; nothing is measured\n");
		return 0;
	}
	report_throughput(&verbs);
	printf("one way, 64 bytes, both poll       %8.2f us\n", side_latency_us(&verbs, N_ECHOES));
	printf("poll() that finds nothing          %8.0f ns\n", side_idle_poll_ns(&verbs, N_IDLE));
	return 0;
}
