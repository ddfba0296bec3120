/* monitor_stages.c - tests which stages the detector calls slow, in the noise of DESIGN.md section
 * 7, and that it tells slow stages from slow links. */
#include "tests/unit/monitor_fixture.h"

enum { N_QUIET = 50, N_FAULT = 30 };

/* n iterations; returns those whose edge had news of a link or a stage. */
static int run(struct pipeline *pipeline, int n)
{
	int n_news = 0;

	for (int i = 0; i < n; i++) {
		pipeline_iterate(pipeline);
		n_news += pipeline->has_link_news || pipeline->has_stage_news;
	}
	return n_news;
}

/* Over all seeds. */
struct tally {
	int n_late;   /* not found, or not over, in time */
	int n_wrong;  /* something else was blamed */
	int n_since;  /* the beginning was not named */
	int n_uneasy; /* more news than one of each kind of beginning and end */
	double worst; /* error of the factor */
};

/* link −1, stage −1: none. */
static void blame(struct tally *tally, uint64_t seed, int link, int stage, double slowdown)
{
	struct pipeline pipeline;

	if (!pipeline_init(&pipeline, seed, 2 * NS_PER_MS))
		return;
	tally->n_uneasy += run(&pipeline, N_QUIET) > 0;
	if (link >= 0)
		pipeline.delay_ns[link] = 15 * NS_PER_MS;
	if (stage >= 0)
		pipeline.slowdown[stage] = slowdown;
	run(&pipeline, 2);
	tally->n_late +=
		pipeline_slow_link(&pipeline) != link || pipeline_slow_stage(&pipeline) != stage;
	tally->n_uneasy += run(&pipeline, N_FAULT) > 0;
	tally->n_wrong +=
		pipeline_slow_link(&pipeline) != link || pipeline_slow_stage(&pipeline) != stage;
	if (stage >= 0) {
		double error = pipeline.stages[stage].factor / slowdown - 1;

		tally->worst = tap_worst(tally->worst, fabs(error));
		tally->n_since += pipeline.stages[stage].since_iteration != N_QUIET;
	}
	if (link >= 0)
		pipeline.delay_ns[link] = 0;
	if (stage >= 0)
		pipeline.slowdown[stage] = 1;
	run(&pipeline, FIXTURE_CLEAR + 1);
	tally->n_late +=
		pipeline_slow_link(&pipeline) != -1 || pipeline_slow_stage(&pipeline) != -1;
	tally->n_uneasy += run(&pipeline, N_QUIET) > 0;
	monitor_free(pipeline.monitor);
}

static void test_blame(bool has_link, bool has_stage, double slowdown, const char *name)
{
	struct tally tally = {0};

	for (uint64_t seed = 1; seed <= FIXTURE_SEEDS; seed++)
		blame(&tally, seed, has_link ? (int)(seed % FIXTURE_LINKS) : -1,
		      has_stage ? (int)(seed * 3 % FIXTURE_STAGES) : -1, slowdown);
	tap_is_int(tally.n_wrong, 0, "%s: what is slow is named, and nothing else", name);
	tap_is_int(tally.n_late, 0, "within 2 iterations, and is over after %d", FIXTURE_CLEAR + 1);
	tap_is_int(tally.n_uneasy, 0, "and no other edge has news");
	if (!has_stage)
		return;
	tap_is_int(tally.n_since, 0, "the stage's first slow iteration is named");
	tap_ok(tally.worst < 0.05, "and its factor with an error of %.1f %% at most",
	       100 * tally.worst);
}

/* A tenth more is below the limit of a fifth; one that was slow by more and has three twentieths
 * left is above half of it. */
static void test_limits(void)
{
	int n_news = 0, n_slow = 0;

	for (uint64_t seed = 1; seed <= FIXTURE_SEEDS; seed++) {
		struct pipeline pipeline;

		if (!pipeline_init(&pipeline, seed, 2 * NS_PER_MS))
			return;
		n_news += run(&pipeline, N_QUIET);
		pipeline.slowdown[4] = 1.15;
		n_news += run(&pipeline, 10 * N_FAULT);
		pipeline.slowdown[4] = 1.5;
		run(&pipeline, N_FAULT);
		pipeline.slowdown[4] = 1.15;
		run(&pipeline, 10 * N_FAULT);
		n_slow += pipeline_slow_stage(&pipeline) == 4;
		monitor_free(pipeline.monitor);
	}
	tap_is_int(n_news, 0, "a stage that takes 15 %% more is not slow");
	tap_is_int(n_slow, FIXTURE_SEEDS, "but one that was slow remains so");
}

/* The baseline of a stage that begins slow is what it takes later. */
static void test_slow_beginning(int n_iterations)
{
	int n_news = 0, n_slow = 0;
	double worst = 0;

	for (uint64_t seed = 1; seed <= FIXTURE_SEEDS; seed++) {
		struct pipeline pipeline;

		if (!pipeline_init(&pipeline, seed, 2 * NS_PER_MS))
			return;
		pipeline.slowdown[1] = 1.15;
		pipeline.slowdown[6] = 1.6;
		n_news += run(&pipeline, n_iterations);
		pipeline.slowdown[1] = 1;
		pipeline.slowdown[6] = 1;
		n_news += run(&pipeline, N_QUIET);
		pipeline.slowdown[1] = 1.25;
		pipeline.slowdown[6] = 1.6;
		run(&pipeline, N_FAULT);
		n_slow += pipeline.stages[1].is_slow && pipeline.stages[6].is_slow;
		worst = tap_worst(worst, fabs(pipeline.stages[1].factor / 1.25 - 1));
		worst = tap_worst(worst, fabs(pipeline.stages[6].factor / 1.6 - 1));
		monitor_free(pipeline.monitor);
	}
	tap_is_int(n_news, 0, "slow in the first %d iterations only is no alarm", n_iterations);
	tap_is_int(n_slow, FIXTURE_SEEDS, "as slow later is");
	tap_ok(worst < 0.05, "with a factor against the faster ones (error %.1f %%)", 100 * worst);
}

/* Ops without noise: the factors are exact. */
static bool iterate(struct monitor *monitor, int iteration, int64_t op_ns, int n_kinds,
                    struct monitor_stage *stages_out)
{
	struct monitor_link link;

	for (int i = 0; i < 5; i++)
		for (int kind = 0; kind < n_kinds; kind++) {
			monitor_add_op(monitor, 0, (enum op_kind)kind, op_ns * (kind + 1));
			monitor_add_op(monitor, 1, (enum op_kind)kind, 1000000);
		}
	monitor_edge(monitor, iteration, &link);
	return monitor_stages(monitor, stages_out);
}

static struct monitor *make_monitor(int confirm, int clear, double ratio)
{
	const int64_t healthy_ns = 100;
	const struct monitor_settings settings = {.n_stages = 2,
	                                          .healthy_ns = &healthy_ns,
	                                          .threshold_ns = 100,
	                                          .confirm_iterations = confirm,
	                                          .clear_iterations = clear,
	                                          .stage_ratio = ratio};
	struct monitor *monitor = NULL;
	struct err err = {0};

	tap_is_int(monitor_new(&settings, &monitor, &err), 0, "a detector is made");
	return monitor;
}

static void test_exact(void)
{
	struct monitor *monitor = make_monitor(1, 2, 0);
	struct monitor_stage stages[2];

	tap_ok(!iterate(monitor, 0, 1000000, 3, stages), "the first iteration is quiet");
	tap_ok(!iterate(monitor, 1, 1190000, 3, stages), "19 %% more is");
	tap_ok(iterate(monitor, 2, 2000000, 3, stages), "twice as much is news at once");
	tap_ok(stages[0].is_slow && !stages[1].is_slow, "of that stage");
	tap_is_number(stages[0].factor, 2, 1e-5, "its factor is 2");
	tap_is_number(stages[1].factor, 1, 0, "the other's is 1");
	tap_is_int(stages[0].since_iteration, 2, "since then");
	tap_is_int(stages[1].since_iteration, -1, "or never");
	tap_ok(!iterate(monitor, 3, 2300000, 3, stages), "a fifth more is not news");
	tap_ok(iterate(monitor, 4, 2500000, 3, stages), "more than that is");
	tap_is_number(stages[0].factor, 2.5, 1e-5, "with another factor");
	tap_ok(!iterate(monitor, 5, 100, 1, stages), "an iteration without B and W says nothing");
	tap_ok(!iterate(monitor, 6, 1000000, 3, stages), "one quiet iteration does not end it");
	monitor_drop_iteration(monitor);
	tap_ok(iterate(monitor, 7, 1000000, 3, stages), "two do");
	tap_is_number(stages[0].factor, 1, 0, "the factor is 1 again");
	monitor_free(monitor);
}

static void test_confirmed(void)
{
	struct monitor *monitor = make_monitor(2, 1, 0.5);
	struct monitor_stage stages[2];

	iterate(monitor, 0, 1000000, 3, stages);
	iterate(monitor, 1, 1000000, 3, stages);
	tap_ok(!iterate(monitor, 2, 2000000, 3, stages),
	       "one slow iteration is not enough for two");
	tap_ok(!iterate(monitor, 3, 1000000, 3, stages), "nor with a quiet one between");
	tap_ok(!iterate(monitor, 4, 2000000, 3, stages), "the count starts anew");
	tap_ok(iterate(monitor, 5, 2000000, 3, stages), "two in a row are");
	tap_is_int(stages[0].since_iteration, 4, "since the first of them");
	tap_ok(iterate(monitor, 6, 1240000, 3, stages), "half the ratio less ends it");
	tap_ok(!iterate(monitor, 7, 1490000, 3, stages), "and the ratio is the caller's");
	monitor_free(monitor);
}

static void test_restart(void)
{
	struct monitor *monitor = make_monitor(1, 1, 0);
	struct monitor_stage stages[2];

	iterate(monitor, 0, 1000000, 3, stages);
	iterate(monitor, 1, 2000000, 3, stages);
	monitor_reset(monitor);
	tap_ok(!monitor_stages(monitor, stages) && !stages[0].is_slow, "a reset forgets the alarm");
	tap_ok(iterate(monitor, 2, 2000000, 3, stages) && stages[0].is_slow,
	       "but not what the stage takes when quiet");
	monitor_free(monitor);
}

int main(void)
{
	test_blame(false, true, 1.5, "a stage at 1.5");
	test_blame(false, true, 1.25, "a stage at 1.25");
	test_blame(true, false, 1, "a link");
	test_blame(true, true, 2, "both");
	test_limits();
	test_slow_beginning(1);
	test_slow_beginning(40);
	test_exact();
	test_confirmed();
	test_restart();
	return tap_done();
}
