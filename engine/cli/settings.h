/* settings.h - everything that decides what a run does, as JSON with flat keys. */
#ifndef ENGINE_CLI_SETTINGS_H
#define ENGINE_CLI_SETTINGS_H

#include "engine/base/json_write.h"
#include "engine/base/strbuf.h"
#include "engine/cli/load.h"

/* Members of the scenario: what is the same for every schedule. Into an open object. */
void settings_add_scenario(struct json_write *json, const struct loaded *loaded,
                           const struct options *options);

/* Members of schedule i: the rules of its data planes. */
void settings_add_schedule(struct json_write *json, const struct loaded *loaded, size_t i);

/* Both, as one object on one line: what is stored with a run. carrier: of the stream plane, and
 * why that; "": not said. */
void settings_write(const struct loaded *loaded, const struct options *options, size_t i,
                    const char *carrier, struct strbuf *out);

#endif
