/* replay_exchanges.c - tests live runs whose stream plane uses exchanges, in one worker, whose
 * stages are CPUs: the losses are those of any other run, also when RNICs die, exchanges fail, and
 * streams are occupied in front of sends; with and without exchanges. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/pair_exchange.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_ITERATIONS = 5, DELAY_MS = 30 };

static const char *const schedules[] = {"1f1b", "gpipe", "zb", "adaptra"};
enum { N_SCHEDULES = sizeof(schedules) / sizeof(schedules[0]) };

static void init(struct live_case *c)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, 1, 1);
	c->exchange = &pair_exchange_ops;
	c->occupies_streams = true;
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.topology.n_rails = 2;
	/* No detector: on a busy machine it may see a slow link, and be right. */
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->scenario.recovery = (struct recovery){
		.checkpoint_every = 2, .restart_ns = 20 * NS_PER_MS, .failover_ns = 20 * NS_PER_MS};
}

static void make_reference(double *losses, int n_replicas)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, n_replicas);
	c.scenario.n_iterations = N_ITERATIONS;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs, over tcp: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(c.losses));
	live_case_fini(&c);
}

/* Each link's messages and its last post, at both ends. */
static void test_healthy(const double *losses, const char *schedule)
{
	int n_posts = pair_exchange_n_posts(), n_most, n_groups = pair_exchange_n_groups();
	struct live_case c;

	init(&c);
	(void)live_case_run(&c, schedule);
	live_case_has_losses(&c, losses, "%s: losses are those over tcp", schedule);
	n_posts = pair_exchange_n_posts() - n_posts;
	n_groups = pair_exchange_n_groups() - n_groups;
	n_most = N_ITERATIONS * (N_STAGES - 1) * 2 * (2 * N_MICROBATCHES + 1);
	tap_is_int(n_posts + n_groups - N_ITERATIONS * (N_STAGES - 1) * 2, n_most,
	           "and every message went by an exchange");
	live_case_fini(&c);
}

static void test_replicas(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];
	struct live_case c;

	make_reference(losses, 2);
	init(&c);
	c.scenario.topology.n_replicas = 2;
	(void)live_case_run(&c, "zb");
	live_case_has_losses(&c, losses, "each replica has exchanges of its own");
	live_case_fini(&c);
}

static void slow_down(struct live_case *c)
{
	scenario_fixture_slow_link(&c->scenario, 1, DELAY_OCCUPANCY, DELAY_MS * NS_PER_MS);
	scenario_fixture_iterations(&c->scenario, 2, 1, 3);
}

static void die(struct live_case *c, int stage, int iteration, enum op_kind kind, int microbatch)
{
	const struct moment start = {.kind = MOMENT_OP,
	                             .value = iteration,
	                             .stage = stage,
	                             .op = kind,
	                             .microbatch = microbatch};

	(void)scenario_fixture_fault(&c->scenario, (struct fault){.kind = FAULT_DOWN,
	                                                          .start = start,
	                                                          .end = {.kind = MOMENT_NEVER},
	                                                          .from_stage = stage,
	                                                          .to_stage = stage});
}

static void test_slow(const double *losses, const char *schedule, bool has_exchange)
{
	struct live_case c;

	init(&c);
	if (!has_exchange)
		c.exchange = NULL;
	c.speed = 20;
	slow_down(&c);
	(void)live_case_run(&c, schedule);
	live_case_has_losses(&c, losses, "%s, a link of %d ms more, %s: losses are equal", schedule,
	                     DELAY_MS, has_exchange ? "exchanges" : "tcp");
	live_case_fini(&c);
}

/* At an op, so inside an iteration, whatever the machine is busy with. */
static void test_death(const double *losses, const char *schedule, enum op_kind kind, int mb)
{
	bool goes_on = strcmp(schedule, "adaptra") == 0;
	struct live_case c;
	int n_failovers = 0;

	init(&c);
	c.speed = 20;
	slow_down(&c);
	die(&c, 2, 3, kind, mb);
	tap_ok(scenario_fixture_is_valid(&c.scenario), "the scenario is valid");
	/* Those of all stages of a worker, which then wait only once. */
	pair_exchange_end_together(goes_on);
	(void)live_case_run(&c, schedule);
	pair_exchange_end_together(false);
	live_case_has_losses(&c, losses, "%s, an RNIC dies at %c%d: losses are equal", schedule,
	                     op_kind_letter(kind), mb);
	for (size_t i = 0; i < c.capture.n_decisions; i++)
		n_failovers += c.capture.decisions[i].row.kind == DECISION_FAILOVER;
	tap_is_int(c.capture.totals.n_restarts, !goes_on, "%s",
	           goes_on ? "it does not start again" : "it starts again");
	tap_is_int(n_failovers, goes_on, "%s",
	           goes_on ? "delegates go on" : "there are no delegates to go on");
	live_case_fini(&c);
}

/* No fault explains it. */
static void test_failure(const char *schedule, int nth_post)
{
	struct live_case c;

	init(&c);
	pair_exchange_fail(1, 2, nth_post);
	tap_is_int(live_case_run(&c, schedule), -EIO,
	           "%s: an exchange that fails at post %d ends it", schedule, nth_post);
	tap_contains(c.err.text,
	             "stage 1 has lost its exchange with stage 2: it is gone, and no fault "
	             "explains it",
	             "and the reason is told");
	pair_exchange_fail(1, 2, -1);
	live_case_fini(&c);
}

static int nobody_is_there(struct exchange *exchange, struct err *err)
{
	(void)exchange;
	return err_set(err, -ETIMEDOUT, "stage 0 cannot meet stage 1: nobody is there");
}

static struct exchange_ops lonely_ops;

static int open_lonely(const struct exchange_config *config, struct exchange **out, struct err *err)
{
	int rc = pair_exchange_ops.open(config, out, err);

	if (rc == 0)
		(*out)->ops = &lonely_ops;
	return rc;
}

static void test_not_met(void)
{
	struct live_case c;

	init(&c);
	lonely_ops = pair_exchange_ops;
	lonely_ops.open = open_lonely;
	lonely_ops.progress = nobody_is_there;
	c.exchange = &lonely_ops;
	tap_is_int(live_case_run(&c, "zb"), -ETIMEDOUT, "who is not met ends the run");
	tap_contains(c.err.text, "nobody is there", "and the reason is told");
	live_case_fini(&c);
}

/* However busy the machine is, streams are occupied for no less than was asked for, and with all
 * that follows from it. */
static void test_times(const char *schedule, bool has_exchange)
{
	double least_ms = INFINITY, live = 0, sim = 0;
	struct capture simulated;
	struct live_case c;

	init(&c);
	live_case_pace(&c, 8);
	if (!has_exchange)
		c.exchange = NULL;
	c.scenario.n_iterations = 3;
	scenario_fixture_slow_link(&c.scenario, 1, DELAY_OCCUPANCY, DELAY_MS * NS_PER_MS);
	capture_init(&simulated, true);
	tap_is_int(live_case_simulate(&c, schedule, &simulated), 0, "%s runs in sim", schedule);
	tap_is_int(live_case_run(&c, schedule), 0, "%s runs live: %s", schedule, c.err.text);
	for (size_t i = 0; c.rc == 0 && i < 3; i++) {
		live += (double)c.capture.iterations[i].duration_ns;
		sim += (double)simulated.iterations[i].duration_ns;
		for (int mb = 0; mb < N_MICROBATCHES; mb++)
			least_ms = fmin(least_ms, live_case_transfer_ms(&c.capture, i, 1, 2, mb));
	}
	tap_ok(live > 0.999 * sim, "%s, %s: iterations take no less than in sim (%.3f)", schedule,
	       has_exchange ? "exchanges" : "tcp", live / sim);
	tap_ok(least_ms > 0.999 * DELAY_MS, "nor a message of the slow link less than %d ms: %.2f",
	       DELAY_MS, least_ms);
	capture_fini(&simulated);
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	pair_exchange_share_counts();
	make_reference(losses, 1);
	for (int i = 0; i < N_SCHEDULES; i++) {
		test_healthy(losses, schedules[i]);
		test_slow(losses, schedules[i], true);
	}
	test_slow(losses, "zb", false);
	test_slow(losses, "zb-cpu", false);
	test_death(losses, "1f1b", OP_B, 2);
	test_death(losses, "zb", OP_F, 1);
	test_death(losses, "adaptra", OP_F, 1);
	test_death(losses, "adaptra", OP_F, 3);
	test_death(losses, "adaptra", OP_B, 2);
	test_replicas();
	test_failure("1f1b", 1);
	test_failure("adaptra", 10);
	test_not_met();
	test_times("1f1b", true);
	test_times("zb", true);
	test_times("zb", false);
	test_times("zb-cpu", false);
	return tap_done();
}
