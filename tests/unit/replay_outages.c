/* replay_outages.c - tests RNICs that die under running workers: restart, fail-over, flaps, both
 * ends, no rail left. What happened is what the simulator says happens, and losses stay what they
 * are. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_ITERATIONS = 5, EVERY = 2, TRIES = 15 };

static void init(struct live_case *c, int n_hosts, int n_rails)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, n_hosts, 1);
	live_case_pace(c, 10);
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.topology.n_rails = n_rails;
	/* No detector: on a busy machine it may see a slow link, and be right. */
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->scenario.recovery = (struct recovery){.checkpoint_every = EVERY,
	                                         .restart_ns = 200 * NS_PER_MS,
	                                         .failover_ns = 40 * NS_PER_MS};
}

/* From iteration on for lasts_ns; 0: to the end. */
static struct fault *add_down(struct live_case *c, int stage, int iteration, int64_t lasts_ns)
{
	return scenario_fixture_fault(
		&c->scenario,
		(struct fault){.kind = FAULT_DOWN,
	                       .start = {.kind = MOMENT_ITERATION, .value = iteration},
	                       .end = {.kind = lasts_ns > 0 ? MOMENT_TIME : MOMENT_NEVER,
	                               .value = lasts_ns},
	                       .from_stage = stage,
	                       .to_stage = stage});
}

static void make_reference(double *losses)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, 1);
	c.scenario.n_iterations = N_ITERATIONS;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(c.losses));
	live_case_fini(&c);
}

static void run(struct live_case *c, const char *schedule, const double *losses, const char *name)
{
	tap_ok(scenario_fixture_is_valid(&c->scenario), "%s: the scenario is valid", name);
	(void)live_case_run(c, schedule);
	if (live_case_has_losses(c, losses, "%s (%s): losses are equal", name, schedule))
		live_case_check_like_sim(c, schedule, name);
	live_case_fini(c);
}

static void test_restart(const double *losses)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu"};

	for (int i = 0; i < 3; i++)
		for (int n_hosts = 1; n_hosts <= 2; n_hosts++) {
			struct live_case c;

			init(&c, n_hosts, 1);
			(void)add_down(&c, 2, 3, 0);
			run(&c, schedules[i], losses, "one rail dies");
		}
}

/* Repeated iterations are attempt 1, and begin where the checkpoint is. */
static void test_attempts(const double *losses)
{
	struct live_case c;

	init(&c, 2, 2);
	(void)add_down(&c, 1, 3, 0);
	(void)live_case_run(&c, "1f1b");
	live_case_has_losses(&c, losses, "after a restart losses are equal");
	tap_is_int(c.capture.totals.n_restarts, 1, "there was one");
	if (c.capture.n_iterations == N_ITERATIONS + 2) {
		tap_ok(!c.capture.iterations[3].is_complete && isnan(c.capture.iterations[3].loss),
		       "the iteration that was cut short has no loss");
		capture_check(&c.capture, &c.scenario);
		tap_is_int(c.capture.iterations[4].iteration, 2, "iteration 2 is repeated");
		tap_is_int(c.capture.iterations[4].attempt, 1, "as attempt 1");
		tap_ok(memcmp(&c.capture.iterations[2].loss, &c.capture.iterations[4].loss,
		              sizeof(double)) == 0,
		       "with the loss of attempt 0");
	} else {
		tap_is_int((int64_t)c.capture.n_iterations, N_ITERATIONS + 2,
		           "cut short, and one repeated");
	}
	live_case_fini(&c);
}

/* Who is far from the dead rail does not find out by itself, and reports all the same what it did:
 * what has come to its neighbour has left. */
static void test_record_of_death(const double *losses)
{
	struct live_case c;
	struct fault *down;
	int n_arrived = 0, n_wrong = 0;

	init(&c, N_STAGES, 1);
	down = add_down(&c, 3, 0, 0);
	down->start = (struct moment){
		.kind = MOMENT_OP, .value = 1, .stage = 3, .op = OP_B, .microbatch = 1};
	(void)live_case_run(&c, "1f1b");
	live_case_has_losses(&c, losses, "an RNIC at the end of the pipeline dies");
	tap_is_int(c.capture.totals.n_restarts, 1, "the job starts again");
	for (size_t i = 0; i < c.capture.n_iterations; i++) {
		const struct record_iteration *iteration = &c.capture.iterations[i];

		for (size_t k = 0; !iteration->is_complete && k < iteration->n_ops; k++) {
			const struct record_op *op = &c.capture.ops[c.capture.first_op[i] + k];

			n_arrived += op->message_arrive_ns >= 0;
			n_wrong += op->message_arrive_ns >= 0 && op->message_start_ns < 0;
		}
	}
	tap_ok(n_arrived > 0, "messages arrived in the iteration that it cut short (%d)",
	       n_arrived);
	tap_is_int(n_wrong, 0, "all of them have left before");
	live_case_fini(&c);
}

/* The 40 ms it takes to fail over are in the iteration, and no restart is. */
static void test_fail_over(const double *losses)
{
	static const char *const schedules[] = {"zb-cpu", "adaptra", "adaptra-cpu", "hold"};

	for (int i = 0; i < 4; i++)
		for (int n_hosts = 1; n_hosts <= N_STAGES; n_hosts += 3) {
			struct live_case c;

			init(&c, n_hosts, 2);
			(void)add_down(&c, 2, 3, 0);
			run(&c, schedules[i], losses, "a spare rail");
		}
}

/* In the middle of an iteration, when messages of all kinds are under way. */
static void test_inside(const double *losses)
{
	for (int at_ms = 290; at_ms < 600; at_ms += 61) {
		struct live_case c;
		struct fault *down;

		init(&c, 2, 2);
		down = add_down(&c, at_ms % 2 ? 1 : 2, 0, 0);
		down->start = (struct moment){.kind = MOMENT_TIME, .value = at_ms * NS_PER_MS};
		(void)live_case_run(&c, "adaptra");
		live_case_has_losses(&c, losses, "adaptra, an RNIC dies after %d ms", at_ms);
		tap_is_int(c.capture.totals.n_restarts, 0, "without a restart");
		tap_is_int(capture_count(&c.capture, DECISION_FAILOVER,
		                         &(const struct captured_decision *){NULL}),
		           1, "and with one fail-over");
		tap_ok(c.capture.n_iterations == N_ITERATIONS &&
		               c.capture.iterations[N_ITERATIONS - 1].plane == PLANE_DELEGATE,
		       "it goes on over delegates");
		live_case_fini(&c);
	}
}

/* All ops of iteration 0 have ended, and a last acknowledgement is under way, when the moment
 * comes: it belongs to iteration 1, whose first message leaves before it and has to go again. On a
 * busy machine iteration 0 may last till then. */
static void test_between(const double *losses)
{
	const struct captured_decision *failover = NULL;
	const struct record_op *first = NULL;
	struct capture sim;
	struct live_case c;

	for (int try = 0; try < TRIES && (!failover || failover->row.iteration == 0); try++) {
		if (try > 0)
			live_case_fini(&c);
		init(&c, 2, 2);
		live_case_pace(&c, 2);
		c.scenario.topology.link_delay_ns = 60 * NS_PER_MS;
		tap_is_int(live_case_simulate(&c, "adaptra", &sim), 0, "sim can do it");
		add_down(&c, 1, 0, 0)->start =
			(struct moment){.kind = MOMENT_TIME,
		                        .value = sim.iterations[0].duration_ns + 20 * NS_PER_MS};
		capture_fini(&sim);
		(void)live_case_run(&c, "adaptra");
		(void)capture_count(&c.capture, DECISION_FAILOVER, &failover);
	}
	live_case_has_losses(&c, losses, "an RNIC dies between two iterations");
	if (failover && failover->row.iteration == 1)
		first = capture_op(&c.capture, 1, 0, OP_F, 0);
	tap_ok(first && first->message_n_resends == 1,
	       "what left in the second before it goes again");
	live_case_fini(&c);
}

static void test_both_ends(const double *losses)
{
	static const char *const schedules[] = {"1f1b", "zb-cpu", "adaptra"};

	for (int i = 0; i < 3; i++) {
		struct live_case c;

		init(&c, 2, 2);
		(void)add_down(&c, 1, 3, 0);
		(void)add_down(&c, 2, 3, 0);
		run(&c, schedules[i], losses, "both ends of a link");
	}
}

static void test_spare_dies(const double *losses)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu", "adaptra"};

	for (int i = 0; i < 4; i++) {
		struct live_case c;

		init(&c, 2, 2);
		add_down(&c, 2, 3, 0)->rail = 1;
		run(&c, schedules[i], losses, "the spare rail dies");
	}
}

/* Back before anybody gives up on it; or after that, for the next failure. */
static void test_flaps(const double *losses)
{
	static const char *const schedules[] = {"zb-cpu", "adaptra"};
	static const int64_t lasts_ms[] = {1, 30, 100, 1000};

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 4; k++)
			for (int n_rails = lasts_ms[k] > 40 ? 2 : 1; n_rails <= 2; n_rails++) {
				struct live_case c;

				init(&c, 2, n_rails);
				(void)add_down(&c, 2, 2, lasts_ms[k] * NS_PER_MS);
				run(&c, schedules[i], losses, "a flap");
			}
}

static void test_flap_after_flap(const double *losses)
{
	struct live_case c;

	init(&c, 2, 1);
	(void)add_down(&c, 1, 1, 20 * NS_PER_MS);
	(void)add_down(&c, 2, 2, 20 * NS_PER_MS);
	(void)add_down(&c, 1, 3, 20 * NS_PER_MS);
	run(&c, "adaptra", losses, "three flaps");

	/* Rail 0 is back when rail 1 dies. */
	init(&c, 2, 2);
	(void)add_down(&c, 2, 1, 60 * NS_PER_MS);
	add_down(&c, 2, 3, 0)->rail = 1;
	run(&c, "zb-cpu", losses, "from rail 0 to rail 1 and back");
}

/* Both ends of a link, one longer than the other: it is back when the last of them is. */
static void test_overlapping_flaps(const double *losses)
{
	static const char *const schedules[] = {"zb-cpu", "adaptra"};

	for (int i = 0; i < 2; i++)
		for (int first = 1; first <= 2; first++)
			for (int n_hosts = 1; n_hosts <= 2; n_hosts++) {
				struct live_case c;

				init(&c, n_hosts, 1);
				(void)add_down(&c, first, 2, 15 * NS_PER_MS);
				(void)add_down(&c, 3 - first, 2, 38 * NS_PER_MS);
				run(&c, schedules[i], losses, "both ends flap");
			}
}

/* Who makes a rail anew does not wait for another one that is gone for good. */
static void test_flap_beside_dead_rail(const double *losses)
{
	for (int iteration = 1; iteration <= 2; iteration++)
		for (int n_hosts = 1; n_hosts <= N_STAGES; n_hosts *= 2) {
			struct live_case c;

			init(&c, n_hosts, 2);
			(void)add_down(&c, 2, iteration, 0);
			(void)add_down(&c, 1, 2, 20 * NS_PER_MS);
			run(&c, "zb-cpu", losses, "a flap beside a dead rail");
		}
}

/* A link has the rails that both its ends have: stage 2 is without rail 0, and when stage 1 loses
 * rail 1, none is left between them, although each has one. When it loses rail 0, only its other
 * link is on that. */
static void test_rails_of_a_link(int rail, const double *losses)
{
	for (int n_hosts = 1; n_hosts <= 2; n_hosts++) {
		struct live_case c;

		init(&c, n_hosts, 2);
		(void)add_down(&c, 2, 0, 0);
		(void)add_down(&c, 1, 1, 20 * NS_PER_MS);
		add_down(&c, 1, 3, 0)->rail = rail;
		run(&c, "zb-cpu", losses, "neighbours that lose a rail each");
	}
}

/* Permanent, and the last one: there is no way on. */
static void test_no_rail_left(void)
{
	static const char *const schedules[] = {"1f1b", "zb-cpu", "adaptra"};

	for (int i = 0; i < 3; i++) {
		struct live_case c;

		init(&c, 2, 1);
		add_down(&c, 2, 3, 0)->is_permanent = true;
		tap_is_int(live_case_run(&c, schedules[i]), -ENETDOWN,
		           "%s ends when the last rail is gone for good", schedules[i]);
		tap_contains(c.err.text, "stage 2 has no rail left", "and says whose");
		tap_ok(c.capture.n_iterations == 4 && !isnan(c.losses[2]) && isnan(c.losses[3]),
		       "what was done before is kept");
		live_case_fini(&c);
	}
}

static void test_permanent(const double *losses)
{
	struct live_case c;

	init(&c, 2, 2);
	add_down(&c, 2, 1, 0)->is_permanent = true;
	add_down(&c, 2, 4, 0)->rail = 1;
	run(&c, "1f1b", losses, "on the spare rail after a restart, and that dies, too");
}

/* Far more than an order holds, most of them after the end. */
static void test_many(const double *losses)
{
	struct live_case c;

	init(&c, 2, 1);
	for (int i = 0; i < 40; i++) {
		struct fault *down = add_down(&c, i % N_STAGES, 0, 0);

		down->start = (struct moment){.kind = MOMENT_TIME,
		                              .value = (100 + 400 * i) * (int64_t)NS_PER_MS};
		down->end = (struct moment){.kind = MOMENT_TIME,
		                            .value = (110 + 400 * i) * (int64_t)NS_PER_MS};
	}
	(void)live_case_run(&c, "adaptra");
	live_case_has_losses(&c, losses, "forty flaps");
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	make_reference(losses);
	test_restart(losses);
	test_attempts(losses);
	test_record_of_death(losses);
	test_fail_over(losses);
	test_inside(losses);
	test_between(losses);
	test_both_ends(losses);
	test_spare_dies(losses);
	test_flaps(losses);
	test_flap_after_flap(losses);
	test_overlapping_flaps(losses);
	test_flap_beside_dead_rail(losses);
	test_rails_of_a_link(0, losses);
	test_rails_of_a_link(1, losses);
	test_no_rail_left();
	test_permanent(losses);
	test_many(losses);
	return tap_done();
}
