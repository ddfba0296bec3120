/* session.h - from a scenario's name to a stored, reported and checked comparison. */
#ifndef ENGINE_CLI_SESSION_H
#define ENGINE_CLI_SESSION_H

#include "engine/cli/backend.h"
#include "engine/cli/load.h"
#include "engine/cli/options.h"
#include "reports/comparison.h"

enum session_mode { SESSION_SIM, SESSION_LIVE };

/* Run the scenario under all its schedules, store every run, print the report, run the checks. A
 * live session is simulated first, for the numbers to stand beside. Returns an exit code. */
int session_run(const struct options *options, const char *scenario, enum session_mode mode);

/* Choose what runs it in real time, if every schedule can; as backend_choose_live() otherwise. From
 * here on an interrupt only sets the flag, since a lab that is tried has to be undone, too. */
int session_choose_live(const struct options *options, const struct loaded *loaded,
                        struct backend *out);

/* Can it run in virtual time? EXIT_CANNOT after saying why not. */
int session_check_virtual(const struct options *options, const struct loaded *loaded);

/* Losses that differ are the proof that something was lost, doubled or taken out of order: then
 * EXIT_RUN_FAILED after saying which. */
int session_check_losses(const struct comparison *comparison);

#endif
