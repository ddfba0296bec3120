/* facts.h - what a live run was like, for its row in the store. */
#ifndef ENGINE_CLI_FACTS_H
#define ENGINE_CLI_FACTS_H

#include "engine/base/strbuf.h"
#include "engine/cli/backend.h"

/* Of the backend's last run. One JSON object; the keys are read by reports. All times are real
 * time. */
void facts_write(const struct backend *backend, struct strbuf *out);

#endif
