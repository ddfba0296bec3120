/* facts.h - what a live run was like, for its row in the store. */
#ifndef ENGINE_CLI_FACTS_H
#define ENGINE_CLI_FACTS_H

#include "engine/base/strbuf.h"
#include "engine/replay/live.h"

/* One JSON object; the keys are read by reports. All times are real time. */
void facts_write(const struct live_facts *facts, double speed, struct strbuf *out);

#endif
