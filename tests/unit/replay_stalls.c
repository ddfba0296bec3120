/* replay_stalls.c - workers that get no core for most of the time make messages late; nobody takes
 * that for slow links, and how many messages were no use is told. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum {
	N_WORKERS = 2,
	CHILDREN_MAX = 16,
	TRIES = 4,
	STOPPED_MS = 4, /* of real time, ten times what makes a link slow at the speed here */
	RUNNING_MS = 2,
	PATH_BYTES = 64,
};

/* The workers: children of the parent but this process and who removes the folder, which leads a
 * session of its own. */
static int list_workers(pid_t parent, pid_t *pids)
{
	char path[PATH_BYTES];
	FILE *file;
	int n = 0, pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "re");
	while (file && n < CHILDREN_MAX && fscanf(file, "%d", &pid) == 1)
		if (pid != getpid() && getsid(pid) != pid)
			pids[n++] = pid;
	if (file)
		(void)fclose(file);
	return n;
}

/* Stop all workers again and again, until this process is killed. */
static _Noreturn void stop_workers(pid_t parent)
{
	for (;;) {
		pid_t pids[CHILDREN_MAX];
		int n = list_workers(parent, pids);

		for (int i = 0; i < n; i++)
			(void)kill(pids[i], SIGSTOP);
		clock_sleep_ns((int64_t)STOPPED_MS * NS_PER_MS);
		for (int i = 0; i < n; i++)
			(void)kill(pids[i], SIGCONT);
		clock_sleep_ns((int64_t)RUNNING_MS * NS_PER_MS);
	}
}

static void run_stalled(struct live_case *c)
{
	pid_t parent = getpid(), child = child_start();

	if (child == 0)
		stop_workers(parent);
	c->n_other_children = 1;
	tap_is_int(live_case_run(c, "adaptra"), 0, "a run ends: %s", c->err.text);
	child_kill(child);
}

/* On a machine that takes cores away by itself ops may take longer, and a stage be slow. */
static void test_stalled(struct live_case *c)
{
	for (int i = 0; i < TRIES; i++) {
		run_stalled(c);
		if (c->capture.n_decisions == 0)
			break;
	}
	tap_is_int((int64_t)c->capture.n_decisions, 0, "late messages make no link slow");
	tap_ok(c->facts.n_judged > 0 && c->facts.n_unsure > c->facts.n_judged / 10,
	       "and are no use: %lld of %lld", (long long)c->facts.n_unsure,
	       (long long)c->facts.n_judged);
}

int main(void)
{
	struct live_case c;

	live_case_init(&c, 4, 8, N_WORKERS, 1);
	live_case_pace(&c, 10);
	c.scenario.n_iterations = 16;
	test_stalled(&c);
	live_case_fini(&c);
	return tap_done();
}
