/* cmd_list.c - `list [scenarios | schedules | profiles | devices | transports | runs]`: what there
 * is to name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/folder.h"
#include "engine/base/nearest.h"
#include "engine/cli/backend.h"
#include "engine/cli/command.h"
#include "engine/cli/list_json.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/script_options.h"
#include "engine/cli/script_summary.h"
#include "engine/cli/stored.h"
#include "reports/table.h"

enum { RUNS_SHOWN = 20, RUNS_IN_OVERVIEW = 5, CREATED_COLUMNS = 16 };

struct list {
	const struct options *options;
	const struct paths *paths;
	struct report_style style;
	struct strbuf out;
	bool is_overview; /* short: one of several sections */
};

static void heading(struct list *list, const char *text)
{
	if (list->out.length > 0)
		strbuf_add_char(&list->out, '\n');
	display_begin(&list->out, TONE_STRONG, &list->style);
	strbuf_add(&list->out, text);
	display_end(&list->out, TONE_STRONG, &list->style);
	strbuf_add_char(&list->out, '\n');
}

/* A path and the first comment; options in full lists. */
static void add_script(struct list *list, const char *path, bool is_scenario)
{
	struct script *script = NULL;
	struct strbuf comment = {0};
	struct err err = {0};

	script_summary(path, &comment);
	strbuf_add(&list->out, "  ");
	display_add(&list->out, path, &list->style);
	strbuf_add(&list->out, "\n      ");
	display_add_wrapped(&list->out, strbuf_text(&comment), 6, 6, &list->style);
	strbuf_fini(&comment);
	if (!is_scenario || list->is_overview)
		return;
	if (load_script(list->paths, path, &script, &err)) {
		strbuf_add(&list->out, "      cannot be loaded: ");
		display_add(&list->out, err.text, &list->style);
		strbuf_add_char(&list->out, '\n');
		return;
	}
	script_options_describe(script, 6, &list->style, &list->out);
	script_free(script);
}

static int list_folders(struct list *list, const char *title, char *const *folders,
                        size_t n_folders, bool is_scenario)
{
	struct folder folder = {0};
	int rc = 0;

	for (size_t i = 0; i < n_folders && rc == 0; i++)
		rc = folder_add(&folder, folders[i], ".lua");
	heading(list, title);
	for (size_t i = 0; i < folder.n_names; i++)
		add_script(list, folder.paths[i], is_scenario);
	if (folder.n_names == 0)
		strbuf_add(&list->out, "  none in the folders that are searched\n");
	list->out.is_failed |= rc != 0;
	folder_fini(&folder);
	return EXIT_DONE;
}

static int list_scenarios(struct list *list)
{
	return list_folders(list, "Scenarios", list->paths->scenario_folders,
	                    list->paths->n_scenario_folders, true);
}

static int list_profiles(struct list *list)
{
	return list_folders(list, "Profiles, for ab.profile \"NAME\"", list->paths->profile_folders,
	                    list->paths->n_profile_folders, false);
}

static int list_schedules(struct list *list)
{
	const struct schedule_ops *const *at;
	struct table *table = table_new();

	heading(list, "Schedules");
	table_column(table, "name", TABLE_LEFT, 0);
	table_column(table, "plane", TABLE_LEFT, 0);
	table_column(table, "order", TABLE_LEFT, 20);
	for (at = schedule_list(); *at; at++) {
		table_cell(table, TONE_PLAIN, "%s%s", (*at)->name,
		           strcmp((*at)->name, "csv") == 0 ? ":FILE" : "");
		table_cell(table, TONE_PLAIN, "%s", plane_kind_name((*at)->plane));
		table_cell(table, TONE_PLAIN, "%s", (*at)->summary);
	}
	table_print(table, 1, &list->style, &list->out);
	table_free(table);
	return EXIT_DONE;
}

/* Names in one line. */
static void add_name(struct list *list, bool is_first, const char *name)
{
	strbuf_add(&list->out, is_first ? "  " : ", ");
	display_add(&list->out, name, &list->style);
}

static int list_devices(struct list *list)
{
	bool is_first = true;

	heading(list, "Devices, for --device");
	for (const struct device_ops *const *at = device_list(); *at; at++) {
		if (!backend_takes_device(*at))
			continue;
		add_name(list, is_first, (*at)->name);
		is_first = false;
	}
	strbuf_add_char(&list->out, '\n');
	return EXIT_DONE;
}

static int list_transports(struct list *list)
{
	const struct transport_ops *const *first = transport_list();

	heading(list, "Transports, for --transport");
	for (const struct transport_ops *const *at = first; *at; at++)
		add_name(list, at == first, (*at)->name);
	for (const struct exchange_ops *const *at = exchange_list(); *at; at++)
		add_name(list, false, (*at)->name);
	strbuf_add_char(&list->out, '\n');
	return EXIT_DONE;
}

static void add_run(struct table *table, const struct stored_run *run)
{
	bool is_done = strcmp(run->status, "done") == 0;

	table_cell(table, TONE_PLAIN, "%" PRId64, run->run);
	table_cell(table, TONE_PLAIN, "%" PRId64, run->comparison);
	table_cell(table, TONE_PLAIN, "%.*s", CREATED_COLUMNS, run->created);
	table_cell(table, TONE_PLAIN, "%s", run->mode);
	table_cell(table, TONE_PLAIN, "%s%s", run->schedule, run->is_control ? " again" : "");
	table_cell(table, TONE_PLAIN, "%d", run->n_iterations);
	table_cell(table, is_done ? TONE_GOOD : TONE_BAD, "%s", run->status);
	table_cell(table, TONE_PLAIN, "%s", run->scenario_title);
}

static void add_runs(struct list *list, const struct stored_run *runs, size_t n_runs)
{
	struct table *table = table_new();

	table_column(table, "run", TABLE_RIGHT, 0);
	table_column(table, "comparison", TABLE_RIGHT, 0);
	table_column(table, "made (UTC)", TABLE_LEFT, 0);
	table_column(table, "mode", TABLE_LEFT, 0);
	table_column(table, "schedule", TABLE_LEFT, 8);
	table_column(table, "iterations", TABLE_RIGHT, 0);
	table_column(table, "status", TABLE_LEFT, 0);
	table_column(table, "scenario", TABLE_LEFT, 8);
	for (size_t i = 0; i < n_runs; i++)
		add_run(table, &runs[i]);
	table_print(table, 1, &list->style, &list->out);
	table_free(table);
}

static int read_runs(struct list *list, struct store *store)
{
	const struct store_query query = {.most = list->is_overview ? RUNS_IN_OVERVIEW
	                                                            : RUNS_SHOWN};
	struct strbuf title = {0};
	struct stored_run *runs;
	struct err err = {0};
	size_t n_runs;

	if (store_read_runs(store, &query, &runs, &n_runs, &err))
		return output_failure(&err);
	strbuf_addf(&title, "Runs in %s", store_path(store));
	if (n_runs == (size_t)query.most)
		strbuf_addf(&title, ", the newest %zu; list runs --json has all", n_runs);
	strbuf_add(&list->out, list->out.length > 0 ? "\n" : "");
	display_add_wrapped(&list->out, strbuf_text(&title), 0, 0, &list->style);
	strbuf_fini(&title);
	if (n_runs > 0)
		add_runs(list, runs, n_runs);
	else
		strbuf_add(&list->out, "  none\n");
	stored_runs_fini(runs, n_runs);
	return EXIT_DONE;
}

static int list_runs(struct list *list)
{
	struct store *store;
	struct err err = {0};
	int code;

	if (list->is_overview && stored_is_empty(list->options))
		return EXIT_DONE;
	code = stored_open(list->options, &store);
	if (code)
		return code;
	code = read_runs(list, store);
	if (store_close(store, &err) && code == EXIT_DONE)
		code = output_failure(&err);
	return code;
}

static const struct {
	const char *name;
	int (*list)(struct list *list);
	int (*json)(const struct list_request *request, struct json_write *json);
	const char *next;
} kinds[] = {
	{"scenarios", list_scenarios, list_json_scenarios, "compare SCENARIO"},
	{"schedules", list_schedules, list_json_schedules, "plan SCENARIO --schedule NAME"},
	{"profiles", list_profiles, list_json_profiles, "list scenarios"},
	{"devices", list_devices, list_json_devices, "run SCENARIO --device NAME"},
	{"transports", list_transports, list_json_transports, "run SCENARIO --transport NAME"},
	{"runs", list_runs, list_json_runs, "compare RUN RUN"},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Where word is in the table; N_KINDS: nowhere, which was said. */
static size_t find_kind(const char *word)
{
	const char *names[N_KINDS];
	struct err err = {0};

	for (size_t i = 0; i < N_KINDS; i++) {
		names[i] = kinds[i].name;
		if (strcmp(names[i], word) == 0)
			return i;
	}
	(void)nearest_refuse("list of", word, names, N_KINDS, &err);
	output_error("%s", err.text);
	return N_KINDS;
}

/* Kinds first … last - 1. */
static int list_text(struct list *list, size_t first, size_t last)
{
	int code = EXIT_DONE;

	for (size_t i = first; i < last && code == EXIT_DONE; i++)
		code = kinds[i].list(list);
	return code;
}

static int list_json(struct list *list, size_t first, size_t last)
{
	const struct list_request request = {list->options, list->paths, list->is_overview};
	struct json_write json;
	int code = EXIT_DONE;

	json_init(&json, &list->out, true);
	json_open_object(&json, NULL);
	json_int(&json, "schema", 1);
	for (size_t i = first; i < last && code == EXIT_DONE; i++)
		code = kinds[i].json(&request, &json);
	json_close(&json);
	strbuf_add_char(&list->out, '\n');
	return code;
}

int cmd_list(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;
	const char *word = arguments->n_items > 0 ? arguments->items[0] : NULL;
	struct list list = {.options = &cli->options,
	                    .style = output_style(&cli->options),
	                    .is_overview = !word};
	size_t first = word ? find_kind(word) : 0, last = word ? first + 1 : N_KINDS;
	struct paths paths;
	struct err err = {0};
	int code;

	if (first == N_KINDS)
		return EXIT_MISTAKE;
	if (paths_init(&paths, &err))
		return output_failure(&err);
	list.paths = &paths;
	code = cli->options.is_json ? list_json(&list, first, last) : list_text(&list, first, last);
	if (code == EXIT_DONE)
		code = output_result(&list.out);
	if (code == EXIT_DONE)
		output_next(&cli->options, "%s", word ? kinds[first].next : "list scenarios");
	strbuf_fini(&list.out);
	paths_fini(&paths);
	return code;
}
