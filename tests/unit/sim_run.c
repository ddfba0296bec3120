/* sim_run.c - tests whole runs: iterations, faults by iteration and by time, jitter, the record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

static void check_valid(const struct scenario *scenario)
{
	tap_ok(scenario_fixture_is_valid(scenario), "the scenario is valid");
}

static void test_healthy(void)
{
	struct scenario scenario;
	struct capture capture;
	int n_different = 0, n_misnumbered = 0;

	scenario_fixture(&scenario, 4, 8, 10 * NS_PER_MS);
	scenario.topology.n_replicas = 3;
	check_valid(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "zb"), 0, "a healthy run ends well");
	tap_is_int((int64_t)capture.n_iterations, 10, "it has all its iterations");
	for (size_t i = 0; i < capture.n_iterations; i++) {
		const struct record_iteration *row = &capture.iterations[i];

		n_different += row->duration_ns != capture.iterations[0].duration_ns ||
		               row->n_ops != 4 * 3 * 8 || !row->is_complete ||
		               row->plane != PLANE_STREAM || row->attempt != 0;
		n_misnumbered += row->iteration != (int)i;
	}
	tap_is_int(n_different, 0, "its iterations are equal");
	tap_is_int(n_misnumbered, 0, "and numbered from 0");
	tap_is_int(capture.iterations[0].duration_ns, (3 * 8 + 4 - 1) * 10 * NS_PER_MS,
	           "zb's iteration is the zero-bubble one, 3N + S - 1 ops");
	tap_is_int(capture.totals.n_ops, 10 * 4 * 3 * 8, "all ops are counted");
	tap_is_int((int64_t)(capture.n_faults + capture.n_decisions), 0,
	           "nothing went wrong and nothing was decided");
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Iterations in which the duration is not the first one's, as a string of '.' and 'x'. */
static const char *slow_iterations(const struct capture *capture, char *out, size_t n_bytes)
{
	size_t n = capture->n_iterations < n_bytes - 1 ? capture->n_iterations : n_bytes - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = capture->iterations[i].duration_ns == capture->iterations[0].duration_ns
		                 ? '.'
		                 : 'x';
	out[n] = '\0';
	return out;
}

static void test_by_iteration(void)
{
	struct scenario scenario;
	struct capture capture;
	char slow[32];

	scenario_fixture(&scenario, 4, 8, 10 * NS_PER_MS);
	scenario_fixture_slow_link(&scenario, 1, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 3, 5);
	(void)scenario_fixture_fault(&scenario, (struct fault){.kind = FAULT_SLOW_STAGE,
	                                                       .from_stage = 2,
	                                                       .to_stage = 2,
	                                                       .slowdown = 1.5});
	scenario_fixture_iterations(&scenario, 1, 7, 7);
	check_valid(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "zb-cpu"), 0, "a run with faults ends well");
	tap_is_str(slow_iterations(&capture, slow, sizeof(slow)), "...xxx.x..",
	           "faults are in force in exactly their iterations");
	tap_is_int(capture.iterations[4].duration_ns, capture.iterations[3].duration_ns,
	           "and do the same in each");
	tap_is_int((int64_t)capture.n_faults, 3, "each is in the record once");
	tap_is_int(capture.faults[0].applied_ns, capture.iterations[3].start_ns,
	           "from the start of its first iteration");
	tap_is_int(capture.faults[0].cleared_ns, capture.iterations[6].start_ns,
	           "to the end of its last");
	tap_is_int(capture.faults[0].n_messages, 3 * 8, "with the messages that it hit");
	tap_is_int(capture.faults[0].measured_ns, 30 * NS_PER_MS, "and how much longer they took");
	tap_is_int(capture.faults[2].n_messages, 0, "a slow stage hits no messages");
	tap_is_int(capture.iterations[7].compute_ns - capture.iterations[0].compute_ns,
	           8 * 3 * 5 * NS_PER_MS, "and its ops take that much longer");
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* One op a stage and kind: S = 2, N = 1, ops of 10 ms, so an iteration is F F B B W, 50 ms (W of
 * stage 1 runs meanwhile). The activation is sent at 10 ms of the iteration, the gradient at 30 ms.
 */
static void test_by_time(int64_t start_ms, int64_t end_ms, int64_t jitter_ns, const char *wanted)
{
	struct scenario scenario;
	struct capture capture;
	struct fault *fault;
	char slow[32];

	scenario_fixture(&scenario, 2, 1, 10 * NS_PER_MS);
	fault = scenario_fixture_delay(&scenario, 0, 1, DELAY_LATENCY, 5 * NS_PER_MS);
	fault->jitter_ns = jitter_ns;
	fault->distribution = DISTRIBUTION_UNIFORM;
	scenario_fixture_times(&scenario, 1, start_ms * NS_PER_MS,
	                       end_ms < 0 ? -1 : end_ms * NS_PER_MS);
	check_valid(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "zb-cpu"), 0,
	           "a run with a fault by time ends");
	tap_is_str(slow_iterations(&capture, slow, sizeof(slow)), wanted,
	           "a fault from %lld ms to %lld ms, jitter %lld ns, hits what is sent then",
	           (long long)start_ms, (long long)end_ms, (long long)jitter_ns);
	if (strchr(wanted, 'x') &&
	    tap_is_int((int64_t)capture.n_faults, 1, "it is recorded once")) {
		tap_is_int(capture.faults[0].applied_ns, start_ms * NS_PER_MS,
		           "from when it was asked for");
		tap_is_int(capture.faults[0].cleared_ns, end_ms < 0 ? -1 : end_ms * NS_PER_MS,
		           "to when it ended");
	}
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_by_times(void)
{
	test_by_time(100, 150, 0, "..x.......");
	test_by_time(110, 111, 0, "..x.......");
	test_by_time(111, 160, 0, "..........");
	test_by_time(105, 110, 0, "..........");
	/* Sent at 160 ms and, since that one was late, at 215 ms. */
	test_by_time(151, 216, 0, "...xx.....");
	test_by_time(151, 215, 0, "...x......");
	test_by_time(399, -1, 0, "........xx");
	test_by_time(105, 115, NS_PER_MS, "..x.......");
}

/* Ops of stage 1 start at 10, 20 (F, B) and 30 (W) of an iteration of 50 ms. */
static void test_slow_stage_by_time(void)
{
	struct scenario scenario;
	struct capture capture;

	scenario_fixture(&scenario, 2, 1, 10 * NS_PER_MS);
	(void)scenario_fixture_fault(&scenario, (struct fault){.kind = FAULT_SLOW_STAGE,
	                                                       .from_stage = 1,
	                                                       .to_stage = 1,
	                                                       .slowdown = 2});
	scenario_fixture_times(&scenario, 1, 65 * NS_PER_MS, 75 * NS_PER_MS);
	check_valid(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "zb-cpu"), 0, "a run with a slow stage ends");
	for (int kind = OP_F; kind <= OP_W; kind++) {
		const struct record_op *op = capture_op(&capture, 1, 1, (enum op_kind)kind, 0);

		tap_is_int(op->end_ns - op->start_ns, (kind == OP_B ? 20 : 10) * NS_PER_MS,
		           "stage 1 is slow from 65 to 75 ms: %c takes that long",
		           op_kind_letter((enum op_kind)kind));
	}
	tap_is_int(capture.faults[0].applied_ns, 65 * NS_PER_MS, "the record says since when");
	tap_is_int(capture.faults[0].cleared_ns, 75 * NS_PER_MS, "and until when");
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Messages 0 -> 1 of iteration 2, by microbatch, of a run with jitter. */
static bool message_times(const char *schedule, int64_t *out, int n)
{
	struct scenario scenario;
	struct capture capture;
	struct fault *fault;
	bool has_run;

	scenario_fixture(&scenario, 3, n, 100 * NS_PER_MS);
	fault = scenario_fixture_delay(&scenario, 0, 1, DELAY_LATENCY, 20 * NS_PER_MS);
	fault->jitter_ns = 5 * NS_PER_MS;
	fault->distribution = DISTRIBUTION_NORMAL;
	scenario_fixture_iterations(&scenario, 1, 2, 4);
	/* Nobody adapts, so that the plane stays what it is. */
	scenario.detection.threshold_ns = NS_PER_S;
	has_run = capture_run(&capture, &scenario, schedule) == 0;
	for (int mb = 0; has_run && mb < n; mb++) {
		const struct record_op *op = capture_op(&capture, 2, 0, OP_F, mb);

		out[mb] = op->message_arrive_ns - op->message_start_ns;
	}
	capture_fini(&capture);
	scenario_fini(&scenario);
	return has_run;
}

static void test_jitter(void)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu", "adaptra", "hold"};
	enum { N_MESSAGES = 9 };
	int64_t first[N_MESSAGES], other[N_MESSAGES];
	int n_distinct = 0;

	if (!tap_ok(message_times("gpipe", first, N_MESSAGES), "gpipe runs under jitter"))
		return;
	for (int i = 1; i < N_MESSAGES; i++)
		n_distinct += first[i] != first[0];
	tap_is_int(n_distinct, N_MESSAGES - 1, "messages have jitter of their own");
	for (int i = 0; i < 5; i++)
		tap_ok(message_times(schedules[i], other, N_MESSAGES) &&
		               memcmp(first, other, sizeof(first)) == 0,
		       "under %s the same message has the same jitter", schedules[i]);
}

static void fill_everything(struct scenario *scenario)
{
	struct fault *fault;

	scenario_fixture(scenario, 4, 8, 10 * NS_PER_MS);
	scenario->n_iterations = 40;
	scenario->topology.link_delay_ns = 5000;
	scenario->recovery.checkpoint_every = 10;
	fault = scenario_fixture_delay(scenario, 1, 2, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	fault->jitter_ns = 5 * NS_PER_MS;
	fault->distribution = DISTRIBUTION_PARETONORMAL;
	scenario_fixture_iterations(scenario, 1, 5, 20);
	(void)scenario_fixture_delay(scenario, 3, 2, DELAY_RATE, 15 * NS_PER_MS);
	scenario_fixture_times(scenario, 1, 2 * (int64_t)NS_PER_S, 4 * (int64_t)NS_PER_S);
	(void)scenario_fixture_fault(
		scenario, (struct fault){.kind = FAULT_DOWN,
	                                 .start = {.kind = MOMENT_ITERATION, .value = 15},
	                                 .end = {.kind = MOMENT_NEVER, .value = 0},
	                                 .from_stage = 2,
	                                 .to_stage = 2});
}

static void test_same_bytes(const char *schedule)
{
	struct sim_request again = {.repeat = 0}, other = {.repeat = 1};
	struct capture first, second, third;
	struct scenario scenario;

	fill_everything(&scenario);
	check_valid(&scenario);
	tap_is_int(capture_run(&first, &scenario, schedule), 0, "%s runs", schedule);
	tap_is_int(capture_request(&second, again, &scenario, schedule), 0, "and once more");
	tap_is_int(capture_request(&third, other, &scenario, schedule), 0, "and a repeat of it");
	tap_ok(first.digest == second.digest, "%s: the same request gives the same record",
	       schedule);
	tap_ok(first.digest != third.digest, "%s: another repeat draws other jitter", schedule);
	tap_ok(first.totals.total_ns != third.totals.total_ns, "%s: and takes another time",
	       schedule);
	capture_check(&first, &scenario);
	capture_fini(&first);
	capture_fini(&second);
	capture_fini(&third);
	scenario_fini(&scenario);
}

/* The scenario may put a schedule on another plane, and change the rules of the stream plane. */
static void test_other_planes(void)
{
	struct scenario scenario;
	struct capture preset, moved, waiting;

	scenario_fixture(&scenario, 4, 8, 10 * NS_PER_MS);
	scenario_fixture_slow_link(&scenario, 1, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 0, 9);
	tap_is_int(capture_run(&preset, &scenario, "zb"), 0, "zb runs on its own plane");
	tap_is_int(preset.iterations[0].plane, PLANE_STREAM, "which is the stream plane");
	scenario.stream.has_one_issue_queue = 0;
	tap_is_int(capture_run(&waiting, &scenario, "zb"), 0, "zb runs with many issue queues");
	tap_ok(waiting.totals.total_ns < preset.totals.total_ns, "and is faster so");
	scenario.planes = calloc(1, sizeof(*scenario.planes));
	scenario.n_planes = 1;
	scenario.planes[0].schedule = strdup("zb");
	scenario.planes[0].plane = PLANE_DELEGATE;
	tap_is_int(capture_run(&moved, &scenario, "zb"), 0, "zb runs over delegates");
	tap_is_int(moved.iterations[0].plane, PLANE_DELEGATE, "and says so");
	tap_is_int(moved.iterations[0].blocked_ns, 0, "where nothing is blocked");
	tap_ok(moved.totals.total_ns < waiting.totals.total_ns, "and all is faster still");
	capture_fini(&preset);
	capture_fini(&moved);
	capture_fini(&waiting);
	scenario_fini(&scenario);
}

static void test_sink_fails(void)
{
	struct sim_request request = {0};
	struct scenario scenario;
	struct capture capture;
	struct err err = {0};

	scenario_fixture(&scenario, 2, 2, 1000);
	capture_init(&capture, false);
	capture.n_until_refused = 3;
	request.scenario = &scenario;
	request.schedule = schedule_find("1f1b", &err);
	tap_is_int(sim_run(&request, &capture.base, &capture.totals, &err), -ENOSPC,
	           "a sink that fails ends the run with its error");
	tap_contains(err.text, "full after 3", "and its sentence");
	tap_is_int((int64_t)capture.n_iterations, 3, "at once");
	tap_is_int((int64_t)capture.n_ops, 0, "a sink that wants no ops gets none");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Ops without a length at the end of an iteration are ops all the same. */
static void test_empty_ops(void)
{
	struct scenario scenario;
	struct capture capture;

	scenario_fixture(&scenario, 2, 2, 1000);
	for (int stage = 0; stage < 2; stage++)
		scenario.profile.stages[stage].backward_weight_ns = 0;
	check_valid(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "1f1b"), 0, "a run whose W take no time ends");
	tap_is_int((int64_t)capture.iterations[0].n_ops, 2 * 3 * 2, "all its ops are recorded");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

int main(void)
{
	test_healthy();
	test_by_iteration();
	test_by_times();
	test_slow_stage_by_time();
	test_jitter();
	test_same_bytes("1f1b");
	test_same_bytes("zb-cpu");
	test_same_bytes("adaptra");
	test_other_planes();
	test_sink_fails();
	test_empty_ops();
	return tap_done();
}
