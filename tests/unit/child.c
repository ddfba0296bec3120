/* child.c - checks that a test's processes are waited for within a limit and nobody else is hit. */
#include "tests/child.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/tap.h"

/* What a child is waited for that does this. */
static int status_of(int exit_status, int number)
{
	pid_t child = child_start();

	if (child == 0) {
		if (number)
			(void)raise(number);
		_exit(exit_status);
	}
	return child_wait(child);
}

static void check_nobody(void)
{
	/* Signal 0 only asks. Of all processes at least this one is there. */
	tap_ok(!child_signal(-1, 0) && !child_signal(0, 0), "no signal is for all processes");
	tap_ok(!child_signal_group(-1, 0) && !child_signal_group(0, 0) && !child_signal_group(1, 0),
	       "nor is one for a group without a leader");
	tap_ok(child_signal(getpid(), 0), "this process is there");
}

static pid_t start_sleeper(void)
{
	pid_t child = child_start();

	if (child == 0)
		for (;;)
			(void)pause();
	return child;
}

/* In a process of its own, since a child that is late is a failed check. */
static void check_limit(void)
{
	int64_t start_ns = clock_monotonic_ns();
	pid_t child = child_start();

	if (child == 0) {
		(void)close(STDOUT_FILENO);
		(void)close(STDERR_FILENO);
		(void)setenv("ADAPTRA_CHILD_LIMIT_S", "0.1", 1);
		_exit(child_wait(start_sleeper()) == CHILD_NOT_ENDED ? tap_done() : 7);
	}
	tap_is_int(child_wait(child), 1, "a child that does not end is a failed check");
	tap_ok(clock_monotonic_ns() - start_ns < 30LL * NS_PER_S, "after the limit");
}

static void check_read(void)
{
	char bytes[3] = "";
	int ends[2];

	if (pipe(ends))
		abort();
	tap_ok(write(ends[1], "abc", 3) == 3 && child_read(ends[0], bytes, 3) && bytes[2] == 'c',
	       "what is written is read");
	(void)close(ends[1]);
	tap_ok(!child_read(ends[0], bytes, 1), "who writes no more ends a read");
	(void)close(ends[0]);
	if (pipe(ends))
		abort();
	(void)setenv("ADAPTRA_CHILD_LIMIT_S", "0.1", 1);
	tap_ok(!child_read(ends[0], bytes, 1), "who never writes does not hold it for ever");
	(void)unsetenv("ADAPTRA_CHILD_LIMIT_S");
}

/* Told by the pipe's end: nobody holds it any more. */
static void check_orphan(void)
{
	struct pollfd polled;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		abort();
	child = child_start();
	if (child == 0) {
		(void)start_sleeper();
		/* Long enough for the sleeper to ask for its end. */
		clock_sleep_ns(50 * NS_PER_MS);
		_exit(0);
	}
	(void)close(ends[1]);
	tap_is_int(child_wait(child), 0, "a process ends before its child");
	polled = (struct pollfd){.fd = ends[0]};
	tap_ok(poll(&polled, 1, 10000) == 1 && (polled.revents & POLLHUP),
	       "and the child ends with it");
	(void)close(ends[0]);
}

int main(void)
{
	tap_is_int(status_of(3, 0), 3, "an exit status is told");
	tap_is_int(status_of(0, SIGKILL), -SIGKILL, "so is a signal");
	check_nobody();
	check_limit();
	check_read();
	check_orphan();
	return tap_done();
}
