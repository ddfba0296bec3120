/* interrupt.c - the flag that says the user wants to stop.
 *
 * Handlers are installed without SA_RESTART: a blocked read or sleep comes back with EINTR, so the
 * loop around it gets to ask. */
#include "engine/base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { EXIT_CODE_INTERRUPTED = 130 };

static atomic_bool is_pending;

static void on_signal(int signal_number)
{
	(void)signal_number;
	if (atomic_exchange(&is_pending, true))
		_exit(EXIT_CODE_INTERRUPTED);
}

void interrupt_install(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		/* Fails only for a bad signal number or pointer. */
		(void)sigaction(signals[i], &action, NULL);
}

bool interrupt_is_pending(void)
{
	return atomic_load(&is_pending);
}
