/* replay_ends.c - tests that a run ends whatever is killed, says why, and leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/folder.h"
#include "tests/live_case.h"
#include "tests/slowness.h"
#include "tests/tap.h"

enum { N_KILLS = 10, KILL_WITHIN_MS = 160, LIMIT_S = 60, PATH_BYTES = 300, CHILDREN_MAX = 64 };

/* Every other run has threads for its delegates, which have to go, too. */
static enum delegates delegates;

/* Another moment in every run; the seed is noted. */
struct dice {
	uint64_t seed, n;
};

static uint64_t throw(struct dice * dice)
{
	return rng_mix(dice->seed, ++dice->n);
}

/* How much longer runs take than usual: pace matters to them only under the thread sanitizer. */
static double slowness(void)
{
	return slowness_of_machine() * fmax(1, slowness_of_build() / 8);
}

/* Entries of the folder for temporary files. */
static int count_left(void)
{
	DIR *dir = opendir(folder_open());
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		(void)closedir(dir);
	return n;
}

/* Children of a process other than except. */
static int list_children(pid_t parent, pid_t except, int *pids)
{
	char path[PATH_BYTES];
	FILE *file;
	int n = 0, pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "re");
	while (file && n < CHILDREN_MAX && fscanf(file, "%d", &pid) == 1)
		if (pid != except)
			pids[n++] = pid;
	if (file)
		(void)fclose(file);
	return n;
}

/* Long enough to be killed in; checkpoints after every iteration. Who is not heard of is given up
 * long after the limit, so that it cannot be what keeps it. */
static void init(struct live_case *c)
{
	live_case_init(c, 4, 6, 2, 1);
	c->scenario.n_iterations = 60;
	c->scenario.recovery.checkpoint_every = 1;
	c->delegates = delegates;
	c->patience_ms = (int)(2000 * LIMIT_S * slowness());
}

/* A process that sends a signal to a random child of this one, after_ms from now. */
static pid_t start_killer(struct dice *dice, int number, int after_ms)
{
	uint64_t choice = throw(dice);
	pid_t parent = getpid(), pid = child_start();
	int pids[CHILDREN_MAX], n;

	if (pid != 0)
		return pid;
	clock_sleep_ns((int64_t)after_ms * NS_PER_MS);
	n = list_children(parent, getpid(), pids);
	if (n > 0)
		(void)child_signal(pids[choice % (uint64_t)n], number); /* it may be gone */
	_exit(n > 0 ? 0 : 1);
}

/* The one who kills is a child, too, so children are counted here. */
static void test_workers_killed(struct dice *dice)
{
	int n_failed = 0;

	for (int i = 0; i < N_KILLS; i++) {
		int after_ms = (int)(throw(dice) % (uint64_t)(KILL_WITHIN_MS * slowness()));
		struct live_case c;
		pid_t killer;
		bool has_reason;

		delegates = i % 2 ? DELEGATES_THREADS : DELEGATES_LOOP;
		init(&c);
		killer = start_killer(dice, SIGKILL, after_ms);
		c.n_other_children = 1;
		(void)live_case_run(&c, "zb");
		(void)child_wait(killer); /* 1: there was nobody to kill yet */
		has_reason = strstr(c.err.text, "killed by signal 9") ||
		             strstr(c.err.text, "make a folder for checkpoints");
		n_failed += c.rc != 0;
		tap_ok(c.rc == 0 || (c.rc == -EPIPE && has_reason),
		       "a child is killed after %d ms: the run is done, or says so: %d, %s",
		       after_ms, c.rc, c.err.text);
		tap_ok((double)c.took_ns < LIMIT_S * slowness() * (double)NS_PER_S,
		       "it ends within %d s", LIMIT_S);
		tap_is_int(count_left(), 0, "and leaves no file");
		for (size_t k = 0; k < c.capture.n_iterations; k++)
			if (isnan(c.capture.iterations[k].loss))
				tap_ok(false, "iteration %zu, which ended, has a loss", k);
		live_case_fini(&c);
	}
	tap_ok(n_failed > 0, "some of them were workers (%d)", n_failed);
}

/* A coordinator in a process of its own, which this one inherits the children of. */
static pid_t start_coordinator(void)
{
	pid_t pid = child_start();

	if (pid == 0) {
		struct live_case c;

		init(&c);
		(void)live_case_run(&c, "zb");
		_exit(c.rc == 0 ? 0 : 1);
	}
	return pid;
}

static bool await_no_children(void)
{
	int64_t until_ns =
		clock_monotonic_ns() + (int64_t)(LIMIT_S * slowness() * (double)NS_PER_S);

	while (clock_monotonic_ns() < until_ns) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (live_case_children() == 0)
			return true;
		clock_sleep_ns(NS_PER_MS);
	}
	return false;
}

static void test_coordinator_killed(struct dice *dice)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	for (int i = 0; i < N_KILLS; i++) {
		int after_ms = (int)(throw(dice) % (uint64_t)(KILL_WITHIN_MS * slowness()));
		pid_t pid;

		delegates = i % 2 ? DELEGATES_THREADS : DELEGATES_LOOP;
		pid = start_coordinator();
		clock_sleep_ns((int64_t)after_ms * NS_PER_MS);
		tap_ok(child_signal(pid, SIGKILL), "the coordinator is there to be killed");
		tap_ok(await_no_children(),
		       "the coordinator is killed after %d ms: no process is left", after_ms);
		tap_is_int(count_left(), 0, "and no file");
	}
}

/* A run of its own group of processes, ready to be interrupted. */
static pid_t start_group(void)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = child_start();
	if (pid == 0) {
		struct live_case c;

		(void)setpgid(0, 0);
		interrupt_install();
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		init(&c);
		live_case_pace(&c, 4);
		_exit(live_case_run(&c, "zb") == -EINTR ? 130 : 1);
	}
	tap_ok(child_read(ready[0], &byte, 1), "a run begins");
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

/* Interrupted, a run ends at once, and not because a worker is gone. */
static void test_interrupted(struct dice *dice)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (int i = 0; i < 3; i++) {
		int after_ms = 20 + (int)(throw(dice) % KILL_WITHIN_MS);
		pid_t pid = start_group();

		clock_sleep_ns((int64_t)after_ms * NS_PER_MS);
		/* The terminal tells everybody in the group. */
		tap_ok(child_signal_group(pid, numbers[i]), "there is a group to be told");
		tap_is_int(child_wait(pid), 130,
		           "%s to all processes after %d ms is an interruption",
		           strsignal(numbers[i]), after_ms);
		tap_ok(await_no_children(), "no process is left");
		tap_is_int(count_left(), 0, "and no file");
	}
}

/* A folder that is not there takes no checkpoint. */
static void test_no_checkpoint(void)
{
	struct live_case c;

	init(&c);
	c.folder = "/nowhere/at/all";
	tap_ok(live_case_run(&c, "zb") < 0, "a checkpoint that cannot be written ends the run");
	tap_contains(c.err.text, "/nowhere/at/all", "and the reason names the place");
	tap_ok(c.capture.n_iterations >= 1, "what was done before is kept");
	live_case_fini(&c);
}

int main(void)
{
	struct dice dice = {.seed = (uint64_t)clock_realtime_ns()};

	if (!tap_is_int(setenv("TMPDIR", folder_open(), 1), 0, "all runs have this folder"))
		return tap_done();
	tap_note("seed %llu", (unsigned long long)dice.seed);
	test_workers_killed(&dice);
	test_interrupted(&dice);
	test_coordinator_killed(&dice);
	test_no_checkpoint();
	return tap_done();
}
