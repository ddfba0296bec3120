/* nightly_csv.c - histories as one table for change-point tools. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/change_point_csv.h"
#include "reports/nightly_exports.h"

/* A night of one scenario on its way into the table. */
struct row {
	int64_t comparison;
	struct change_point_night night;
};

struct csv {
	struct strbuf *names;                 /* [n_columns] */
	const char **columns;                 /* their texts */
	double **values;                      /* [n_columns]: its history's; borrowed */
	const struct nightly_report **owners; /* [n_columns] */
	size_t n_columns;
	struct row *rows;
	size_t n_rows;
	struct change_point_night *nights; /* [n_rows], in order */
};

static void add_columns(struct csv *csv, const struct nightly_report *report)
{
	for (size_t i = 0; i < report->n_verdicts; i++) {
		const struct nightly_verdict *verdict = &report->verdicts[i];
		const struct nightly_schedule *schedule =
			&report->history->schedules[verdict->schedule];
		struct strbuf name = {0};

		nightly_short_name(report, &name);
		strbuf_addf(&name, "_%s_%s", schedule->name, nightly_metric_name(verdict->metric));
		change_point_name(strbuf_text(&name), &csv->names[csv->n_columns]);
		csv->names[csv->n_columns].is_failed |= name.is_failed;
		strbuf_fini(&name);
		csv->columns[csv->n_columns] = strbuf_text(&csv->names[csv->n_columns]);
		csv->values[csv->n_columns] = schedule->values[verdict->metric];
		csv->owners[csv->n_columns++] = report;
	}
}

/* Every night is a row of its own: its scenario's numbers, nothing in the other columns. */
static int add_row(struct csv *csv, const struct nightly_report *report, size_t night)
{
	struct row *row = &csv->rows[csv->n_rows];

	*row = (struct row){
		report->history->comparisons[night],
		{report->history->created[night], report->history->versions[night],
	         array_new(csv->n_columns, sizeof(double))},
	};
	if (!row->night.values)
		return 0;
	csv->n_rows++;
	for (size_t c = 0; c < csv->n_columns; c++)
		row->night.values[c] = csv->owners[c] == report ? csv->values[c][night] : NAN;
	return 1;
}

static int compare_rows(const void *a, const void *b)
{
	int64_t x = ((const struct row *)a)->comparison, y = ((const struct row *)b)->comparison;

	return (x > y) - (x < y);
}

static int csv_init(struct csv *csv, const struct nightly_report *reports, size_t n_reports)
{
	size_t n_columns = 0, n_rows = 0;

	for (size_t i = 0; i < n_reports; i++) {
		n_columns += reports[i].n_verdicts;
		n_rows += reports[i].history->n_nights;
	}
	csv->names = array_new(n_columns, sizeof(*csv->names));
	csv->columns = array_new(n_columns, sizeof(*csv->columns));
	csv->values = array_new(n_columns, sizeof(*csv->values));
	csv->owners = array_new(n_columns, sizeof(*csv->owners));
	csv->rows = array_new(n_rows, sizeof(*csv->rows));
	csv->nights = array_new(n_rows, sizeof(*csv->nights));
	return csv->names && csv->columns && csv->values && csv->owners && csv->rows && csv->nights;
}

static void csv_fini(struct csv *csv)
{
	for (size_t c = 0; c < csv->n_columns; c++)
		strbuf_fini(&csv->names[c]);
	for (size_t r = 0; r < csv->n_rows; r++)
		free(csv->rows[r].night.values);
	free(csv->names);
	free(csv->columns);
	free(csv->values);
	free(csv->owners);
	free(csv->rows);
	free(csv->nights);
}

static int fill(struct csv *csv, const struct nightly_report *reports, size_t n_reports)
{
	int has_memory = 1;

	for (size_t i = 0; i < n_reports; i++)
		add_columns(csv, &reports[i]);
	for (size_t i = 0; i < n_reports; i++)
		for (size_t night = 0; night < reports[i].history->n_nights && has_memory; night++)
			has_memory = add_row(csv, &reports[i], night);
	qsort(csv->rows, csv->n_rows, sizeof(*csv->rows), compare_rows);
	for (size_t r = 0; r < csv->n_rows; r++)
		csv->nights[r] = csv->rows[r].night;
	for (size_t c = 0; c < csv->n_columns; c++)
		has_memory &= !csv->names[c].is_failed;
	return has_memory;
}

void nightly_csv(const struct nightly_report *reports, size_t n_reports, struct strbuf *out)
{
	struct csv csv = {0};

	if (csv_init(&csv, reports, n_reports) && fill(&csv, reports, n_reports))
		change_point_csv_write(&(struct change_point_table){csv.columns, csv.n_columns,
		                                                    csv.nights, csv.n_rows},
		                       out);
	else
		out->is_failed = 1;
	csv_fini(&csv);
}
