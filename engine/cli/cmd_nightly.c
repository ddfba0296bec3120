/* cmd_nightly.c - `nightly SCENARIO…`: one more night of each scenario's history. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/file_writer.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"
#include "engine/cli/night.h"
#include "engine/cli/output.h"
#include "engine/cli/session.h"
#include "engine/cli/stored.h"
#include "reports/history_page.h"
#include "reports/nightly_exports.h"

/* All scenarios of one call. */
struct nights {
	const struct options *options;
	struct night *items;
	size_t n_items;
};

/* Files tell scenarios apart by their short names. */
static int check_names(const struct nights *nights)
{
	struct strbuf one = {0}, other = {0};
	int code = EXIT_DONE;

	for (size_t i = 0; i < nights->n_items; i++)
		for (size_t j = 0; j < i && code == EXIT_DONE; j++) {
			struct nightly_report a = night_report(&nights->items[j]);
			struct nightly_report b = night_report(&nights->items[i]);

			strbuf_clear(&one);
			strbuf_clear(&other);
			nightly_short_name(&a, &one);
			nightly_short_name(&b, &other);
			if (strcmp(strbuf_text(&one), strbuf_text(&other)) != 0)
				continue;
			output_error("'%s' and '%s' would both be called %s; give one of them "
			             "another name, or a night of its own",
			             a.path, b.path, strbuf_text(&one));
			code = EXIT_MISTAKE;
		}
	strbuf_fini(&one);
	strbuf_fini(&other);
	return code;
}

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
	return code ? code : check_names(nights);
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

static int write_text(const char *path, const struct strbuf *text)
{
	struct file_writer *file;
	struct err err = {0};
	int rc = text->is_failed ? err_set(&err, -ENOMEM, "out of memory for '%s'", path)
	                         : file_writer_open(path, &file, &err);

	if (rc == 0) {
		rc = file_writer_put(file, strbuf_text(text), text->length, &err);
		if (rc)
			file_writer_abandon(file);
		else
			rc = file_writer_close(file, &err);
	}
	if (rc == 0)
		return EXIT_DONE;
	output_error("%s", err.text);
	return EXIT_RUN_FAILED;
}

/* Every file that was asked for. */
static int write_files(const struct nights *nights, const struct nightly_report *reports)
{
	const struct {
		const char *path;
		void (*write)(const struct nightly_report *reports, size_t n_reports,
		              struct strbuf *out);
	} files[] = {
		{nights->options->junit, nightly_junit},
		{nights->options->metrics, nightly_metrics},
		{nights->options->csv, nightly_csv},
	};
	int code = EXIT_DONE;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct strbuf text = {0};
		int file_code;

		if (!files[i].path)
			continue;
		files[i].write(reports, nights->n_items, &text);
		file_code = write_text(files[i].path, &text);
		code = code ? code : file_code;
		strbuf_fini(&text);
	}
	return code;
}

/* The page of histories, if it was asked for. */
static int write_page(const struct nights *nights, const struct nightly_report *reports,
                      struct store *store)
{
	struct history_page page;
	struct strbuf text = {0};
	struct err err = {0};
	int code;

	if (!nights->options->html)
		return EXIT_DONE;
	if (history_page_read(&page, store, reports, nights->n_items, &err)) {
		output_error("%s", err.text);
		return EXIT_RUN_FAILED;
	}
	history_page_write(&page, &text);
	history_page_fini(&page);
	code = write_text(nights->options->html, &text);
	strbuf_fini(&text);
	if (code == EXIT_DONE)
		output_note(nights->options, "the page is %s; any browser opens it",
		            nights->options->html);
	return code;
}

/* A regression is news, whatever else went wrong; a run that failed leaves none to be sure of. */
static int tell(const struct nights *nights, struct store *store)
{
	struct nightly_report *reports = array_new(nights->n_items, sizeof(*reports));
	int code, written, paged;

	if (!reports) {
		output_error("out of memory");
		return EXIT_RUN_FAILED;
	}
	for (size_t i = 0; i < nights->n_items; i++)
		reports[i] = night_report(&nights->items[i]);
	code = print(nights, reports);
	written = write_files(nights, reports);
	paged = write_page(nights, reports, store);
	code = code ? code : written ? written : paged;
	if (code == EXIT_DONE && nightly_count_regressions(reports, nights->n_items) > 0)
		code = EXIT_CHECK_FAILED;
	free(reports);
	return code;
}

static int run(struct nights *nights)
{
	struct store *store = NULL;
	struct err err = {0};
	int code, closed, told;

	if (stored_open_to_write(nights->options, &store, &err))
		return output_failure(&err);
	code = run_all(nights, store);
	told = code == EXIT_INTERRUPTED ? code : tell(nights, store);
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
