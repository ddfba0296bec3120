/* base_interrupt.c - checks the flag that says the user wants to stop. */
#include "engine/base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"

/* The exit status of a child that gets the signal n_times; 7 when it lived on with the flag set. */
static int status_after(int signal_number, int n_times)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		interrupt_install();
		for (int i = 0; i < n_times; i++)
			raise(signal_number);
		_exit(interrupt_is_pending() ? 7 : 8);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_sleep_ends(void)
{
	const struct timespec minute = {.tv_sec = 60};
	struct timespec left = {0};
	pid_t child;

	interrupt_install();
	tap_ok(!interrupt_is_pending(), "without a signal nothing is pending");
	child = fork();
	if (child == 0) {
		const struct timespec nap = {.tv_nsec = 50000000};

		nanosleep(&nap, NULL);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	tap_ok(nanosleep(&minute, &left) != 0 && errno == EINTR, "a signal ends a sleep");
	tap_ok(interrupt_is_pending(), "and is pending then");
	tap_ok(interrupt_is_pending(), "asking does not clear it");
	waitpid(child, NULL, 0);
}

int main(void)
{
	tap_is_int(status_after(SIGINT, 0), 8, "no signal, no flag");
	tap_is_int(status_after(SIGINT, 1), 7, "SIGINT sets the flag");
	tap_is_int(status_after(SIGTERM, 1), 7, "SIGTERM sets the flag");
	tap_is_int(status_after(SIGHUP, 1), 7, "SIGHUP sets the flag");
	tap_is_int(status_after(SIGINT, 2), 130, "a second signal ends the process with 130");
	check_sleep_ends();
	return tap_done();
}
