/* settings.h - everything that decides what a run does, as JSON with flat keys. */
#ifndef ENGINE_CLI_SETTINGS_H
#define ENGINE_CLI_SETTINGS_H

#include "engine/base/json_write.h"
#include "engine/base/strbuf.h"
#include "engine/cli/backend.h"
#include "engine/cli/load.h"

/* Members of the scenario: what is the same for every schedule. Into an open object. */
void settings_add_scenario(struct json_write *json, const struct loaded *loaded,
                           const struct options *options);

/* Members of schedule i: the rules of its data planes. */
void settings_add_schedule(struct json_write *json, const struct loaded *loaded, size_t i);

/* Both, as one object on one line: what is stored with a run; and what of the backend is said of no
 * other run: its GPUs, and what carries the stream plane, and why that. */
void settings_write(const struct loaded *loaded, const struct options *options, size_t i,
                    const struct backend *backend, struct strbuf *out);

#endif
