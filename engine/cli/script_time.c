/* script_time.c - ends the process when a script runs for too long. */
#include "engine/cli/script_time.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/script/limit.h"

static const double default_s = 10;
static const double most_s = 86400;

static int64_t limit_ns(void)
{
	const char *text = getenv("ADAPTRA_SCRIPT_SECONDS");
	double seconds = text ? strtod(text, NULL) : default_s;

	if (!(seconds > 0 && seconds <= most_s))
		seconds = default_s;
	return (int64_t)(seconds * NS_PER_S);
}

/* Called from a signal handler: only write() and _exit() are safe. */
static void loading_expired(void)
{
	static const char text[] =
		"adaptra-bench: the script did not end within its time limit and "
		"was stopped; look for an endless loop; nothing ran\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_MISTAKE);
	_exit(EXIT_MISTAKE);
}

static void checks_expired(void)
{
	static const char text[] = "adaptra-bench: the scenario's checks did not end within the "
				   "script's time limit and were stopped; the runs are stored\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_CHECK_FAILED);
	_exit(EXIT_CHECK_FAILED);
}

int script_time_start_loading(struct err *err)
{
	return script_limit_start(limit_ns(), loading_expired, err);
}

int script_time_start_checks(struct err *err)
{
	return script_limit_start(limit_ns(), checks_expired, err);
}
