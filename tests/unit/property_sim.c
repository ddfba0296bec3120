/* property_sim.c - tests what must hold for every scenario, on random ones.
 *
 * Each is drawn from a seed that a failing check names. Times are small on purpose, so that ties
 * and idle times of every kind occur. */
#include <errno.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { N_CASES = 400, N_ITERATIONS = 6 };

struct dice {
	uint64_t seed;
	uint64_t n_rolls;
};

static int64_t roll(struct dice *dice, int64_t n)
{
	return (int64_t)(rng_mix(dice->seed, dice->n_rolls++) % (uint64_t)n);
}

/* The schedules that make their own orders. */
static const char *schedules[SCENARIO_SCHEDULES_MAX];
static uint64_t n_schedules;

static void list_schedules(void)
{
	for (const struct schedule_ops *const *ops = schedule_list(); *ops; ops++)
		if (strncmp((*ops)->name, "csv", 3) != 0)
			schedules[n_schedules++] = (*ops)->name;
}

static bool is_fixed(const char *schedule)
{
	struct err err = {0};

	return schedule_find(schedule, &err)->adaptation == SCHEDULE_FIXED;
}

static void roll_moments(struct scenario *scenario, struct dice *dice)
{
	int first = (int)roll(dice, N_ITERATIONS);

	if (roll(dice, 2) == 0)
		scenario_fixture_iterations(scenario, 1, first,
		                            first + (int)roll(dice, N_ITERATIONS));
	else
		scenario_fixture_times(scenario, 1, roll(dice, 20000),
		                       roll(dice, 3) == 0 ? -1 : 20000 + roll(dice, 20000));
}

static void roll_fault(struct scenario *scenario, struct dice *dice)
{
	int n_stages = scenario->topology.n_stages, stage = (int)roll(dice, n_stages);
	int link = n_stages > 1 ? (int)roll(dice, n_stages - 1) : 0, back = (int)roll(dice, 2);
	struct fault fault = {.kind = (enum fault_kind)roll(dice, FAULT_KINDS),
	                      .end = {.kind = MOMENT_NEVER, .value = 0},
	                      .from_stage = stage,
	                      .to_stage = stage,
	                      .model = (enum delay_model)roll(dice, 3),
	                      .delay_ns = 1 + roll(dice, 500),
	                      .jitter_ns = roll(dice, 2) * roll(dice, 200),
	                      .distribution = (enum distribution)roll(dice, 4),
	                      .rate_bits_per_s = 1000000000 * (1 + roll(dice, 20)),
	                      .slowdown = 1 + (double)roll(dice, 30) / 10,
	                      .is_permanent = roll(dice, 2) == 0};
	struct scenario_mistakes mistakes = {0};

	if (fault.kind == FAULT_DELAY || fault.kind == FAULT_RATE) {
		fault.from_stage = link + back;
		fault.to_stage = link + 1 - back;
	}
	(void)scenario_fixture_fault(scenario, fault);
	roll_moments(scenario, dice);
	/* One that clashes with another, or has no link to be on, is not asked for. */
	if (scenario_validate(scenario, &mistakes))
		scenario->n_faults--;
	scenario_mistakes_fini(&mistakes);
}

static void roll_scenario(struct scenario *scenario, struct dice *dice, bool has_faults)
{
	scenario_fixture(scenario, 1 + (int)roll(dice, 8), 1 + (int)roll(dice, 16), 100);
	scenario->n_iterations = N_ITERATIONS;
	scenario->seed = dice->seed;
	scenario->topology.link_delay_ns = roll(dice, 2) * roll(dice, 50);
	scenario->topology.link_rate_bits_per_s = roll(dice, 2) * 10000000000 * (1 + roll(dice, 9));
	scenario->topology.n_rails = 1 + (int)roll(dice, 3);
	scenario->topology.n_replicas = 1 + (int)roll(dice, 3);
	scenario->profile.message_bytes = roll(dice, 3) * 100;
	scenario->window_bytes = 1 + roll(dice, 300);
	scenario->n_queues = 1 + (int)roll(dice, 8);
	scenario->delegate_cost_ns = roll(dice, 2) * roll(dice, 20);
	scenario->activation_limit = (int)(roll(dice, 2) * roll(dice, 20));
	scenario->detection.threshold_ns = 1 + roll(dice, 200);
	scenario->recovery = (struct recovery){.checkpoint_every = (int)roll(dice, 4),
	                                       .restart_ns = roll(dice, 5000),
	                                       .failover_ns = roll(dice, 2000)};
	if (roll(dice, 3) == 0)
		scenario->stream =
			(struct stream_choice){.order = (int)roll(dice, 3) - 1,
		                               .is_channel_shared = (int)roll(dice, 3) - 1,
		                               .has_one_issue_queue = (int)roll(dice, 3) - 1,
		                               .host_waits = (int)roll(dice, 3) - 1,
		                               .is_batched = (int)roll(dice, 3) - 1};
	for (int stage = 0; stage < scenario->topology.n_stages; stage++)
		scenario->profile.stages[stage] =
			(struct profile_stage){.forward_ns = 1 + roll(dice, 200),
		                               .backward_input_ns = 1 + roll(dice, 200),
		                               .backward_weight_ns = roll(dice, 200)};
	for (int64_t n = has_faults ? roll(dice, 6) : 0; n > 0; n--)
		roll_fault(scenario, dice);
}

/* Time of the one microbatch that goes through all stages, F down and B back, and the W that is
 * left at the end; nothing is faster. */
static int64_t critical_ns(const struct scenario *scenario)
{
	const struct profile_stage *stages = scenario->profile.stages;
	int n_links = scenario->topology.n_stages - 1;
	int64_t sum_ns =
		stages[0].backward_weight_ns +
		2 * n_links *
			topology_message_ns(&scenario->topology, scenario->profile.message_bytes);

	for (int stage = 0; stage <= n_links; stage++)
		sum_ns += stages[stage].forward_ns + stages[stage].backward_input_ns;
	return sum_ns;
}

static int64_t busiest_ns(const struct scenario *scenario)
{
	int64_t most_ns = 0;

	for (int stage = 0; stage < scenario->topology.n_stages; stage++) {
		const struct profile_stage *s = &scenario->profile.stages[stage];
		int64_t busy_ns = scenario->n_microbatches *
		                  (s->forward_ns + s->backward_input_ns + s->backward_weight_ns);

		most_ns = busy_ns > most_ns ? busy_ns : most_ns;
	}
	return most_ns;
}

/* What capture_check() checks, without a line a case. */
static bool is_consistent(const struct capture *capture, const struct scenario *scenario)
{
	int64_t n_lanes = scenario->topology.n_stages * scenario->topology.n_replicas, now_ns = 0;
	int64_t shortest_ns = busiest_ns(scenario), critical = critical_ns(scenario);
	int attempt = 0;

	shortest_ns = critical > shortest_ns ? critical : shortest_ns;
	for (size_t i = 0; i < capture->n_iterations; i++) {
		const struct record_iteration *row = &capture->iterations[i];

		now_ns += row->attempt > attempt ? scenario->recovery.restart_ns : 0;
		attempt = row->attempt;
		if (row->start_ns != now_ns || row->compute_ns < 0 || row->wait_ns < 0 ||
		    row->blocked_ns < 0 ||
		    row->compute_ns + row->wait_ns + row->blocked_ns !=
		            row->duration_ns * n_lanes ||
		    (row->is_complete && row->duration_ns < shortest_ns))
			return false;
		now_ns += row->duration_ns;
	}
	return capture->totals.total_ns == now_ns &&
	       capture->totals.n_ops == (int64_t)capture->n_ops &&
	       capture->totals.n_restarts == attempt;
}

static bool plan_is_good(const struct scenario *scenario, const char *schedule, int iteration)
{
	struct sim_request request = {.scenario = scenario};
	enum plane_kind plane;
	struct err err = {0};
	struct plan plan;
	int limits[8];
	bool is_good;

	for (int stage = 0; stage < scenario->topology.n_stages; stage++)
		limits[stage] = scenario->activation_limit;
	request.schedule = schedule_find(schedule, &err);
	if (sim_plan_at(&request, iteration, &plan, &plane, &err))
		return false;
	is_good = plan_verify(&plan, limits, NULL, &err) == 0;
	if (!is_good)
		tap_note("%s: %s", schedule, err.text);
	plan_fini(&plan);
	return is_good;
}

static bool has_ended_well(int rc, const struct capture *capture)
{
	size_t n = capture->n_iterations;

	/* A stage can lose its last RNIC for good. */
	if (rc == -ENETDOWN)
		return n > 0 && !capture->iterations[n - 1].is_complete;
	return rc == 0 && capture->iterations[n - 1].iteration == N_ITERATIONS - 1;
}

static void test_runs(void)
{
	int n_bad_ends = 0, n_inconsistent = 0, n_different = 0, n_bad_plans = 0;
	int n_restarts = 0, n_decisions = 0;

	for (uint64_t seed = 1; seed <= N_CASES; seed++) {
		struct dice dice = {.seed = rng_mix(11, seed)};
		const char *schedule = schedules[seed % n_schedules];
		struct capture first, second;
		struct scenario scenario;
		int rc;

		roll_scenario(&scenario, &dice, true);
		rc = capture_run(&first, &scenario, schedule);
		if (!has_ended_well(rc, &first)) {
			tap_note("seed %d, %s: %d, %s", (int)seed, schedule, rc, first.err.text);
			n_bad_ends++;
		} else if (!is_consistent(&first, &scenario)) {
			tap_note("seed %d, %s: not consistent", (int)seed, schedule);
			n_inconsistent++;
		}
		n_different += capture_run(&second, &scenario, schedule) != rc ||
		               first.digest != second.digest;
		if (rc == 0)
			n_bad_plans += !plan_is_good(&scenario, schedule, 0) ||
			               !plan_is_good(&scenario, schedule, N_ITERATIONS - 1);
		n_restarts += first.totals.n_restarts;
		n_decisions += (int)first.n_decisions;
		capture_fini(&first);
		capture_fini(&second);
		scenario_fini(&scenario);
	}
	tap_is_int(n_bad_ends, 0, "%d random scenarios end as they should", N_CASES);
	tap_ok(n_restarts > 10 && n_decisions > 50,
	       "much happens in them (%d restarts, %d decisions)", n_restarts, n_decisions);
	tap_is_int(
		n_inconsistent, 0,
		"shares and totals add up, no iteration is shorter than its busiest stage or one "
		"microbatch's way");
	tap_is_int(n_different, 0, "each gives the same record twice");
	tap_is_int(n_bad_plans, 0, "every plan, at the start and at the end, verifies");
}

/* The same scenario with more latency on one link, under the same order and plane: no iteration may
 * be faster. */
static void test_more_latency(void)
{
	int n_faster = 0, n_slower = 0;

	for (uint64_t seed = 1; seed <= N_CASES; seed++) {
		struct dice dice = {.seed = rng_mix(12, seed)};
		const char *schedule = schedules[seed % n_schedules];
		struct capture before, after;
		struct scenario scenario;
		int n_links, link;

		roll_scenario(&scenario, &dice, false);
		/* Who comes first must not depend on times: a message that is late can let through
		 * one that is needed more. */
		if (scenario.stream.order == CHANNEL_REQUEST_ORDER)
			scenario.stream.order = CHANNEL_PLAN_ORDER;
		n_links = scenario.topology.n_stages - 1;
		link = n_links > 0 && is_fixed(schedule) ? (int)roll(&dice, n_links) : -1;
		if (link >= 0)
			scenario_fixture_slow_link(&scenario, link, DELAY_LATENCY,
			                           1 + roll(&dice, 300));
		if (capture_run(&before, &scenario, schedule) == 0 && link >= 0) {
			scenario.faults[roll(&dice, 2)].delay_ns += roll(&dice, 300);
			if (capture_run(&after, &scenario, schedule) == 0) {
				n_faster += after.totals.total_ns < before.totals.total_ns;
				n_slower += after.totals.total_ns > before.totals.total_ns;
			}
			capture_fini(&after);
		}
		capture_fini(&before);
		scenario_fini(&scenario);
	}
	tap_is_int(n_faster, 0, "more latency on a link never makes an iteration faster");
	tap_ok(n_slower > N_CASES / 8, "and often slower (%d of %d)", n_slower, N_CASES);
}

/* Ops and messages of a record that were over before until_ns, as a number. */
static uint64_t past(const struct capture *capture, int64_t until_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < capture->n_ops; i++) {
		const struct record_op *op = &capture->ops[i];

		if (op->end_ns < until_ns)
			sum = rng_mix(sum, (uint64_t)(op->start_ns * 100000 + op->end_ns));
		if (op->message_arrive_ns >= 0 && op->message_arrive_ns < until_ns)
			sum = rng_mix(sum, (uint64_t)op->message_arrive_ns);
	}
	return sum;
}

/* A fault by time changes nothing that was over before it began. */
static void test_past_is_kept(void)
{
	int n_changed = 0, n_compared = 0;

	for (uint64_t seed = 1; seed <= N_CASES; seed++) {
		struct dice dice = {.seed = rng_mix(13, seed)};
		const char *schedule = schedules[seed % n_schedules];
		struct capture before, after;
		struct scenario scenario;
		size_t n_faults;
		int rc;

		roll_scenario(&scenario, &dice, true);
		n_faults = scenario.n_faults;
		rc = capture_run(&before, &scenario, schedule);
		roll_fault(&scenario, &dice);
		if (rc == 0 && scenario.n_faults > n_faults &&
		    scenario.faults[n_faults].start.kind == MOMENT_TIME) {
			int64_t start_ns = scenario.faults[n_faults].start.value;

			(void)capture_run(&after, &scenario, schedule);
			n_compared++;
			if (past(&before, start_ns) != past(&after, start_ns)) {
				tap_note("seed %d, %s, a %s fault at %d ns", (int)seed, schedule,
				         fault_kind_name(scenario.faults[n_faults].kind),
				         (int)start_ns);
				n_changed++;
			}
			capture_fini(&after);
		}
		capture_fini(&before);
		scenario_fini(&scenario);
	}
	tap_ok(n_compared > N_CASES / 5, "faults by time were added (%d)", n_compared);
	tap_is_int(n_changed, 0, "none of them changes what was over before it began");
}

static struct moment roll_op(const struct scenario *scenario, struct dice *dice)
{
	return (struct moment){.kind = MOMENT_OP,
	                       .value = roll(dice, N_ITERATIONS),
	                       .stage = (int)roll(dice, scenario->topology.n_stages),
	                       .op = (enum op_kind)roll(dice, OP_KINDS),
	                       .microbatch = (int)roll(dice, scenario->n_microbatches)};
}

/* The fault that was added last, from an op on to any kind of end. */
static bool start_at_op(struct scenario *scenario, struct dice *dice)
{
	struct fault *fault = &scenario->faults[scenario->n_faults - 1];
	struct scenario_mistakes mistakes = {0};
	int rc;

	fault->start = roll_op(scenario, dice);
	fault->end = (struct moment){.kind = MOMENT_NEVER};
	switch (roll(dice, 4)) {
	case 0:
		fault->end = roll_op(scenario, dice);
		break;
	case 1:
		fault->end = (struct moment){.kind = MOMENT_TIME, .value = 1 + roll(dice, 20000)};
		break;
	case 2:
		fault->end = (struct moment){.kind = MOMENT_ITERATION,
		                             .value = fault->start.value + 1 + roll(dice, 3)};
		break;
	}
	rc = scenario_validate(scenario, &mistakes);
	scenario_mistakes_fini(&mistakes);
	return rc == 0;
}

/* When the last fault first began, or −1; *is_at_op_out: did its op start then? */
static int64_t began_ns(const struct capture *capture, const struct scenario *scenario,
                        bool *is_at_op_out)
{
	size_t fault = scenario->n_faults - 1;
	const struct moment *op = &scenario->faults[fault].start;
	int64_t first_ns = -1;

	*is_at_op_out = false;
	for (size_t i = 0; i < capture->n_faults; i++)
		if (capture->faults[i].fault == fault &&
		    (first_ns < 0 || capture->faults[i].asked_ns < first_ns))
			first_ns = capture->faults[i].asked_ns;
	for (size_t i = 0; i < capture->n_iterations; i++) {
		const struct record_iteration *row = &capture->iterations[i];
		const struct record_op *found =
			capture_op(capture, i, op->stage, op->op, op->microbatch);

		if (row->iteration != op->value)
			continue;
		/* An RNIC takes the op that it dies at along. */
		*is_at_op_out |= found ? found->start_ns == first_ns
		                       : row->start_ns + row->duration_ns == first_ns;
	}
	return first_ns;
}

/* A fault at an op begins when that starts, and changes nothing that was over before. */
static void test_ops(void)
{
	int n_changed = 0, n_elsewhere = 0, n_compared = 0;

	for (uint64_t seed = 1; seed <= 4 * N_CASES; seed++) {
		struct dice dice = {.seed = rng_mix(17, seed)};
		const char *schedule = schedules[seed % n_schedules];
		struct capture before = {0}, after = {0};
		struct scenario scenario;
		size_t n_faults;
		bool is_at_op;

		roll_scenario(&scenario, &dice, true);
		n_faults = scenario.n_faults;
		roll_fault(&scenario, &dice);
		if (scenario.n_faults > n_faults && start_at_op(&scenario, &dice) &&
		    capture_run(&after, &scenario, schedule) == 0) {
			int64_t start_ns = began_ns(&after, &scenario, &is_at_op);

			scenario.n_faults--;
			(void)capture_run(&before, &scenario, schedule);
			n_compared += start_ns >= 0;
			n_elsewhere += start_ns >= 0 && !is_at_op;
			if (start_ns >= 0 && past(&before, start_ns) != past(&after, start_ns)) {
				tap_note("seed %d, %s, a %s fault at %d ns", (int)seed, schedule,
				         fault_kind_name(scenario.faults[n_faults].kind),
				         (int)start_ns);
				n_changed++;
			}
		}
		capture_fini(&before);
		capture_fini(&after);
		scenario_fini(&scenario);
	}
	tap_ok(n_compared > N_CASES, "faults at ops were added (%d)", n_compared);
	tap_is_int(n_elsewhere, 0, "they begin when their ops start");
	tap_is_int(n_changed, 0, "none of them changes what was over before it began");
}

/* The ends of what is allowed: one stage, one microbatch, fewer microbatches than stages, limit 1.
 */
static void test_extremes(int n_stages, int n_microbatches, int limit)
{
	struct scenario scenario;
	struct capture capture;
	int n_wrong = 0;

	scenario_fixture(&scenario, n_stages, n_microbatches, 10);
	scenario.activation_limit = limit;
	scenario.n_iterations = 2;
	for (uint64_t i = 0; i < n_schedules; i++) {
		int rc = capture_run(&capture, &scenario, schedules[i]);

		n_wrong += rc != 0;
		n_wrong += rc == 0 && !plan_is_good(&scenario, schedules[i], 1);
		n_wrong +=
			rc == 0 && (int)capture.n_ops != 2 * OP_KINDS * n_stages * n_microbatches;
		capture_fini(&capture);
	}
	tap_is_int(n_wrong, 0, "%d stages, %d microbatches, limit %d: all schedules run", n_stages,
	           n_microbatches, limit);
	scenario_fini(&scenario);
}

int main(void)
{
	list_schedules();
	test_runs();
	test_more_latency();
	test_past_is_kept();
	test_ops();
	test_extremes(1, 1, 0);
	test_extremes(1, 7, 1);
	test_extremes(8, 1, 0);
	test_extremes(8, 3, 0);
	test_extremes(8, 3, 1);
	test_extremes(8, 24, 2);
	return tap_done();
}
