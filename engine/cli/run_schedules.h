/* run_schedules.h - runs every schedule of a scenario and stores each as a run. */
#ifndef ENGINE_CLI_RUN_SCHEDULES_H
#define ENGINE_CLI_RUN_SCHEDULES_H

#include <stdint.h>

#include "engine/cli/backend.h"
#include "engine/cli/load.h"
#include "engine/store/store.h"

/* All repeats, interleaved. Every run that was begun is ended, with a reason when it did not come
 * to its end. Returns an exit code: EXIT_INTERRUPTED, or EXIT_RUN_FAILED after saying what failed;
 * the rest is run all the same unless the store failed. */
int run_schedules(const struct loaded *loaded, const struct options *options,
                  struct backend *backend, struct store *store, int64_t comparison);

/* How a run ended, from what ran it returned: "done", "interrupted", "failed". */
const char *run_status(int rc);

#endif
