/* sim_outage.c - tests dead RNICs: restart from a checkpoint, fail-over, spare rails, flaps. */
#include <errno.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

/* S = 4, N = 8, ops of 10 ms, 20 iterations; checkpoints every 5, 7 s to restart, 500 ms to fail
 * over. */
static void fill(struct scenario *scenario)
{
	scenario_fixture(scenario, 4, 8, 10 * NS_PER_MS);
	scenario->n_iterations = 20;
	scenario->recovery = (struct recovery){.checkpoint_every = 5,
	                                       .restart_ns = 7 * (int64_t)NS_PER_S,
	                                       .failover_ns = 500 * NS_PER_MS};
}

static struct fault *add_down(struct scenario *scenario, int stage, struct moment start)
{
	return scenario_fixture_fault(scenario,
	                              (struct fault){.kind = FAULT_DOWN,
	                                             .start = start,
	                                             .end = {.kind = MOMENT_NEVER, .value = 0},
	                                             .from_stage = stage,
	                                             .to_stage = stage});
}

static struct moment at_iteration(int iteration)
{
	return (struct moment){.kind = MOMENT_ITERATION, .value = iteration};
}

static struct moment at_ms(int64_t ms)
{
	return (struct moment){.kind = MOMENT_TIME, .value = ms * NS_PER_MS};
}

static void run(struct capture *capture, const struct scenario *scenario, const char *schedule)
{
	tap_ok(scenario_fixture_is_valid(scenario), "the scenario is valid");
	tap_is_int(capture_run(capture, scenario, schedule), 0, "%s ends well: %s", schedule,
	           capture->err.text);
	capture_check(capture, scenario);
}

/* The RNIC dies at the start of iteration 12. */
static void test_restart(int checkpoint_every, int resumes_at)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;
	int n_wrong = 0;

	fill(&scenario);
	scenario.recovery.checkpoint_every = checkpoint_every;
	(void)add_down(&scenario, 2, at_iteration(12));
	run(&capture, &scenario, "1f1b");
	tap_is_int((int64_t)capture.n_iterations, 12 + 1 + 20 - resumes_at,
	           "checkpoint every %d: the lost iterations are repeated", checkpoint_every);
	for (size_t i = 0; i < capture.n_iterations; i++) {
		const struct record_iteration *row = &capture.iterations[i];
		int wanted = i <= 12 ? (int)i : (int)i - 13 + resumes_at;

		n_wrong += row->iteration != wanted || row->attempt != (i > 12) ||
		           row->is_complete != (i != 12);
	}
	tap_is_int(n_wrong, 0, "they are attempt 1, from iteration %d on", resumes_at);
	tap_is_int(capture.totals.n_restarts, 1, "it restarts once");
	tap_is_int((int64_t)capture.iterations[12].n_ops, 0,
	           "the iteration at whose start it dies has no ops");
	tap_is_int(capture.totals.n_ops, (int64_t)capture.n_ops, "the total counts what ran");
	tap_is_int(capture_count(&capture, DECISION_RESTART, &decision), 1, "a decision says so");
	tap_ok(decision && decision->row.iteration == resumes_at && decision->row.attempt == 1 &&
	               decision->row.plane == PLANE_STREAM && decision->reason[0] != '\0',
	       "with the iteration where it goes on and a reason");
	tap_is_int((int64_t)capture.n_faults, 1, "the fault is in the record once");
	tap_is_int(capture.faults[0].cleared_ns - capture.faults[0].applied_ns,
	           7 * (int64_t)NS_PER_S, "until the restart has replaced the RNIC");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* It dies at 85 ms of iteration 3: stage 0 is in its ninth op then. */
static void test_restart_inside(void)
{
	struct scenario scenario;
	struct capture capture;
	int64_t duration_ns, start_ns;
	int n_cut = 0, n_late = 0;

	fill(&scenario);
	tap_is_int(capture_run(&capture, &scenario, "zb"), 0, "zb runs healthily");
	duration_ns = capture.iterations[0].duration_ns;
	capture_fini(&capture);
	start_ns = 3 * duration_ns + 85 * NS_PER_MS;
	(void)add_down(&scenario, 1, at_ms(start_ns / NS_PER_MS));
	run(&capture, &scenario, "zb");
	tap_is_int(capture.iterations[3].duration_ns, 85 * NS_PER_MS,
	           "an iteration that fails lasts until then");
	tap_is_int(capture.iterations[4].start_ns, start_ns + 7 * (int64_t)NS_PER_S,
	           "the next attempt starts when the restart is done");
	tap_is_int(capture.iterations[4].iteration, 0, "from the checkpoint before it");
	for (size_t i = capture.first_op[3]; i < capture.first_op[4]; i++) {
		const struct record_op *op = &capture.ops[i];

		n_cut += op->end_ns == start_ns;
		n_late += op->message_arrive_ns > start_ns || op->message_end_ns > start_ns;
	}
	/* Links take nothing and stage s's first forward starts at 10 s ms, all on the 10 ms grid.
	 */
	tap_is_int(n_cut, 4, "the ops that ran on the four stages are cut short");
	tap_is_int(n_late, 0, "no message arrives after the failure");
	tap_is_int(capture.totals.n_ops, (int64_t)capture.n_ops, "the total counts what ran");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Faults by iteration are in force in repeated iterations, too. */
static void test_repeated_faults(void)
{
	struct scenario scenario;
	struct capture capture;
	int n_wrong = 0, n_repeated = 0;

	fill(&scenario);
	scenario_fixture_slow_link(&scenario, 1, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	scenario.faults[0].jitter_ns = NS_PER_MS;
	scenario_fixture_iterations(&scenario, 2, 11, 11);
	(void)add_down(&scenario, 3, at_iteration(12));
	run(&capture, &scenario, "zb");
	for (size_t i = 13; i < capture.n_iterations; i++) {
		int iteration = capture.iterations[i].iteration;

		if (iteration >= 12)
			continue;
		n_repeated += iteration == 11;
		n_wrong += capture.iterations[i].duration_ns !=
		           capture.iterations[iteration].duration_ns;
	}
	tap_ok(capture.iterations[11].duration_ns > capture.iterations[10].duration_ns,
	       "iteration 11 is slow");
	tap_is_int(n_repeated, 1, "and repeated");
	tap_is_int(n_wrong, 0, "a repeated iteration meets the same faults, with the same jitter");
	tap_is_int((int64_t)capture.n_faults, 5,
	           "delays are recorded once an attempt, the RNIC once");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* The job dies at the start of iteration 7 and resumes at 5. A fault by iteration is not in force
 * in between, one by time for the whole run is. */
static void test_faults_end_with_attempt(void)
{
	struct scenario scenario;
	struct capture capture;
	int n_wrong = 0;

	fill(&scenario);
	scenario_fixture_slow_link(&scenario, 1, DELAY_OCCUPANCY, 30 * NS_PER_MS);
	scenario_fixture_times(&scenario, 1, 0, -1);
	scenario.faults[0].start = at_iteration(6);
	scenario.faults[0].end = at_iteration(10);
	(void)add_down(&scenario, 3, at_iteration(7));
	run(&capture, &scenario, "zb");
	for (size_t i = 0; i < capture.n_faults; i++)
		if (capture.faults[i].attempt == 0 && capture.faults[i].fault < 2)
			n_wrong += capture.faults[i].cleared_ns != capture.iterations[7].start_ns;
	tap_is_int(n_wrong, 0, "faults of an attempt are cleared where the job died");
	tap_is_int((int64_t)capture.n_faults, 5, "they are recorded once an attempt");
	tap_is_int(capture.faults[4].cleared_ns, -1, "one without an end lasts in the last one");
	tap_is_int(capture.faults[4].applied_ns, capture.iterations[8].start_ns,
	           "from where the job went on");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_no_rail_left(void)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	scenario.topology.n_rails = 1;
	add_down(&scenario, 2, at_ms(1000))->is_permanent = true;
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_run(&capture, &scenario, "1f1b"), -ENETDOWN,
	           "an RNIC that is gone for good, without a spare, ends the run");
	tap_contains(capture.err.text, "stage 2 has no rail left", "the sentence names the stage");
	tap_is_int(capture.totals.total_ns, (int64_t)NS_PER_S, "the total runs to the failure");
	tap_is_int((int64_t)capture.n_faults, 1, "the failure is recorded");
	tap_ok(!capture.iterations[capture.n_iterations - 1].is_complete,
	       "so is the part of the iteration that it ended");
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario.topology.n_rails = 2;
	run(&capture, &scenario, "1f1b");
	tap_is_int(capture.totals.n_restarts, 1, "with a spare rail the restart uses that");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Rail 1 is away for a while, then rail 0 dies for good: the restart replaces what can be replaced.
 */
static void test_restart_replaces_spares(void)
{
	struct scenario scenario;
	struct capture capture;
	struct fault *spare;

	fill(&scenario);
	spare = add_down(&scenario, 2, at_iteration(2));
	spare->rail = 1;
	spare->end = at_iteration(18);
	add_down(&scenario, 2, at_iteration(7))->is_permanent = true;
	run(&capture, &scenario, "zb");
	tap_is_int(capture.totals.n_restarts, 1, "losing the spare alone restarts nothing");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Two outages of one rail: that the first is over must not mend the second. */
static void test_two_on_one_rail(void)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;
	struct fault *spare;

	fill(&scenario);
	scenario.topology.n_rails = 2;
	spare = add_down(&scenario, 2, at_iteration(1));
	spare->rail = 1;
	spare->end = at_iteration(3);
	spare = add_down(&scenario, 2, at_iteration(5));
	spare->rail = 1;
	(void)add_down(&scenario, 2, at_iteration(9));
	run(&capture, &scenario, "zb-cpu");
	tap_is_int(capture_count(&capture, DECISION_FAILOVER, &decision), 0,
	           "there is no rail to fail over to");
	tap_is_int(capture.totals.n_restarts, 1, "so that the job restarts");
	tap_is_int((int64_t)capture.n_faults, 3, "all three outages are recorded");
	tap_is_int(capture.faults[0].cleared_ns, capture.iterations[3].start_ns,
	           "one that ends at an iteration was cleared there");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_fail_over_delegate(void)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;
	int64_t healthy_ns;

	fill(&scenario);
	scenario.topology.link_delay_ns = NS_PER_MS;
	(void)add_down(&scenario, 2, at_ms(1000));
	run(&capture, &scenario, "zb-cpu");
	healthy_ns = capture.iterations[0].duration_ns;
	tap_is_int((int64_t)capture.n_iterations, 20, "delegates finish all iterations");
	tap_is_int(capture.totals.n_restarts, 0, "without a restart");
	tap_ok(capture.totals.total_ns - 20 * healthy_ns > 0 &&
	               capture.totals.total_ns - 20 * healthy_ns <= 500 * NS_PER_MS,
	       "one iteration is longer, by no more than the fail-over (%lld ms)",
	       (long long)((capture.totals.total_ns - 20 * healthy_ns) / NS_PER_MS));
	tap_is_int(capture.iterations[19].duration_ns, healthy_ns, "the others are as they were");
	tap_is_int(capture_count(&capture, DECISION_FAILOVER, &decision), 1, "a decision says so");
	tap_ok(decision && decision->row.at_ns == (int64_t)NS_PER_S, "at the time of the failure");
	tap_is_int(capture.faults[0].cleared_ns, -1, "the RNIC is away to the end of the run");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* adaptra starts on the stream plane, switches to delegates inside the iteration and stays there.
 */
static void test_fail_over_adaptra(void)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	scenario.topology.link_delay_ns = NS_PER_MS;
	scenario.delegate_cost_ns = 100000;
	(void)add_down(&scenario, 1, at_ms(1000));
	run(&capture, &scenario, "adaptra");
	tap_is_int((int64_t)capture.n_iterations, 20, "adaptra finishes all iterations");
	tap_is_int(capture.totals.n_restarts, 0, "without a restart");
	tap_is_int(capture_count(&capture, DECISION_FAILOVER, &decision), 1, "a decision says so");
	if (decision) {
		size_t failed = (size_t)decision->row.iteration;

		tap_is_int(decision->row.plane, PLANE_DELEGATE, "it names the plane from now on");
		tap_is_int(capture.iterations[failed].plane, PLANE_STREAM,
		           "the iteration began on the stream plane");
		tap_ok(capture.iterations[failed].is_complete, "it ends");
		tap_ok(capture.iterations[failed].duration_ns >
		               capture.iterations[0].duration_ns + 400 * NS_PER_MS,
		       "later, by what the fail-over takes");
		tap_is_int(capture.iterations[failed + 1].plane, PLANE_DELEGATE,
		           "the next one begins on the delegate plane");
		tap_is_int(capture.iterations[19].plane, PLANE_DELEGATE, "and there it stays");
	}
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* A flap of flap_ms at 1 s; stage 1's rail is all it has. */
static void test_flap(const char *schedule, int64_t flap_ms, int n_rails, int n_restarts,
                      int n_failovers)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	scenario.topology.link_delay_ns = NS_PER_MS;
	scenario.topology.n_rails = n_rails;
	add_down(&scenario, 1, at_ms(1000))->end = at_ms(1000 + flap_ms);
	run(&capture, &scenario, schedule);
	tap_is_int(capture.totals.n_restarts, n_restarts,
	           "%s, %d rails, a flap of %lld ms: so many restarts", schedule, n_rails,
	           (long long)flap_ms);
	tap_is_int(capture_count(&capture, DECISION_FAILOVER, &decision), n_failovers,
	           "%s, %d rails, a flap of %lld ms: so many fail-overs", schedule, n_rails,
	           (long long)flap_ms);
	tap_is_int((int64_t)capture.n_faults, 1, "it is recorded");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_flaps(void)
{
	test_flap("1f1b", 100, 2, 1, 0);
	test_flap("zb-cpu", 100, 2, 0, 0);
	test_flap("zb-cpu", 100, 1, 0, 0);
	test_flap("zb-cpu", 600, 2, 0, 1);
	test_flap("zb-cpu", 600, 1, 1, 0);
	test_flap("adaptra", 100, 2, 0, 0);
	test_flap("adaptra", 600, 2, 0, 1);
}

/* What the record says of when an outage that began at 1 s was over; runs of 20 iterations end
 * before 8 s. */
static void test_cleared(const char *schedule, struct moment start, struct moment end,
                         int64_t wanted_ms)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	scenario.topology.link_delay_ns = NS_PER_MS;
	add_down(&scenario, 1, start)->end = end;
	run(&capture, &scenario, schedule);
	tap_ok(capture.totals.total_ns < 8 * (int64_t)NS_PER_S, "the run is over by then");
	if (tap_is_int((int64_t)capture.n_faults, 1, "%s: the outage is recorded once", schedule))
		tap_is_int(capture.faults[0].cleared_ns, wanted_ms < 0 ? -1 : wanted_ms * NS_PER_MS,
		           "%s: an outage is over when it is, not before the run gets there",
		           schedule);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_clearings(void)
{
	test_cleared("zb-cpu", at_ms(1000), at_ms(1100), 1100);
	test_cleared("zb-cpu", at_ms(1000), at_ms(1700), 1700);
	test_cleared("adaptra", at_ms(1000), at_ms(2500), 2500);
	test_cleared("zb-cpu", at_ms(1000), at_ms(60000), -1);
	test_cleared("adaptra", at_ms(1000), at_ms(60000), -1);
	/* Iteration 19 is the last one. */
	test_cleared("zb-cpu", at_iteration(19), at_ms(60000), -1);
	test_cleared("zb-cpu", at_iteration(19), at_ms(10000), -1);
}

/* A job that cannot start again got no new RNIC either. */
static void test_nothing_replaced(void)
{
	struct scenario scenario;
	struct capture capture;
	struct fault *spare;

	fill(&scenario);
	spare = add_down(&scenario, 3, at_ms(500));
	spare->rail = 1;
	spare->end = at_ms(60000);
	add_down(&scenario, 2, at_ms(1000))->is_permanent = true;
	scenario.topology.n_rails = 2;
	spare = add_down(&scenario, 2, at_ms(700));
	spare->rail = 1;
	spare->is_permanent = true;
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_run(&capture, &scenario, "1f1b"), -ENETDOWN, "no rail is left");
	tap_is_int((int64_t)capture.n_faults, 3, "all three outages are recorded");
	for (size_t i = 0; i < capture.n_faults; i++)
		tap_is_int(capture.faults[i].cleared_ns, -1, "outage %zu was never over", i);
	capture_check(&capture, &scenario);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Two RNICs die in one iteration: what happened before the second stays as it was. */
static void test_two_in_one_iteration(int second_stage)
{
	struct scenario scenario;
	struct capture one, two;
	int64_t second_ns = 1120 * (int64_t)NS_PER_MS;
	size_t i;
	int n_compared = 0, n_different = 0;

	fill(&scenario);
	scenario.topology.link_delay_ns = NS_PER_MS;
	scenario_fixture_slow_link(&scenario, 0, DELAY_OCCUPANCY, 15 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 2, 0, 19);
	scenario.detection.threshold_ns = NS_PER_S;
	(void)add_down(&scenario, 1, at_ms(1000));
	run(&one, &scenario, "adaptra");
	(void)add_down(&scenario, second_stage, at_ms(1120));
	run(&two, &scenario, "adaptra");
	for (i = 0; one.iterations[i + 1].start_ns < second_ns; i++)
		;
	tap_ok(one.iterations[i].start_ns < (int64_t)NS_PER_S, "both fall into one iteration");
	for (size_t at = two.first_op[i]; at < two.first_op[i + 1]; at++) {
		const struct record_op *op = &two.ops[at];

		if (op->end_ns > second_ns)
			continue;
		n_compared += op->end_ns > (int64_t)NS_PER_S;
		n_different += op->end_ns != one.ops[at].end_ns;
	}
	tap_ok(n_compared > 3, "ops ended between the two failures (%d)", n_compared);
	tap_is_int(n_different, 0, "a second failure on stage %d does not change them",
	           second_stage);
	capture_fini(&one);
	capture_fini(&two);
	scenario_fini(&scenario);
}

int main(void)
{
	test_restart(5, 10);
	test_restart(100, 0);
	test_restart(0, 0);
	test_restart_inside();
	test_repeated_faults();
	test_faults_end_with_attempt();
	test_no_rail_left();
	test_restart_replaces_spares();
	test_two_on_one_rail();
	test_fail_over_delegate();
	test_fail_over_adaptra();
	test_flaps();
	test_clearings();
	test_nothing_replaced();
	test_two_in_one_iteration(2);
	test_two_in_one_iteration(3);
	return tap_done();
}
