/* csv_tables.c - `report --csv TABLE`: a table of a report or of the database.
 *
 * Both kinds have one list of names: those of reports are plural, those of the database singular.
 * A table of the database may have millions of rows, so they are printed as they are read. */
#include "engine/cli/csv_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/interrupt.h"
#include "engine/base/nearest.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/format/csv_write.h"
#include "engine/store/table.h"
#include "reports/report_csv.h"

enum { PRINTED_AT_ONCE = 1 << 16 };

static size_t n_names(void)
{
	return report_csv_n_tables() + store_n_tables();
}

/* Reports' first. */
static const char *name_at(size_t i)
{
	size_t n = report_csv_n_tables();

	return i < n ? report_csv_name(i) : store_table_name(i - n);
}

/* n_names(): there is none. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (i < n_names() && strcmp(name_at(i), name) != 0)
		i++;
	return i;
}

int csv_tables_check(const char *name)
{
	const char **names;
	struct err err = {0};

	if (find(name) < n_names())
		return EXIT_DONE;
	names = array_new(n_names(), sizeof(*names));
	for (size_t i = 0; names && i < n_names(); i++)
		names[i] = name_at(i);
	(void)nearest_refuse("table", name, names, names ? n_names() : 0, &err);
	free(names);
	return output_failure(&err);
}

/* Print what has been gathered, if it is enough or is_last. Returns an exit code. */
static int flush(struct strbuf *out, bool is_last)
{
	int code;

	if (!is_last && out->length < PRINTED_AT_ONCE)
		return EXIT_DONE;
	code = output_result(out);
	strbuf_clear(out);
	return code;
}

static void add_row(const struct store_table *table, struct csv_write *csv)
{
	for (int i = 0; i < store_table_n_columns(table); i++) {
		const struct stored_cell cell = store_table_cell(table, i);

		switch (cell.type) {
		case STORED_INT:
			csv_int(csv, cell.integer);
			break;
		case STORED_REAL:
			csv_number(csv, cell.real);
			break;
		case STORED_TEXT:
		case STORED_NULL:
			csv_text(csv, cell.text);
			break;
		}
	}
	csv_end_row(csv);
}

static int print_rows(struct store_table *table, struct csv_write *csv)
{
	struct err err = {0};
	int code = EXIT_DONE, rc = 0;

	while (code == EXIT_DONE && (rc = store_table_next(table, &err)) > 0) {
		add_row(table, csv);
		code = flush(csv->out, false);
		if (code == EXIT_DONE && interrupt_is_pending())
			rc = err_set(&err, -EINTR, "interrupted");
		if (rc < 0)
			break;
	}
	return rc < 0 ? output_failure(&err) : code;
}

static int print_run(struct store *store, size_t i, int64_t run, bool has_header,
                     struct csv_write *csv)
{
	struct store_table *table;
	struct err err = {0};
	int code;

	if (store_table_open(store, i, run, &table, &err))
		return output_failure(&err);
	if (has_header) {
		for (int c = 0; c < store_table_n_columns(table); c++)
			csv_text(csv, store_table_column(table, c));
		csv_end_row(csv);
	}
	code = print_rows(table, csv);
	store_table_close(table);
	return code;
}

/* The runs that the arguments number, or all of the comparison. */
static int print_stored(const struct options *options, struct store *store, size_t i,
                        int64_t comparison, struct csv_write *csv)
{
	const struct text_list *arguments = &options->arguments;
	struct stored_run *runs = NULL;
	struct err err = {0};
	size_t n = arguments->n_items;
	int code = EXIT_DONE;

	interrupt_install();
	if (n == 0 && store_read_runs(store, &(struct store_query){.comparison = comparison}, &runs,
	                              &n, &err))
		return output_failure(&err);
	for (size_t r = 0; r < n && code == EXIT_DONE; r++) {
		int64_t run = 0;

		if (runs)
			run = runs[r].run;
		else
			(void)units_parse_count(arguments->items[r], 1, INT64_MAX, &run,
			                        &err); /* it was, before */
		code = print_run(store, i, run, r == 0, csv);
	}
	if (runs)
		stored_runs_fini(runs, n);
	return code;
}

int csv_tables_print(const struct options *options, struct store *store,
                     const struct comparison *comparison, const struct report_extras *extras)
{
	size_t i = find(options->csv), n_reports = report_csv_n_tables();
	struct strbuf out = {0};
	struct csv_write csv = {.out = &out};
	int code = EXIT_DONE;

	if (i < n_reports)
		report_csv(comparison, extras, i, &out);
	else
		code = print_stored(options, store, i - n_reports, comparison->comparison, &csv);
	if (code == EXIT_DONE)
		code = flush(&out, true);
	strbuf_fini(&out);
	return code;
}
