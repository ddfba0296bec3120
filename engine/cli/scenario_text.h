/* scenario_text.h - faults written out as a scenario that can be loaded, and changed by hand. */
#ifndef ENGINE_CLI_SCENARIO_TEXT_H
#define ENGINE_CLI_SCENARIO_TEXT_H

#include <stddef.h>

#include "engine/base/strbuf.h"
#include "engine/scenario/fault.h"

/* source: where the faults come from. They are delays, in both directions, and losses of an RNIC,
 * as a slow-link trace has them. */
void scenario_text(const char *source, int n_stages, const struct fault *faults, size_t n_faults,
                   struct strbuf *out);

#endif
