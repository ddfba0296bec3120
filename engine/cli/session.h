/* session.h - from a scenario's name to a stored, reported and checked comparison. */
#ifndef ENGINE_CLI_SESSION_H
#define ENGINE_CLI_SESSION_H

#include "engine/cli/options.h"

/* Simulate the scenario under all its schedules, store every run, print the report, run the checks.
 * reason stands in the first line: why virtual time; "": it was asked for. Returns an exit code. */
int session_run(const struct options *options, const char *scenario, const char *reason);

#endif
