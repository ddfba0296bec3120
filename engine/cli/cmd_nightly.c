/* cmd_nightly.c - `nightly SCENARIO…`: one more night of each scenario's history. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"
#include "engine/cli/night.h"
#include "engine/cli/output.h"
#include "engine/cli/session.h"

/* All scenarios of one call. */
struct nights {
	const struct options *options;
	struct night *items;
	size_t n_items;
};

/* Every scenario is loaded before any runs. */
static int load_all(struct nights *nights)
{
	const struct text_list *names = &nights->options->arguments;
	struct paths paths;
	struct err err = {0};
	int code = EXIT_DONE;

	nights->items = array_new(names->n_items, sizeof(*nights->items));
	if (!nights->items) {
		output_error("out of memory");
		return EXIT_CANNOT;
	}
	if (paths_init(&paths, &err))
		return output_failure(&err);
	for (size_t i = 0; i < names->n_items && code == EXIT_DONE; i++) {
		code = night_load(&nights->items[i], nights->options, &paths, names->items[i]);
		nights->n_items++;
	}
	paths_fini(&paths);
	return code;
}

static int open_store(const struct options *options, struct store **out)
{
	struct err err = {0};
	char *path = NULL;
	int rc = paths_store(options, &path, &err);

	if (rc == 0)
		rc = store_open(path, STORE_WRITE, out, &err);
	free(path);
	return rc ? output_failure(&err) : EXIT_DONE;
}

static int close_store(struct store *store)
{
	struct err err = {0};

	if (store_close(store, &err) == 0)
		return EXIT_DONE;
	output_error("%s", err.text);
	return EXIT_RUN_FAILED;
}

/* An interrupt ends all nights; one that failed leaves the others alone. */
static int run_all(struct nights *nights, struct store *store)
{
	int code = EXIT_DONE;

	interrupt_install();
	for (size_t i = 0; i < nights->n_items; i++) {
		int night_code = night_run(&nights->items[i], store);

		if (night_code == EXIT_INTERRUPTED) {
			output_error("interrupted; what was recorded is kept in '%s'",
			             store_path(store));
			return night_code;
		}
		code = code ? code : night_code;
	}
	return code;
}

static int print(const struct nights *nights, const struct nightly_report *reports)
{
	const struct report_style style = output_style(nights->options);
	struct strbuf out = {0};
	int code;

	if (nights->options->is_json)
		report_nightly_json(reports, nights->n_items, &out);
	else
		report_nightly_terminal(reports, nights->n_items, &style, &out);
	code = output_result(&out);
	strbuf_fini(&out);
	return code;
}

/* A regression is news, whatever else went wrong; a run that failed leaves none to be sure of. */
static int tell(const struct nights *nights)
{
	struct nightly_report *reports = array_new(nights->n_items, sizeof(*reports));
	int code;

	if (!reports) {
		output_error("out of memory");
		return EXIT_RUN_FAILED;
	}
	for (size_t i = 0; i < nights->n_items; i++)
		reports[i] = night_report(&nights->items[i]);
	code = print(nights, reports);
	if (code == EXIT_DONE && nightly_count_regressions(reports, nights->n_items) > 0)
		code = EXIT_CHECK_FAILED;
	free(reports);
	return code;
}

static int run(struct nights *nights)
{
	struct store *store = NULL;
	int code = open_store(nights->options, &store), closed, told;

	if (code)
		return code;
	code = run_all(nights, store);
	told = code == EXIT_INTERRUPTED ? code : tell(nights);
	closed = close_store(store);
	output_next(nights->options, "report%s%s", nights->options->store ? " --store " : "",
	            nights->options->store ? nights->options->store : "");
	code = code ? code : told;
	return code ? code : closed;
}

static int dry_run(const struct options *options)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < options->arguments.n_items && code == EXIT_DONE; i++)
		code = session_run(options, options->arguments.items[i],
		                   options->is_virtual ? SESSION_SIM : SESSION_LIVE);
	return code;
}

int cmd_nightly(struct cli *cli)
{
	struct nights nights = {.options = &cli->options};
	int code;

	if (cli->options.is_dry_run)
		return dry_run(&cli->options);
	code = load_all(&nights);
	if (code == EXIT_DONE)
		code = run(&nights);
	for (size_t i = 0; i < nights.n_items; i++)
		night_fini(&nights.items[i]);
	free(nights.items);
	return code;
}
