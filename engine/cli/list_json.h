/* list_json.h - the lists of `list --json`. */
#ifndef ENGINE_CLI_LIST_JSON_H
#define ENGINE_CLI_LIST_JSON_H

#include "engine/base/json_write.h"
#include "engine/cli/options.h"
#include "engine/cli/paths.h"

struct list_request {
	const struct options *options;
	const struct paths *paths;
	bool is_overview; /* no database is no mistake then */
};

/* Each adds one array, named for what it holds, to the object that json is in. Returns an exit code
 * after saying what is wrong. */
int list_json_scenarios(const struct list_request *request, struct json_write *json);
int list_json_schedules(const struct list_request *request, struct json_write *json);
int list_json_profiles(const struct list_request *request, struct json_write *json);
int list_json_devices(const struct list_request *request, struct json_write *json);
int list_json_transports(const struct list_request *request, struct json_write *json);
int list_json_runs(const struct list_request *request, struct json_write *json);

#endif
