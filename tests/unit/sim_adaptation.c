/* sim_adaptation.c - tests what a run decides about a slow link, when, and what that is worth. */
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

/* 8 stages, 24 microbatches, the median times of the 14B model. */
static bool fill_14b(struct scenario *scenario)
{
	scenario_fixture(scenario, 8, 24, NS_PER_MS);
	scenario->topology.link_delay_ns = 5000;
	return scenario_fixture_profile(scenario, "14B");
}

/* Link 6-7 is slow in iterations 5 … 14 of 20. */
static bool fill_slow(struct scenario *scenario, int64_t delay_ms)
{
	bool is_filled = fill_14b(scenario);

	scenario->n_iterations = 20;
	scenario_fixture_slow_link(scenario, 6, DELAY_OCCUPANCY, delay_ms * NS_PER_MS);
	scenario_fixture_iterations(scenario, 2, 5, 14);
	return is_filled && tap_ok(scenario_fixture_is_valid(scenario), "the scenario is valid");
}

static const struct captured_decision *nth_decision(const struct capture *capture, size_t i)
{
	static const struct captured_decision none = {.row = {.kind = DECISION_RESTART}};

	return i < capture->n_decisions ? &capture->decisions[i] : &none;
}

static int count_plane(const struct capture *capture, enum plane_kind plane)
{
	int n = 0;

	for (size_t i = 0; i < capture->n_iterations; i++)
		n += capture->iterations[i].plane == plane;
	return n;
}

static void check_decision(const struct capture *capture, size_t i, enum decision_kind kind,
                           int iteration)
{
	const struct captured_decision *decision = nth_decision(capture, i);

	tap_is_str(decision_kind_name(decision->row.kind), decision_kind_name(kind),
	           "decision %zu is to %s", i, decision_kind_name(kind));
	tap_is_int(decision->row.iteration, iteration, "from iteration %d on", iteration);
	tap_is_int(decision->row.at_ns,
	           iteration < (int)capture->n_iterations ? capture->iterations[iteration].start_ns
	                                                  : capture->totals.total_ns,
	           "decided at its edge");
}

/* The detector knows after the first slow iteration, and of recovery after two healthy ones. */
static void test_detector(const char *schedule, enum decision_kind kind)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;

	if (!fill_slow(&scenario, 30))
		return;
	tap_is_int(capture_run(&capture, &scenario, schedule), 0, "%s runs", schedule);
	capture_check(&capture, &scenario);
	tap_is_int((int64_t)capture.n_decisions, 2, "%s decides twice", schedule);
	check_decision(&capture, 0, kind, 6);
	check_decision(&capture, 1, DECISION_RECOVER, 17);
	decision = nth_decision(&capture, 0);
	tap_is_int(decision->row.link, 6, "it names the link");
	tap_is_int(decision->row.since_iteration, 5, "and the first slow iteration");
	tap_is_int(decision->row.seen_ns, 30 * NS_PER_MS + 5000, "and what a message takes");
	tap_is_int(decision->row.plane, PLANE_DELEGATE, "from then on over delegates");
	tap_contains(decision->reason, "link 6-7 takes 30", "the reason says so");
	tap_contains(nth_decision(&capture, 1)->reason, "healthy", "so does that of the recovery");
	tap_is_int(nth_decision(&capture, 1)->row.plane, PLANE_STREAM, "which ends the delegates");
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 11, "iterations 6 to 16 run on them");
	tap_ok(capture.iterations[5].duration_ns > capture.iterations[6].duration_ns,
	       "the iteration after the decision is shorter");
	tap_is_int(capture.iterations[19].duration_ns, capture.iterations[0].duration_ns,
	           "in the end all is as it was");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_oracle(void)
{
	struct sim_request request = {.is_oracle = true};
	struct scenario scenario;
	struct capture capture;

	if (!fill_slow(&scenario, 30))
		return;
	tap_is_int(capture_request(&capture, request, &scenario, "adaptra"), 0,
	           "adaptra runs with the oracle");
	tap_is_int((int64_t)capture.n_decisions, 2, "it decides twice");
	check_decision(&capture, 0, DECISION_REPLAN, 5);
	check_decision(&capture, 1, DECISION_RECOVER, 15);
	tap_is_int(nth_decision(&capture, 0)->row.seen_ns, 30 * NS_PER_MS + 5000,
	           "it knows what a message takes");
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 10,
	           "exactly the slow iterations are on delegates");
	capture_fini(&capture);
	tap_is_int(capture_request(&capture, request, &scenario, "zb"), 0,
	           "zb runs with the oracle");
	tap_is_int((int64_t)capture.n_decisions, 0, "it does not listen");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_quiet(void)
{
	static const char *const schedules[] = {"adaptra", "adaptra-cpu", "adaptra-search", "hold"};
	struct scenario scenario;
	struct capture capture;

	if (!fill_14b(&scenario))
		return;
	for (int i = 0; i < 4; i++) {
		tap_is_int(capture_run(&capture, &scenario, schedules[i]), 0, "%s runs",
		           schedules[i]);
		tap_is_int((int64_t)capture.n_decisions, 0, "%s decides nothing without a fault",
		           schedules[i]);
		capture_fini(&capture);
	}
	scenario_fini(&scenario);
}

/* On the stream plane a message of several windows takes a round trip more for each of them, on a
 * healthy link, too; over delegates it does not. Neither is a link that got slow or healthy. */
static void test_quiet_windows(void)
{
	struct scenario scenario;
	struct capture capture;

	if (!fill_14b(&scenario))
		return;
	scenario.topology.link_delay_ns = 2 * NS_PER_MS;
	scenario.profile.message_bytes = 8 * scenario.window_bytes;
	scenario.n_iterations = 20;
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "adaptra runs");
	tap_is_int((int64_t)capture.n_decisions, 0, "windows alone make nobody decide");
	capture_fini(&capture);
	scenario_fixture_slow_link(&scenario, 6, DELAY_OCCUPANCY, 60 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 5, 14);
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "adaptra runs");
	tap_is_int((int64_t)capture.n_decisions, 2, "a slow link is told from them");
	check_decision(&capture, 0, DECISION_REPLAN, 6);
	tap_is_int(nth_decision(&capture, 0)->row.seen_ns, 62 * NS_PER_MS,
	           "with what a message takes over a path of its own");
	check_decision(&capture, 1, DECISION_RECOVER, 17);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* A slow stage changes the plan's times, not the plane, and is not taken for a slow link. */
static void test_slow_stage(void)
{
	struct capture capture;
	struct scenario scenario;
	struct fault slow = {.kind = FAULT_SLOW_STAGE,
	                     .start = {.kind = MOMENT_ITERATION, .value = 5},
	                     .end = {.kind = MOMENT_ITERATION, .value = 15},
	                     .from_stage = 3,
	                     .to_stage = 3,
	                     .slowdown = 1.5};

	if (!fill_14b(&scenario))
		return;
	scenario.n_iterations = 20;
	scenario.faults = &slow;
	scenario.n_faults = 1;
	capture_init(&capture, false);
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "a slow stage runs");
	check_decision(&capture, 0, DECISION_REPLAN, 6);
	tap_contains(nth_decision(&capture, 0)->reason, "stage 3 takes 1.5 times as long",
	             "the stage is named");
	tap_is_int(nth_decision(&capture, 0)->row.link, -1, "and no link");
	check_decision(&capture, 1, DECISION_RECOVER, 17);
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 0, "the plane stays");
	capture_fini(&capture);
	scenario.faults = NULL;
	scenario.n_faults = 0;
	scenario_fini(&scenario);
}

/* Stage 3 is slow from iteration 5 to the end, link 6-7 in iterations 8 to 12, from 10 on more. */
static bool fill_stage_and_link(struct scenario *scenario)
{
	bool is_filled = fill_14b(scenario);

	scenario->n_iterations = 20;
	(void)scenario_fixture_fault(scenario, (struct fault){.kind = FAULT_SLOW_STAGE,
	                                                      .from_stage = 3,
	                                                      .to_stage = 3,
	                                                      .slowdown = 2});
	scenario_fixture_iterations(scenario, 1, 5, 19);
	scenario_fixture_slow_link(scenario, 6, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	scenario_fixture_iterations(scenario, 2, 8, 9);
	scenario_fixture_slow_link(scenario, 6, DELAY_OCCUPANCY, 60 * NS_PER_MS);
	scenario_fixture_iterations(scenario, 2, 10, 12);
	return is_filled && tap_ok(scenario_fixture_is_valid(scenario), "the scenario is valid");
}

static bool is_same_order(const struct plan *a, const struct plan *b)
{
	for (int i = 0; i < a->n_stages * OP_KINDS * a->n_microbatches; i++)
		if (a->ops[i].kind != b->ops[i].kind ||
		    a->ops[i].microbatch != b->ops[i].microbatch ||
		    a->ops[i].start_ns != b->ops[i].start_ns)
			return false;
	return true;
}

/* In how many of all iterations is the plan not that of the first one? */
static int count_other_plans(const struct scenario *scenario, const char *schedule)
{
	struct err err = {0};
	struct sim_request request = {.scenario = scenario,
	                              .schedule = schedule_find(schedule, &err)};
	int n_different = 0;
	struct plan first;
	enum plane_kind plane;

	if (!tap_is_int(sim_plan_at(&request, 0, &first, &plane, &err), 0, "%s has a plan",
	                schedule))
		return -1;
	for (int iteration = 1; iteration < scenario->n_iterations; iteration++) {
		struct plan plan;

		if (!tap_is_int(sim_plan_at(&request, iteration, &plan, &plane, &err), 0,
		                "at iteration %d, too", iteration))
			break;
		n_different += !is_same_order(&first, &plan);
		plan_fini(&plan);
	}
	plan_fini(&first);
	return n_different;
}

/* Who keeps the plan moves for links alone: not when a stage gets slow, not again when a link gets
 * slower, and back when the links are healthy although the stage is not. */
static void test_moves_for_links(void)
{
	struct scenario scenario;
	struct capture capture;

	if (!fill_stage_and_link(&scenario))
		return;
	tap_is_int(capture_run(&capture, &scenario, "adaptra-cpu"), 0, "adaptra-cpu runs");
	tap_is_int((int64_t)capture.n_decisions, 2, "it moves there and back");
	check_decision(&capture, 0, DECISION_SWITCH_PLANE, 9);
	tap_is_int(nth_decision(&capture, 0)->row.link, 6, "for the link");
	tap_is_str(nth_decision(&capture, 0)->reason, "link 6-7 takes 30 ms a message",
	           "and for nothing else");
	check_decision(&capture, 1, DECISION_RECOVER, 15);
	tap_is_str(nth_decision(&capture, 1)->reason, "all links are healthy again",
	           "of stages nothing is said");
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 6, "iterations 9 to 14 are delegates'");
	capture_fini(&capture);
	tap_is_int(count_other_plans(&scenario, "adaptra-cpu"), 0,
	           "its plan is the same in all of them");
	scenario_fini(&scenario);
}

/* Who makes plans makes them for both, and says so. */
static void test_plans_for_both(void)
{
	static const struct {
		enum decision_kind kind;
		int iteration, link;
		const char *reason;
	} wanted[] = {
		{DECISION_REPLAN, 6, -1, "stage 3 takes 2 times as long"},
		{DECISION_REPLAN, 9, 6,
	         "link 6-7 takes 30 ms a message; stage 3 takes 2 times as long"},
		{DECISION_REPLAN, 11, 6,
	         "link 6-7 takes 60.01 ms a message; stage 3 takes 2 times as long"},
		{DECISION_REPLAN, 15, -1, "stage 3 takes 2 times as long"},
	};
	struct scenario scenario;
	struct capture capture;

	if (!fill_stage_and_link(&scenario))
		return;
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "adaptra runs");
	tap_is_int((int64_t)capture.n_decisions, 4, "it decides four times");
	for (size_t i = 0; i < 4; i++) {
		check_decision(&capture, i, wanted[i].kind, wanted[i].iteration);
		tap_is_int(nth_decision(&capture, i)->row.link, wanted[i].link, "for the link");
		tap_is_str(nth_decision(&capture, i)->reason, wanted[i].reason, "says why");
	}
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 6, "the stage alone moves nothing");
	capture_fini(&capture);
	tap_is_int(count_other_plans(&scenario, "adaptra"), 14, "its plan is another from 6 on");
	scenario_fini(&scenario);
}

/* On delegates from the start, or for good since a rail died, there is nowhere to move to. */
static void test_nowhere_to_move(void)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;

	if (!fill_slow(&scenario, 30))
		return;
	(void)scenario_fixture_fault(&scenario,
	                             (struct fault){.kind = FAULT_DOWN,
	                                            .start = {.kind = MOMENT_ITERATION, .value = 2},
	                                            .end = {.kind = MOMENT_NEVER, .value = 0},
	                                            .from_stage = 1,
	                                            .to_stage = 1});
	scenario.topology.n_rails = 2;
	tap_is_int(capture_run(&capture, &scenario, "adaptra-cpu"), 0, "adaptra-cpu runs");
	tap_is_int(capture_count(&capture, DECISION_FAILOVER, &decision), 1, "it fails over");
	tap_is_int((int64_t)capture.n_decisions, 1, "and decides nothing more");
	tap_is_int(count_plane(&capture, PLANE_DELEGATE), 17, "all that follows is on delegates");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_two_slow_links(void)
{
	struct scenario scenario;
	struct capture capture;
	const struct captured_decision *decision;

	if (!fill_slow(&scenario, 20))
		return;
	scenario_fixture_slow_link(&scenario, 2, DELAY_OCCUPANCY, 40 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 5, 14);
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0,
	           "adaptra runs with two slow links");
	decision = nth_decision(&capture, 0);
	tap_is_int(decision->row.link, 2, "the decision names the slower one");
	tap_contains(decision->reason, "2 slow links", "and counts them");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void check_plan_at(const struct sim_request *request, int iteration, enum plane_kind plane,
                          const char *warmups)
{
	enum plane_kind found;
	char text[64] = "";
	struct err err = {0};
	struct plan plan;

	if (!tap_is_int(sim_plan_at(request, iteration, &plan, &found, &err), 0,
	                "there is a plan at iteration %d: %s", iteration, err.text))
		return;
	for (int stage = 0; stage < plan.n_stages; stage++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, stage ? " %d" : "%d", plan.warmups[stage]);
	}
	tap_is_int(found, plane, "iteration %d is on the %s plane", iteration,
	           plane_kind_name(plane));
	tap_is_str(text, warmups, "with the warm-ups of its plan");
	plan_fini(&plan);
}

static void test_plan_at(void)
{
	struct sim_request request = {0};
	struct scenario scenario;
	struct capture capture;
	struct err err = {0};

	if (!fill_slow(&scenario, 30))
		return;
	request.scenario = &scenario;
	request.schedule = schedule_find("adaptra", &err);
	check_plan_at(&request, 0, PLANE_STREAM, "16 13 11 9 7 5 3 1");
	check_plan_at(&request, 5, PLANE_STREAM, "16 13 11 9 7 5 3 1");
	check_plan_at(&request, 17, PLANE_STREAM, "16 13 11 9 7 5 3 1");
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "adaptra runs");
	check_plan_at(&request, 6, PLANE_DELEGATE, nth_decision(&capture, 0)->warmups);
	check_plan_at(&request, 16, PLANE_DELEGATE, nth_decision(&capture, 0)->warmups);
	request.is_oracle = true;
	check_plan_at(&request, 5, PLANE_DELEGATE, nth_decision(&capture, 0)->warmups);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* A slow link whose delay never changes is planned for, and then left alone: no plan may set off
 * the next. Under the rate model messages queue for the link, which shows in what they take, so
 * that there the plan is made more than once. */
static void test_settles(enum delay_model model)
{
	struct scenario scenario;
	struct capture capture;
	int last;

	if (!fill_14b(&scenario))
		return;
	scenario.n_iterations = 60;
	scenario_fixture_slow_link(&scenario, 3, model, 25 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 5, 59);
	tap_is_int(capture_run(&capture, &scenario, "adaptra"), 0, "adaptra runs");
	tap_ok(capture.n_decisions >= 1, "%s: a constant delay is seen", delay_model_name(model));
	last = nth_decision(&capture, capture.n_decisions - 1)->row.iteration;
	tap_ok(last <= 10, "%s: it is planned for and left alone from iteration %d on",
	       delay_model_name(model), last);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Iteration time under a slow link 6-7, after the detector has seen it. */
static int64_t slow_duration_ns(const char *schedule, int64_t delay_ms)
{
	struct scenario scenario;
	struct capture capture;
	int64_t duration_ns = -1;

	if (!fill_slow(&scenario, delay_ms))
		return -1;
	if (capture_run(&capture, &scenario, schedule) == 0)
		duration_ns = capture.iterations[12].duration_ns;
	capture_fini(&capture);
	scenario_fini(&scenario);
	return duration_ns;
}

/* DESIGN.md, section 7 and the measurements' README: 25, 45, 15 and 1 to 2 per ms of delay. */
static void test_growth(const char *schedule, double low, double high)
{
	int64_t fast_ns = slow_duration_ns(schedule, 10), slow_ns = slow_duration_ns(schedule, 60);
	double growth = (double)(slow_ns - fast_ns) / (50.0 * NS_PER_MS);

	tap_ok(fast_ns > 0 && growth >= low && growth <= high,
	       "%s grows by %.2f per ms of delay from 10 to 60 ms; wanted %.2f to %.2f", schedule,
	       growth, low, high);
}

int main(void)
{
	test_detector("adaptra", DECISION_REPLAN);
	test_detector("adaptra-cpu", DECISION_SWITCH_PLANE);
	test_oracle();
	test_quiet();
	test_quiet_windows();
	test_slow_stage();
	test_moves_for_links();
	test_plans_for_both();
	test_nowhere_to_move();
	test_two_slow_links();
	test_plan_at();
	test_settles(DELAY_LATENCY);
	test_settles(DELAY_RATE);
	test_settles(DELAY_OCCUPANCY);
	test_growth("1f1b", 25 * 0.85, 25 * 1.15);
	test_growth("zb", 45 * 0.85, 45 * 1.15);
	test_growth("zb-cpu", 15 * 0.85, 15 * 1.15);
	test_growth("adaptra", 0, 2);
	return tap_done();
}
