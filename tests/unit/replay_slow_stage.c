/* replay_slow_stage.c - tests that a stage that is slow for a time slows the ops that start in that
 * time, and no others, also where ops are issued ahead. */
#include <math.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 6, SLOW_STAGE = 2, OP_MS = 10, FROM_MS = 95, LASTS_MS = 83 };

static const double SLOWDOWN = 3;

/* What an op took, as a multiple of what it takes when nothing is wrong. */
static double factor_of(const struct record_op *op)
{
	return (double)(op->end_ns - op->start_ns) / (OP_MS * (double)NS_PER_MS);
}

static bool is_near(double factor, double want)
{
	return fabs(factor - want) < 0.01 * want;
}

static void check_ops(const struct live_case *c, const char *schedule)
{
	int n_slow = 0, n_missed = 0, n_wrong = 0;

	for (size_t i = 0; i < c->capture.n_ops; i++) {
		const struct record_op *op = &c->capture.ops[i];
		bool is_slow = op->stage == SLOW_STAGE && op->start_ns >= FROM_MS * NS_PER_MS &&
		               op->start_ns < (FROM_MS + LASTS_MS) * NS_PER_MS;

		/* A kernel that was kept waiting may take longer, never less. */
		n_slow += is_slow;
		n_missed += is_slow && factor_of(op) < 0.99 * SLOWDOWN;
		n_wrong += !is_slow && is_near(factor_of(op), SLOWDOWN);
	}
	tap_ok(n_slow > 0, "%s: ops of the stage start while it is slow: %d", schedule, n_slow);
	tap_is_int(n_missed, 0, "%s: all of them are", schedule);
	tap_is_int(n_wrong, 0, "%s: and no others", schedule);
}

static void test_by_time(const char *schedule)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 2, 1);
	live_case_pace(&c, 2);
	c.scenario.n_iterations = 1;
	c.scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	(void)scenario_fixture_fault(
		&c.scenario,
		(struct fault){.kind = FAULT_SLOW_STAGE,
	                       .start = {MOMENT_TIME, FROM_MS * (int64_t)NS_PER_MS},
	                       .end = {MOMENT_TIME, (FROM_MS + LASTS_MS) * (int64_t)NS_PER_MS},
	                       .from_stage = SLOW_STAGE,
	                       .to_stage = SLOW_STAGE,
	                       .slowdown = SLOWDOWN});
	if (tap_is_int(live_case_run(&c, schedule), 0, "%s runs: %s", schedule, c.err.text))
		check_ops(&c, schedule);
	live_case_fini(&c);
}

int main(void)
{
	test_by_time("1f1b");
	test_by_time("zb");
	test_by_time("zb-cpu");
	return tap_done();
}
