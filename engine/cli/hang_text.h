/* hang_text.h - what a hang hangs on, in sentences, and as a scenario. */
#ifndef ENGINE_CLI_HANG_TEXT_H
#define ENGINE_CLI_HANG_TEXT_H

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/format/flight_recorder.h"

/* A sentence a line, without full stops. */
void hang_describe(const struct hang *hang, const struct flight_recorder *recorder,
                   struct strbuf *out);

/* A scenario in which the pipeline of the dumps loses what it hangs on: the sender's RNIC, or that
 * of the stage that all wait for. source stands in it. -EINVAL: nothing hangs, or orders that do
 * not match do, which no fault brings about. */
int hang_scenario(const struct hang *hang, const struct flight_recorder *recorder,
                  const char *source, struct strbuf *out, struct err *err);

#endif
