/* list_json.c - what there is to name, as JSON: the keys are names of columns where there are
 * such. */
#include "engine/cli/list_json.h"

#include <string.h>

#include "engine/base/folder.h"
#include "engine/cli/backend.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/script_summary.h"
#include "engine/cli/stored.h"

static int out_of_memory(void)
{
	output_error("out of memory");
	return EXIT_CANNOT;
}

static void add_summary(struct json_write *json, const char *path)
{
	struct strbuf summary = {0};

	script_summary(path, &summary);
	json_string(json, "summary", strbuf_text(&summary));
	json->out->is_failed |= summary.is_failed;
	strbuf_fini(&summary);
}

/* What --set may change, or why nobody knows: "mistake" is null for a script that loads. */
static void add_options(struct json_write *json, const struct paths *paths, const char *path)
{
	struct script *script = NULL;
	struct err err = {0};
	bool is_good = load_script(paths, path, &script, &err) == 0;

	json_string(json, "mistake", is_good ? NULL : err.text);
	json_open_array(json, "options");
	for (size_t i = 0; is_good && i < script_n_options(script); i++) {
		struct script_option option = script_option_at(script, i);

		json_open_object(json, NULL);
		json_string(json, "name", option.name);
		json_string(json, "default", option.default_value);
		json_string(json, "help", option.help);
		json_close(json);
	}
	json_close(json);
	if (is_good)
		script_free(script);
}

int list_json_scenarios(const struct list_request *request, struct json_write *json)
{
	const struct paths *paths = request->paths;
	struct folder folder = {0};
	int rc = 0;

	for (size_t i = 0; i < paths->n_scenario_folders && rc == 0; i++)
		rc = folder_add(&folder, paths->scenario_folders[i], ".lua");
	json_open_array(json, "scenarios");
	for (size_t i = 0; i < folder.n_names; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", folder.names[i]);
		json_string(json, "path", folder.paths[i]);
		add_summary(json, folder.paths[i]);
		add_options(json, paths, folder.paths[i]);
		json_close(json);
	}
	json_close(json);
	folder_fini(&folder);
	return rc ? out_of_memory() : EXIT_DONE;
}

int list_json_profiles(const struct list_request *request, struct json_write *json)
{
	const struct paths *paths = request->paths;
	struct folder folder = {0};
	int rc = 0;

	for (size_t i = 0; i < paths->n_profile_folders && rc == 0; i++)
		rc = folder_add(&folder, paths->profile_folders[i], ".lua");
	json_open_array(json, "profiles");
	for (size_t i = 0; i < folder.n_names; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", folder.names[i]);
		json_string(json, "path", folder.paths[i]);
		add_summary(json, folder.paths[i]);
		json_close(json);
	}
	json_close(json);
	folder_fini(&folder);
	return rc ? out_of_memory() : EXIT_DONE;
}

int list_json_schedules(const struct list_request *request, struct json_write *json)
{
	(void)request;
	json_open_array(json, "schedules");
	for (const struct schedule_ops *const *at = schedule_list(); *at; at++) {
		bool takes_file = strcmp((*at)->name, "csv") == 0;

		json_open_object(json, NULL);
		json_string(json, "name", (*at)->name);
		json_string(json, "argument", takes_file ? "FILE" : NULL); /* csv:FILE */
		json_string(json, "plane", plane_kind_name((*at)->plane));
		json_string(json, "summary", (*at)->summary);
		json_close(json);
	}
	json_close(json);
	return EXIT_DONE;
}

int list_json_devices(const struct list_request *request, struct json_write *json)
{
	(void)request;
	json_open_array(json, "devices");
	for (const struct device_ops *const *at = device_list(); *at; at++) {
		if (!backend_takes_device(*at))
			continue;
		json_open_object(json, NULL);
		json_string(json, "name", (*at)->name);
		json_close(json);
	}
	json_close(json);
	return EXIT_DONE;
}

static void add_named(struct json_write *json, const char *name)
{
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_close(json);
}

int list_json_transports(const struct list_request *request, struct json_write *json)
{
	(void)request;
	json_open_array(json, "transports");
	for (const struct transport_ops *const *at = transport_list(); *at; at++)
		add_named(json, (*at)->name);
	for (const struct exchange_ops *const *at = exchange_list(); *at; at++)
		add_named(json, (*at)->name);
	json_close(json);
	return EXIT_DONE;
}

static void add_run(struct json_write *json, const struct stored_run *run)
{
	json_open_object(json, NULL);
	json_int(json, "run", run->run);
	if (run->comparison)
		json_int(json, "comparison", run->comparison);
	else
		json_null(json, "comparison");
	json_string(json, "created", run->created);
	json_string(json, "mode", run->mode);
	json_string(json, "schedule", run->schedule);
	json_int(json, "iterations", run->n_iterations);
	json_int(json, "repeat", run->repeat);
	json_string(json, "status", run->status);
	json_string(json, "reason", run->reason);
	json_string(json, "scenario", run->scenario_title);
	json_string(json, "path", run->scenario_path);
	json_string(json, "host", run->host);
	json_string(json, "version", run->version);
	json_close(json);
}

static int add_runs(struct json_write *json, struct store *store)
{
	struct stored_run *runs;
	struct err err = {0};
	size_t n_runs;

	if (store_read_runs(store, &(struct store_query){0}, &runs, &n_runs, &err))
		return output_failure(&err);
	for (size_t i = 0; i < n_runs; i++)
		add_run(json, &runs[i]);
	stored_runs_fini(runs, n_runs);
	return EXIT_DONE;
}

int list_json_runs(const struct list_request *request, struct json_write *json)
{
	struct store *store = NULL;
	struct err err = {0};
	int code = EXIT_DONE;

	json_open_array(json, "runs");
	if (!request->is_overview || !stored_is_empty(request->options)) {
		code = stored_open(request->options, &store);
		if (code == EXIT_DONE)
			code = add_runs(json, store);
		if (store_close(store, &err) && code == EXIT_DONE)
			code = output_failure(&err);
	}
	json_close(json);
	return code;
}
