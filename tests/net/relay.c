/* relay.c - how well packets are delayed in user space: pings and streams at 1, 10, 30, 60 ms. */
#include "injectors/relay.h"

#include <math.h>
#include <sys/prctl.h>

#include "injectors/lab_ports.h"
#include "tests/folder.h"
#include "tests/net/traffic_fixture.h"

enum { N_STAGES = 2, N_PINGS = 40, N_TRIES = 5, STREAM_BYTES = 8 << 20, MTU_BYTES = 9000 };

static const char *folder;

static const struct topology topology = {
	.n_stages = N_STAGES, .n_hosts = N_STAGES, .n_replicas = 1, .n_rails = 1};

struct bench {
	struct journal *journal;
	struct lab *lab;
	struct lab_ports ports;
	struct egress *egress;
	struct injector *relay;
	pid_t servers[N_STAGES];
};

static bool bench_begin(struct bench *bench, struct err *err)
{
	const struct lab_config lab = {.n_hosts = N_STAGES, .n_rails = 1, .mtu_bytes = MTU_BYTES};
	const struct injector_ops *ops = NULL;
	struct injector_config config = {
		.topology = &topology,
		.message_bytes = STREAM_BYTES,
		.locate = lab_locate,
	};

	*bench = (struct bench){0};
	if (journal_open(folder, &bench->journal, err) ||
	    lab_open(&lab, bench->journal, &bench->lab, err) ||
	    egress_open(bench->journal, &bench->egress, err))
		return false;
	bench->ports = (struct lab_ports){.lab = bench->lab, .topology = &topology};
	config.journal = bench->journal;
	config.egress = bench->egress;
	config.locate_context = &bench->ports;
	traffic_start_all(bench->lab, bench->servers, N_STAGES);
	return injector_find("relay", &ops, err) == 0 &&
	       ops->open(&config, &bench->relay, err) == 0;
}

static void bench_end(struct bench *bench)
{
	struct err err = {0};

	traffic_stop_all(bench->servers, N_STAGES);
	fixture_succeeds(injector_close(bench->relay, &err), &err, "the relay closes");
	fixture_succeeds(egress_close(bench->egress, &err), &err, "and all behind it");
	fixture_succeeds(lab_close(bench->lab, &err), &err, "and the lab");
	journal_close(bench->journal);
}

static struct fault delay_of(int64_t delay_ns, int64_t jitter_ns)
{
	return (struct fault){.kind = FAULT_DELAY,
	                      .from_stage = 0,
	                      .to_stage = 1,
	                      .model = DELAY_LATENCY,
	                      .delay_ns = delay_ns,
	                      .jitter_ns = jitter_ns,
	                      .distribution = DISTRIBUTION_NORMAL};
}

/* The best median of some, since anything may disturb one; at once if it is within the bound. */
static double best_ping_ms(const struct bench *bench, double bound_ms)
{
	double best_ms = -1;

	for (int i = 0; i < N_TRIES && (best_ms < 0 || best_ms > bound_ms); i++) {
		double ping_ms = (double)traffic_ping_ns(bench->lab, 0, 1, 0, N_PINGS) / NS_PER_MS;

		if (best_ms < 0 || (ping_ms >= 0 && ping_ms < best_ms))
			best_ms = ping_ms;
	}
	return best_ms;
}

/* Never too short; too long by no more than 5 %, or what a busy machine costs. */
static void check_delay(const struct bench *bench, int delay_ms, double base_ms)
{
	const struct fault fault = delay_of(delay_ms * (int64_t)NS_PER_MS, 0);
	double bound_ms = delay_ms + fmax(0.05 * delay_ms, 2), ping_ms, stream_ms;
	struct err err = {0};

	fixture_succeeds(injector_apply(bench->relay, &fault, &err), &err, "a delay is applied");
	ping_ms = best_ping_ms(bench, bound_ms);
	tap_ok(ping_ms >= delay_ms && ping_ms <= bound_ms, "pings take %d ms more", delay_ms);
	stream_ms = (double)traffic_stream_ns(bench->lab, 0, 1, 0, STREAM_BYTES) / NS_PER_MS;
	tap_ok(stream_ms >= delay_ms, "and so does a stream of 8 MiB");
	tap_note("%d ms: ping %+.2f ms, stream of 8 MiB in %.0f ms", delay_ms,
	         ping_ms - delay_ms - base_ms, stream_ms);
}

static void test_delays(const struct bench *bench)
{
	static const int delays_ms[] = {1, 10, 30, 60};
	double base_ms = (double)traffic_ping_ns(bench->lab, 0, 1, 0, N_PINGS) / NS_PER_MS;
	struct injector_counts counts = {.dropped_packets = -1};
	struct delay_accuracy accuracy = {0};
	struct err err = {0};

	for (size_t i = 0; i < sizeof(delays_ms) / sizeof(delays_ms[0]); i++)
		check_delay(bench, delays_ms[i], base_ms);
	fixture_succeeds(injector_count(bench->relay, NULL, &counts, &err), &err,
	                 "packets are counted");
	tap_is_int(counts.dropped_packets, 0, "none is dropped");
	tap_ok(counts.sent_packets > 4 * (STREAM_BYTES / MTU_BYTES), "all are there");
	fixture_succeeds(relay_accuracy(bench->relay, &accuracy, &err), &err,
	                 "it says how late packets left");
	tap_is_int(accuracy.n_packets, counts.sent_packets, "all of them");
	tap_is_int(counts.delayed_packets, counts.sent_packets, "how long it held them it knows");
	/* Half of the packets are answers, and those of other delays come in between. */
	tap_ok(counts.delay_sum_ns > counts.sent_packets * NS_PER_MS, "which was 1 ms at least");
	tap_note("late by %.3f ms in the mean, p99 %.2f, at most %.2f",
	         (double)accuracy.mean_ns / NS_PER_MS, (double)accuracy.p99_ns / NS_PER_MS,
	         (double)accuracy.max_ns / NS_PER_MS);
}

/* Jitter that lets packets overtake leaves streams whole, if slow. */
static void test_reordering(const struct bench *bench)
{
	struct fault fault = delay_of(10 * NS_PER_MS, 2 * NS_PER_MS);
	struct injector_counts counts = {.dropped_packets = -1};
	struct err err = {0};
	int64_t took_ns;

	fault.allows_reordering = true;
	fixture_succeeds(injector_apply(bench->relay, &fault, &err), &err, "jitter is applied");
	took_ns = traffic_stream_ns(bench->lab, 0, 1, 0, STREAM_BYTES / 8);
	tap_ok(took_ns > 0, "a stream whose packets overtake each other arrives");
	tap_note("1 MiB in %.0f ms", (double)took_ns / NS_PER_MS);
	(void)injector_count(bench->relay, NULL, &counts, &err);
	tap_is_int(counts.dropped_packets, 0, "none of them is dropped");
	tap_is_int(counts.lost_packets, 0, "or lost");
}

/* What is under way when the relay closes arrives all the same. */
static void test_close(struct bench *bench)
{
	const struct fault fault = delay_of(200 * NS_PER_MS, 0);
	struct err err = {0};
	int status = -1;
	pid_t pid;

	(void)injector_apply(bench->relay, &fault, &err);
	pid = fork();
	if (pid == 0) {
		int64_t took_ns = traffic_ping_ns(bench->lab, 0, 1, 0, 1);

		_exit(took_ns > 0 && took_ns < 1000 * NS_PER_MS ? 0 : 1);
	}
	clock_sleep_ns(100 * NS_PER_MS);
	fixture_succeeds(injector_close(bench->relay, &err), &err, "it closes under way");
	bench->relay = NULL;
	waitpid(pid, &status, 0);
	tap_is_int(WEXITSTATUS(status), 0, "and no packet is lost");
	tap_ok(traffic_ping_ns(bench->lab, 0, 1, 0, N_PINGS) < 100 * NS_PER_MS,
	       "then packets pass without it");
}

static void test_other(void)
{
	const struct injector_ops *ops = NULL;
	const struct injector_config config = {.topology = &topology};
	struct delay_accuracy accuracy;
	struct injector *injector;
	struct err err = {0};

	(void)injector_find("dry_run", &ops, &err);
	(void)ops->open(&config, &injector, &err);
	tap_is_int(relay_accuracy(injector, &accuracy, &err), -EINVAL,
	           "another injector measures nothing");
	(void)injector_close(injector, &err);
}

/* Opening one tries out what it takes. */
static bool is_here(struct err *err)
{
	const struct injector_config config = {.topology = &topology};
	const struct injector_ops *ops = NULL;
	struct injector *relay;

	return injector_find("relay", &ops, err) == 0 && ops->open(&config, &relay, err) == 0 &&
	       injector_close(relay, err) == 0;
}

int main(void)
{
	struct namespace_fixture fixture;
	struct bench bench;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	if (!is_here(&err))
		return tap_skip_all("%s", err.text);
	folder = folder_open();
	if (tap_ok(bench_begin(&bench, &err), "there is a lab")) {
		test_delays(&bench);
		test_close(&bench);
	}
	bench_end(&bench);
	if (bench_begin(&bench, &err))
		test_reordering(&bench);
	bench_end(&bench);
	test_other();
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
