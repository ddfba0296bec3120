/* session.h - from a scenario's name to a stored, reported and checked comparison. */
#ifndef ENGINE_CLI_SESSION_H
#define ENGINE_CLI_SESSION_H

#include "engine/cli/options.h"

enum session_mode { SESSION_SIM, SESSION_LIVE };

/* Run the scenario under all its schedules, store every run, print the report, run the checks. A
 * live session is simulated first, for the numbers to stand beside. Returns an exit code. */
int session_run(const struct options *options, const char *scenario, enum session_mode mode);

#endif
