/* child.c - processes that a test starts, checked and waited for within a limit. */
#include "tests/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/slowness.h"
#include "tests/tap.h"

pid_t child_start(void)
{
	pid_t parent = getpid(), child;

	(void)fflush(stdout);
	child = fork();
	if (child < 0) {
		printf("Bail out! cannot start a process: %s\n", strerror(errno));
		exit(1);
	}
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

bool child_signal(pid_t child, int number)
{
	return child > 0 && kill(child, number) == 0;
}

bool child_signal_group(pid_t leader, int number)
{
	/* Group 1 is written -1, and that is everybody. */
	return leader > 1 && kill(-leader, number) == 0;
}

/* The moment after which nobody waits any more. */
static int64_t limit_ns(void)
{
	const char *text = getenv("ADAPTRA_CHILD_LIMIT_S");
	double limit_s = text ? strtod(text, NULL) : CHILD_LIMIT_S * slowness_of_machine();

	return clock_monotonic_ns() + (int64_t)(limit_s * NS_PER_S);
}

/* waitpid(), but 0 when it takes longer than the limit. */
static pid_t wait_within(pid_t child, int *status_out)
{
	int64_t end_ns = limit_ns();
	pid_t ended;

	while ((ended = waitpid(child, status_out, WNOHANG)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 2);
	return ended;
}

int child_wait(pid_t child)
{
	int status = 0;
	pid_t ended = child > 0 ? wait_within(child, &status) : -1;

	if (ended == child)
		return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	if (ended == 0)
		child_kill(child);
	(void)tap_ok(false, "process %d %s", (int)child,
	             ended == 0 ? "ends within its limit" : "is a child of this test");
	return CHILD_NOT_ENDED;
}

void child_kill(pid_t child)
{
	if (child_signal(child, SIGKILL))
		(void)waitpid(child, NULL, 0); /* nothing survives this signal */
}

bool child_read(int descriptor, void *out, size_t n_bytes)
{
	int64_t end_ns = limit_ns();
	char *bytes = out;

	while (n_bytes > 0) {
		struct pollfd polled = {.fd = descriptor, .events = POLLIN};
		int64_t left_ms = (end_ns - clock_monotonic_ns()) / NS_PER_MS;
		ssize_t n = -1;

		if (left_ms <= 0 || poll(&polled, 1, (int)left_ms) == 0)
			return false;
		n = read(descriptor, bytes, n_bytes);
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		bytes += n > 0 ? n : 0;
		n_bytes -= n > 0 ? (size_t)n : 0;
	}
	return true;
}
