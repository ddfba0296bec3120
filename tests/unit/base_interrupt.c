/* base_interrupt.c - checks the flag that says the user wants to stop. */
#include "engine/base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/tap.h"

/* The exit status of a child that gets the signal n_times; 7 when it lived on with the flag set. */
static int status_after(int signal_number, int n_times)
{
	pid_t child = child_start();

	if (child == 0) {
		interrupt_install();
		for (int i = 0; i < n_times; i++)
			raise(signal_number);
		_exit(interrupt_is_pending() ? 7 : 8);
	}
	return child_wait(child);
}

static void check_sleep_ends(void)
{
	const struct timespec minute = {.tv_sec = 60};
	struct timespec left = {0};
	pid_t parent = getpid(), child;

	interrupt_install();
	tap_ok(!interrupt_is_pending(), "without a signal nothing is pending");
	child = child_start();
	if (child == 0) {
		const struct timespec nap = {.tv_nsec = 50000000};

		nanosleep(&nap, NULL);
		_exit(child_signal(parent, SIGTERM) ? 0 : 1);
	}
	tap_ok(nanosleep(&minute, &left) != 0 && errno == EINTR, "a signal ends a sleep");
	tap_ok(interrupt_is_pending(), "and is pending then");
	tap_ok(interrupt_is_pending(), "asking does not clear it");
	tap_is_int(child_wait(child), 0, "it was sent");
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
