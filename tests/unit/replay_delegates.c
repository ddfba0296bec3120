/* replay_delegates.c - tests where delegates work, and that losses do not depend on it: with
 * threads forced on, over both planes, without faults, after a fail-over, a flap and a restart. */
#include <errno.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/replay/delegates.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_ITERATIONS = 4 };

static void test_choice(void)
{
	struct choice {
		enum delegates asked;
		int n_workers, n_cores;
		bool are_threads;
	};
	static const struct choice choices[] = {
		{DELEGATES_AUTO, 1, 1, false},  {DELEGATES_AUTO, 1, 2, true},
		{DELEGATES_AUTO, 2, 2, false},  {DELEGATES_AUTO, 2, 3, false},
		{DELEGATES_AUTO, 2, 4, true},   {DELEGATES_AUTO, 8, 15, false},
		{DELEGATES_AUTO, 8, 16, true},  {DELEGATES_THREADS, 8, 1, true},
		{DELEGATES_LOOP, 1, 64, false},
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		tap_is_int(delegates_are_threads(choices[i].asked, choices[i].n_workers,
		                                 choices[i].n_cores),
		           choices[i].are_threads, "%d workers on %d cores, asked for %d",
		           choices[i].n_workers, choices[i].n_cores, choices[i].asked);
	tap_ok(delegates_cores() > 0, "this process may use a core");
}

static void test_words(void)
{
	char text[DELEGATES_TEXT_BYTES];
	enum delegates delegates = DELEGATES_AUTO;
	struct err err = {0};

	delegates_describe(DELEGATES_AUTO, 2, 2, text);
	tap_is_str(text, "in the workers' loops: 2 cores for 2 workers, threads want 4",
	           "why there are no threads");
	delegates_describe(DELEGATES_AUTO, 512, 1024, text);
	tap_is_str(text, "in threads of their own: 1024 cores for 512 workers, threads want 1024",
	           "why there are");
	delegates_describe(DELEGATES_LOOP, 2, 64, text);
	tap_is_str(text, "in the workers' loops, as asked for", "whoever asked for it knows why");
	tap_is_int(delegates_parse("threads", &delegates, &err), 0, "threads are a choice");
	tap_is_int(delegates, DELEGATES_THREADS, "and that one");
	tap_is_int(delegates_parse("loop", &delegates, &err), 0, "loop is a choice");
	tap_is_int(delegates, DELEGATES_LOOP, "and that one");
	tap_is_int(delegates_parse("thread", &delegates, &err), -EINVAL, "thread is none");
	tap_contains(err.text, "'thread'; auto, threads and loop", "and the reason lists them");
	tap_is_int(delegates, DELEGATES_LOOP, "which changes nothing");
}

static void init(struct live_case *c, enum delegates delegates, int n_hosts, int n_replicas)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, n_hosts, n_replicas);
	c->scenario.n_iterations = N_ITERATIONS;
	c->delegates = delegates;
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->scenario.recovery = (struct recovery){.checkpoint_every = 2,
	                                         .restart_ns = 200 * NS_PER_MS,
	                                         .failover_ns = 40 * NS_PER_MS};
}

static void make_reference(int n_replicas, double *losses)
{
	struct live_case c;

	init(&c, DELEGATES_LOOP, 1, n_replicas);
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs: %s", c.err.text);
	tap_contains(c.facts.delegates, "in the workers' loops", "without threads");
	memcpy(losses, c.losses, sizeof(c.losses));
	live_case_fini(&c);
}

static void test_losses(int n_replicas)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu"};
	double losses[LIVE_CASE_ITERATIONS_MAX];

	make_reference(n_replicas, losses);
	for (int i = 0; i < 3; i++)
		for (int n_hosts = 1; n_hosts <= 2; n_hosts++) {
			struct live_case c;

			init(&c, DELEGATES_THREADS, n_hosts, n_replicas);
			(void)live_case_run(&c, schedules[i]);
			live_case_has_losses(&c, losses, "%s, %d hosts, D = %d: the same losses",
			                     schedules[i], n_hosts, n_replicas);
			tap_contains(c.facts.delegates, "in threads of their own", "with threads");
			live_case_fini(&c);
		}
}

/* lasts_ms 0: to the end. */
static void run_down(const char *schedule, int64_t lasts_ms, int n_rails, const double *losses)
{
	struct live_case c;

	init(&c, DELEGATES_THREADS, 2, 1);
	live_case_pace(&c, 2);
	c.scenario.topology.n_rails = n_rails;
	(void)scenario_fixture_fault(&c.scenario,
	                             (struct fault){.kind = FAULT_DOWN,
	                                            .start = {MOMENT_ITERATION, 2},
	                                            .end = {lasts_ms ? MOMENT_TIME : MOMENT_NEVER,
	                                                    lasts_ms * (int64_t)NS_PER_MS},
	                                            .from_stage = 2,
	                                            .to_stage = 2});
	(void)live_case_run(&c, schedule);
	live_case_has_losses(&c, losses, "%s, an RNIC dies for %lld ms (0: for good)", schedule,
	                     (long long)lasts_ms);
	live_case_fini(&c);
}

static void test_outages(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	make_reference(1, losses);
	run_down("1f1b", 0, 1, losses);
	run_down("zb-cpu", 0, 2, losses);
	run_down("adaptra", 0, 2, losses);
	run_down("zb-cpu", 20, 1, losses);
	run_down("adaptra", 30, 1, losses);
	run_down("adaptra", 100, 2, losses);
}

int main(void)
{
	test_choice();
	test_words();
	test_losses(1);
	test_losses(2);
	test_outages();
	return tap_done();
}
