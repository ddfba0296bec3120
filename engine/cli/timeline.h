/* timeline.h - the faults of a scenario in words, and what --dry-run prints. */
#ifndef ENGINE_CLI_TIMELINE_H
#define ENGINE_CLI_TIMELINE_H

#include "engine/base/strbuf.h"
#include "engine/cli/load.h"
#include "engine/scenario/fault.h"

/* Every field that has a meaning for the fault, in base units: for the record. */
void timeline_add_exact(const struct fault *fault, struct strbuf *out);

/* --dry-run: faults in the order in which they start, then the effective settings; one JSON
 * document with --json. Prints and returns an exit code. */
int timeline_print(const struct loaded *loaded, const struct options *options);

#endif
