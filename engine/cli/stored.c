/* stored.c - reports of what is in the database. */
#include "engine/cli/stored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/csv_tables.h"
#include "engine/cli/output.h"
#include "engine/cli/page_file.h"
#include "engine/cli/paths.h"
#include "engine/cli/result.h"
#include "reports/comparison.h"
#include "reports/kept_extras.h"

bool stored_is_run(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

int stored_open(const struct options *options, struct store **out)
{
	struct err err = {0};
	char *path;
	int rc = paths_store(options, &path, &err);

	if (rc)
		return output_failure(&err);
	rc = store_open(path, STORE_READ, out, &err);
	if (rc == -ENOENT)
		(void)err_set(
			&err, rc,
			"there are no results in '%s' yet; adaptra-bench sim SCENARIO makes some",
			path);
	free(path);
	return rc ? output_failure(&err) : EXIT_DONE;
}

int stored_open_to_write(const struct options *options, struct store **out, struct err *err)
{
	char *path;
	int rc = paths_store(options, &path, err);

	if (rc)
		return rc;
	rc = store_open(path, STORE_WRITE, out, err);
	if (rc == 0 && store_older_version(*out))
		output_note(options, "%s: schema %d -> %d", path, store_older_version(*out),
		            STORE_SCHEMA_VERSION);
	free(path);
	/* A limit on the size of files is the machine's, not a file that is too large to be read.
	 */
	if (rc == -EFBIG)
		err->code = -ENOSPC;
	return rc;
}

bool stored_is_empty(const struct options *options)
{
	struct err err = {0};
	char *path;
	bool is_empty;

	if (paths_store(options, &path, &err))
		return true;
	is_empty = access(path, F_OK) != 0;
	free(path);
	return is_empty;
}

/* The numbers that stand as arguments. */
static int parse_runs(const struct text_list *arguments, int64_t *runs, struct err *err)
{
	for (size_t i = 0; i < arguments->n_items; i++) {
		int rc = units_parse_count(arguments->items[i], 1, INT64_MAX, &runs[i], err);

		if (rc)
			return err_wrap(err, "a run's number");
	}
	return 0;
}

static int load(const struct options *options, struct store *store, struct comparison *out,
                struct err *err)
{
	const struct text_list *arguments = &options->arguments;
	int64_t *runs;
	int rc;

	if (arguments->n_items == 0)
		return comparison_load(store, 0, out, err);
	runs = array_new(arguments->n_items, sizeof(*runs));
	if (!runs)
		return err_set(err, -ENOMEM, "out of memory");
	rc = parse_runs(arguments, runs, err);
	if (rc == 0)
		rc = comparison_load_runs(store, runs, arguments->n_items, options->is_forced, out,
		                          err);
	free(runs);
	return rc;
}

static int print_tables(const struct options *options, const struct comparison *comparison,
                        const struct report_extras *extras)
{
	const struct report_style style = output_style(options);
	struct strbuf out = {0};
	int code = result_print(options, comparison, extras), checks_code;

	if (options->is_json)
		return code;
	report_checks(extras->checks, extras->n_checks, &style, &out);
	checks_code = output_result(&out);
	strbuf_fini(&out);
	return code ? code : checks_code;
}

static int print_with(const struct options *options, struct store *store,
                      const struct comparison *comparison, const struct comparison *simulated)
{
	struct kept_extras kept;
	struct report_extras extras;
	struct err err = {0};
	int code;

	if (kept_extras_read(store, comparison, &kept, &err))
		return output_failure(&err);
	extras = kept_extras_of(&kept, simulated);
	if (options->csv)
		code = csv_tables_print(options, store, comparison, &extras);
	else if (options->html)
		code = page_file_write(options, store, comparison, &extras);
	else
		code = print_tables(options, comparison, &extras);
	kept_extras_fini(&kept);
	return code;
}

/* With what was simulated beside it, where that is still there. */
static int print(const struct options *options, struct store *store,
                 const struct comparison *comparison)
{
	struct comparison simulated = {0};
	bool has_simulated = comparison->simulated != 0;
	struct err err = {0};
	int code;

	if (has_simulated) {
		int rc = comparison_load(store, comparison->simulated, &simulated, &err);

		if (rc && rc != -ENOENT)
			return output_failure(&err);
		has_simulated = rc == 0;
	}
	code = print_with(options, store, comparison, has_simulated ? &simulated : NULL);
	comparison_fini(&simulated);
	return code;
}

/* At most one form but the usual one. */
static int check_forms(const struct options *options)
{
	const struct {
		const char *name;
		bool is_wanted;
	} forms[] = {{"html", options->html}, {"csv", options->csv}, {"json", options->is_json}};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!forms[i].is_wanted)
			continue;
		if (first) {
			output_error("--%s and --%s exclude each other", first, forms[i].name);
			return EXIT_MISTAKE;
		}
		first = forms[i].name;
	}
	return options->csv ? csv_tables_check(options->csv) : EXIT_DONE;
}

int stored_report(const struct options *options)
{
	struct comparison comparison;
	struct store *store;
	struct err err = {0};
	int code;

	code = check_forms(options);
	if (code == EXIT_DONE)
		code = stored_open(options, &store);
	if (code)
		return code;
	if (load(options, store, &comparison, &err)) {
		code = output_failure(&err);
	} else {
		code = print(options, store, &comparison);
		comparison_fini(&comparison);
	}
	if (store_close(store, &err) && code == EXIT_DONE)
		code = output_failure(&err);
	return code;
}
