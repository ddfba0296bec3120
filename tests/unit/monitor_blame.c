/* monitor_blame.c - tests that waiting is blamed on nobody: runs of the simulator, in which a slow
 * stage or a slow link holds up all others, seen by the detector through their record alone. */
#include "engine/base/units.h"
#include "engine/monitor/monitor.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { N_STAGES = 8, FIRST = 5, LAST = 14, N_ITERATIONS = 20 };

static const int SLOW_LINK = 5, SLOW_STAGE = 2;
static const double SLOWDOWN = 1.7;

static void feed(struct monitor *monitor, const struct capture *capture, size_t iteration)
{
	size_t end = iteration + 1 < capture->n_iterations ? capture->first_op[iteration + 1]
	                                                   : capture->n_ops;

	for (size_t i = capture->first_op[iteration]; i < end; i++) {
		const struct record_op *op = &capture->ops[i];

		monitor_add_op(monitor, op->stage, op->kind, op->end_ns - op->start_ns);
		if (op->message_arrive_ns >= 0)
			monitor_add_transfer(monitor, op->stage,
			                     op->kind == OP_F ? op->stage + 1 : op->stage - 1,
			                     op->message_arrive_ns - op->message_start_ns);
	}
}

/* In each iteration of the record, is exactly what has a fault called slow? It is known at the edge
 * after the first of them, and until two healthy ones have passed. */
static int count_wrong(struct monitor *monitor, const struct capture *capture, bool has_link,
                       bool has_stage)
{
	struct monitor_link links[N_STAGES];
	struct monitor_stage stages[N_STAGES];
	int n_wrong = 0;

	for (size_t i = 0; i < capture->n_iterations; i++) {
		bool is_late = i >= FIRST && i < LAST + 2;

		feed(monitor, capture, i);
		monitor_edge(monitor, (int)i, links);
		monitor_stages(monitor, stages);
		for (int link = 0; link < N_STAGES - 1; link++)
			n_wrong +=
				links[link].is_slow != (is_late && has_link && link == SLOW_LINK);
		for (int stage = 0; stage < N_STAGES; stage++)
			n_wrong += stages[stage].is_slow !=
			           (is_late && has_stage && stage == SLOW_STAGE);
		if (has_stage && i == LAST)
			tap_is_number(stages[SLOW_STAGE].factor, SLOWDOWN, 1e-3,
			              "the stage's factor is known");
		if (has_link && i == LAST)
			tap_is_int(links[SLOW_LINK].transfer_ns, 30 * NS_PER_MS + 5 * NS_PER_US,
			           "what a message takes is known");
	}
	return n_wrong;
}

static void watch(const struct capture *capture, const char *schedule, bool has_link,
                  bool has_stage)
{
	int64_t healthy_ns[N_STAGES - 1];
	const struct monitor_settings settings = {.n_stages = N_STAGES,
	                                          .healthy_ns = healthy_ns,
	                                          .threshold_ns = 2 * NS_PER_MS,
	                                          .confirm_iterations = 1,
	                                          .clear_iterations = 2};
	struct monitor *monitor;
	struct err err = {0};

	for (int link = 0; link < N_STAGES - 1; link++)
		healthy_ns[link] = 5 * NS_PER_US;
	if (!tap_is_int(monitor_new(&settings, &monitor, &err), 0, "a detector is made"))
		return;
	tap_is_int(count_wrong(monitor, capture, has_link, has_stage), 0,
	           "%s, with%s a slow link and with%s a slow stage: just those are named", schedule,
	           has_link ? "" : "out", has_stage ? "" : "out");
	monitor_free(monitor);
}

static void test_schedule(const char *schedule, bool has_link, bool has_stage)
{
	const struct fault slow_stage = {.kind = FAULT_SLOW_STAGE,
	                                 .from_stage = SLOW_STAGE,
	                                 .to_stage = SLOW_STAGE,
	                                 .slowdown = SLOWDOWN};
	struct scenario scenario;
	struct capture capture;

	scenario_fixture(&scenario, N_STAGES, 24, NS_PER_MS);
	scenario.topology.link_delay_ns = 5 * NS_PER_US;
	scenario.n_iterations = N_ITERATIONS;
	if (has_link) {
		scenario_fixture_slow_link(&scenario, SLOW_LINK, DELAY_OCCUPANCY, 30 * NS_PER_MS);
		scenario_fixture_iterations(&scenario, 2, FIRST, LAST);
	}
	if (has_stage) {
		scenario_fixture_fault(&scenario, slow_stage);
		scenario_fixture_iterations(&scenario, 1, FIRST, LAST);
	}
	tap_ok(scenario_fixture_profile(&scenario, "14B") && scenario_fixture_is_valid(&scenario),
	       "the scenario is valid");
	if (tap_is_int(capture_run(&capture, &scenario, schedule), 0, "%s runs", schedule)) {
		tap_ok(capture.iterations[FIRST].duration_ns >
		               capture.iterations[0].duration_ns *
		                               (has_link || has_stage ? 11 : 10) / 10 -
		                       !(has_link || has_stage),
		       "what is slow holds up the iteration");
		watch(&capture, schedule, has_link, has_stage);
	}
	capture_fini(&capture);
	scenario_fini(&scenario);
}

int main(void)
{
	static const char *const schedules[] = {"gpipe", "1f1b", "zb", "zb-cpu", "adaptra", "hold"};

	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		test_schedule(schedules[i], false, true);
		test_schedule(schedules[i], true, false);
		test_schedule(schedules[i], true, true);
	}
	return tap_done();
}
