/* limit.c - a timer whose signal ends a script that runs too long.
 *
 * Lua's count hook was rejected: it does not run inside string.find and its kin, where a pattern
 * can keep a machine busy for years, and a coroutine can swallow the error that it raises. */
#include "engine/script/limit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* Signal handlers take no context, so what they call has to be global; written only while no timer
 * runs. */
static void (*volatile on_expiry)(void);

static void handle_alarm(int signal_number)
{
	void (*expired)(void) = on_expiry;

	(void)signal_number;
	if (expired)
		expired();
}

void script_limit_stop(void)
{
	const struct itimerval off = {{0, 0}, {0, 0}};

	(void)setitimer(ITIMER_REAL, &off, NULL); /* cannot fail with these arguments */
	on_expiry = NULL;
}

int script_limit_start(int64_t ns, void (*expired)(void), struct err *err)
{
	const int64_t us = ns / 1000 > 0 ? ns / 1000 : 1;
	const struct itimerval timer = {
		.it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000},
	};
	struct sigaction action = {.sa_handler = handle_alarm};

	script_limit_stop();
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGALRM, &action, NULL) < 0)
		return err_set(err, -errno, "cannot handle SIGALRM: %s", strerror(errno));
	on_expiry = expired;
	if (setitimer(ITIMER_REAL, &timer, NULL) < 0) {
		on_expiry = NULL;
		return err_set(err, -errno, "cannot start a timer of %lld ns: %s", (long long)ns,
		               strerror(errno));
	}
	return 0;
}
