/* replay_stops.c - tests runs one of whose processes is stopped, for a while or for good. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/replay/scratch.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum {
	N_STOPS = 3,
	N_WORKERS = 2,
	PATIENCE_MS = 500,
	SANITIZER_FACTOR = 4, /* by which sanitizers are slower, and more */
	STOPPED_MS = 150,
	WITHIN_MS = 100,     /* of the run's start */
	SHORTEST_MS = 270,   /* of an iteration, profile time: nine slots of F, B and W */
	ITERATION_MS = 1000, /* so long that the first is under way when a worker is stopped */
	DIES_AFTER_MS = 1200,
	LIMIT_S = 15, /* far below the 20 s that are the limit where nobody says otherwise */
	LOOKS_MOST = 5000,
	CHILDREN_MAX = 16,
	PATH_BYTES = 64,
};

static double slowness(void)
{
	const char *text = getenv("ADAPTRA_TEST_SLOW");
	double factor = text ? strtod(text, NULL) : 1;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	factor *= SANITIZER_FACTOR;
#endif
	return factor > 1 ? factor : 1;
}

/* Children of parent without this process; who removes the folder leads a session of its own. */
static int list_children(pid_t parent, bool is_remover, pid_t *pids)
{
	char path[PATH_BYTES];
	FILE *file;
	int n = 0, pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "re");
	while (file && n < CHILDREN_MAX && fscanf(file, "%d", &pid) == 1)
		if (pid != getpid() && (getsid(pid) == pid) == is_remover)
			pids[n++] = pid;
	if (file)
		(void)fclose(file);
	return n;
}

/* Whom to stop, when, and for how long. */
struct stop {
	bool is_remover;
	int after_ms;
	int for_ms; /* -1: for good */
	unsigned choice;
};

static _Noreturn void stop_one(pid_t parent, const struct stop *stop)
{
	pid_t pids[CHILDREN_MAX];
	int n = 0, n_wanted = stop->is_remover ? 1 : N_WORKERS;

	for (int looks = 0; n < n_wanted && looks < LOOKS_MOST; looks++) {
		clock_sleep_ns(NS_PER_MS);
		n = list_children(parent, stop->is_remover, pids);
	}
	clock_sleep_ns((int64_t)stop->after_ms * NS_PER_MS);
	/* A run that is refused its speed has started others meanwhile. */
	n = list_children(parent, stop->is_remover, pids);
	if (n < n_wanted || kill(pids[stop->choice % (unsigned)n], SIGSTOP))
		_exit(1);
	if (stop->for_ms < 0)
		_exit(0);
	clock_sleep_ns((int64_t)stop->for_ms * NS_PER_MS);
	_exit(kill(pids[stop->choice % (unsigned)n], SIGCONT) ? 1 : 0);
}

/* Run the case while a child of this process stops another. False: there was nothing to stop. */
static bool run_stopped(struct live_case *c, const struct stop *stop)
{
	pid_t parent = getpid(), pid = fork();
	int status = -1;

	if (pid == 0)
		stop_one(parent, stop);
	if (pid < 0)
		return false;
	c->n_other_children = 1;
	(void)live_case_run(c, "zb");
	(void)waitpid(pid, &status, 0);
	return status == 0;
}

static void init(struct live_case *c)
{
	live_case_init(c, 4, 6, N_WORKERS, 1);
	c->scenario.n_iterations = 60;
	c->scenario.recovery.checkpoint_every = 1;
}

static void test_stopped_for_good(void)
{
	for (unsigned i = 0; i < N_STOPS; i++) {
		const struct stop stop = {
			.after_ms = (int)(i * WITHIN_MS / N_STOPS), .for_ms = -1, .choice = i};
		struct live_case c;

		init(&c);
		c.patience_ms = (int)(PATIENCE_MS * slowness());
		tap_ok(run_stopped(&c, &stop), "a worker is stopped after %d ms", stop.after_ms);
		tap_is_int(c.rc, -ETIMEDOUT, "the run ends: %s", c.err.text);
		tap_contains(c.err.text,
		             stop.choice % N_WORKERS ? "stages 2 to 3, replica 0, whose process is "
		                                       "stopped"
		                                     : "stages 0 to 1, replica 0, whose process is "
		                                       "stopped",
		             "and names the stages that are stopped");
		tap_ok((double)c.took_ns < LIMIT_S * slowness() * (double)NS_PER_S,
		       "within its limit, after %.3g s", (double)c.took_ns / NS_PER_S);
		for (size_t k = 0; k < c.capture.n_iterations; k++)
			if (isnan(c.capture.iterations[k].loss))
				tap_ok(false, "iteration %zu, which ended, has a loss", k);
		live_case_fini(&c);
	}
}

static void test_goes_on(void)
{
	struct live_case quiet;

	init(&quiet);
	tap_is_int(live_case_run(&quiet, "zb"), 0, "a run that nobody stops: %s", quiet.err.text);
	for (unsigned i = 0; i < N_STOPS; i++) {
		const struct stop stop = {.after_ms = (int)(i * WITHIN_MS / N_STOPS),
		                          .for_ms = STOPPED_MS,
		                          .choice = i};
		struct live_case c;

		init(&c);
		tap_ok(run_stopped(&c, &stop), "a worker is stopped after %d ms, for %d ms",
		       stop.after_ms, stop.for_ms);
		tap_ok(c.took_ns > (int64_t)STOPPED_MS * NS_PER_MS, "the run waits for it");
		live_case_has_losses(&c, quiet.losses, "goes on, and its losses are the same");
		live_case_fini(&c);
	}
	live_case_fini(&quiet);
}

/* An RNIC of one host dies while the worker of the other is stopped: that is not waited for, and
 * the job starts again with another one. */
static void test_stopped_when_job_dies(void)
{
	const struct stop stop = {
		.after_ms = (int)(DIES_AFTER_MS * slowness() / 2), .for_ms = -1, .choice = 0};
	struct live_case c;
	int64_t dies_ns;

	init(&c);
	c.scenario.n_iterations = 2;
	live_case_pace(&c, SHORTEST_MS / (double)ITERATION_MS);
	dies_ns = (int64_t)(DIES_AFTER_MS * slowness() * c.speed) * NS_PER_MS;
	c.scenario.recovery.restart_ns = 10 * NS_PER_MS;
	(void)scenario_fixture_fault(
		&c.scenario, (struct fault){.kind = FAULT_DOWN,
	                                    .start = {.kind = MOMENT_TIME, .value = dies_ns},
	                                    .end = {.kind = MOMENT_NEVER},
	                                    .from_stage = 3,
	                                    .to_stage = 3});
	tap_ok(run_stopped(&c, &stop), "a worker is stopped before another one's RNIC dies");
	tap_is_int(c.rc, 0, "the run goes on to its end: %s", c.err.text);
	tap_is_int(c.capture.totals.n_restarts, 1, "after a restart");
	tap_ok((double)c.took_ns < LIMIT_S * slowness() * (double)NS_PER_S,
	       "which does not wait for it, %.3g s in all", (double)c.took_ns / NS_PER_S);
	live_case_fini(&c);
}

/* Nobody misses it until the run ends. */
static void test_remover(void)
{
	const struct stop stop = {.is_remover = true, .for_ms = -1};
	struct live_case c;

	init(&c);
	tap_ok(run_stopped(&c, &stop), "who removes the folder is stopped");
	tap_is_int(c.rc, 0, "the run ends all the same: %s", c.err.text);
	live_case_fini(&c);
}

static bool is_stopped_at_birth;

static void stop_at_birth(void)
{
	if (is_stopped_at_birth)
		(void)raise(SIGSTOP);
}

/* Before it has made the folder, which the run waits for. */
static void test_remover_at_birth(void)
{
	struct scratch scratch;
	struct err err = {0};

	tap_is_int(pthread_atfork(NULL, NULL, stop_at_birth), 0, "children stop themselves");
	is_stopped_at_birth = true;
	if (tap_is_int(scratch_open(&scratch, &err), 0, "and make a folder: %s", err.text)) {
		tap_is_int(access(scratch.folder, F_OK), 0, "it is there");
		scratch_close(&scratch);
	}
	is_stopped_at_birth = false;
}

int main(void)
{
	test_stopped_for_good();
	test_goes_on();
	test_stopped_when_job_dies();
	test_remover();
	test_remover_at_birth();
	return tap_done();
}
