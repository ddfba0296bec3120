/* report_links.c - what faults of links asked for, beside what passed there while they were in
 * force. */
#include <math.h>
#include <stddef.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { ROWS_MOST = 36, COLUMN_PACKETS = 4, COLUMN_RESENT = 7 };

static double extra_ms(const struct comparison_passed *passed)
{
	return passed->extra_ms;
}

static double extra_p50_ms(const struct comparison_passed *passed)
{
	return passed->extra_p50_ms;
}

static double extra_p95_ms(const struct comparison_passed *passed)
{
	return passed->extra_p95_ms;
}

static double goodput(const struct comparison_passed *passed)
{
	return passed->goodput_mbit_per_s;
}

static double packets(const struct comparison_passed *passed)
{
	return passed->n_packets;
}

static double held_ms(const struct comparison_passed *passed)
{
	return passed->held_ms;
}

static double lost_percent(const struct comparison_passed *passed)
{
	return 100 * passed->n_lost / (passed->n_packets + passed->n_lost);
}

static double resent(const struct comparison_passed *passed)
{
	return passed->n_resent;
}

static double delay_ms(const struct comparison_link *link)
{
	return link->delay_ms;
}

static double rate(const struct comparison_link *link)
{
	return link->rate_mbit_per_s;
}

static double loss_percent(const struct comparison_link *link)
{
	return 100 * link->loss_ratio;
}

const struct report_link_column report_link_columns[REPORT_LINK_COLUMNS] = {
	{"more ms\nmean", extra_ms, delay_ms, 2},
	{"more ms\np50", extra_p50_ms, NULL, 2},
	{"more ms\np95", extra_p95_ms, NULL, 2},
	{"goodput\nMbit/s", goodput, rate, 1},
	{"\npackets", packets, NULL, 0},
	{"held\nms", held_ms, NULL, 2},
	{"lost\n%", lost_percent, loss_percent, 2},
	{"sent\nagain", resent, NULL, 0},
};

bool report_link_has(const struct comparison *comparison, size_t column, double *largest_out)
{
	bool has_any = false;
	double largest = 0;

	for (size_t i = 0; i < comparison->n_links; i++)
		for (size_t s = 0; s < comparison->n_schedules; s++) {
			double value =
				report_link_columns[column].value(&comparison->links[i].passed[s]);

			has_any |= isfinite(value);
			largest = isfinite(value) ? fmax(largest, fabs(value)) : largest;
		}
	*largest_out = largest;
	return has_any;
}

/* What was asked for of what the column measures, if anything was. */
static void add_asked(struct table *table, const struct comparison_link *link, size_t column,
                      int decimals, const struct report_style *style)
{
	double (*asked)(const struct comparison_link *link) = report_link_columns[column].asked;
	char text[QUANTITY_BYTES], jitter[QUANTITY_BYTES] = "";
	double value = asked ? asked(link) : NAN;

	if (asked == delay_ms && isfinite(link->jitter_ms))
		(void)quantity_number(link->jitter_ms, decimals, style, jitter);
	table_cell(table, TONE_DIM, "%s%s%s",
	           isfinite(value) ? quantity_number(value, decimals, style, text) : "",
	           *jitter ? (style->has_unicode ? " ± " : " +- ") : "", jitter);
}

/* Under a schedule, or as it was asked for. */
static void add_row(struct table *table, const struct comparison *comparison, size_t i,
                    const struct comparison_passed *passed, const struct report_style *style)
{
	const struct comparison_link *link = &comparison->links[i];

	for (size_t c = 0; c < REPORT_LINK_COLUMNS; c++) {
		const struct report_link_column *column = &report_link_columns[c];
		char text[QUANTITY_BYTES];
		double largest;
		int decimals;

		if (!report_link_has(comparison, c, &largest))
			continue;
		decimals = quantity_decimals(largest);
		decimals = decimals < column->decimals_most ? decimals : column->decimals_most;
		if (passed)
			table_cell(table, TONE_PLAIN, "%s",
			           quantity_number(column->value(passed), decimals, style, text));
		else
			add_asked(table, link, c, decimals, style);
	}
}

static void add_link(struct table *table, const struct comparison *comparison, size_t i,
                     const struct report_style *style)
{
	const struct comparison_link *link = &comparison->links[i];
	char name[REPORT_NAME_BYTES];

	table_cell(table, TONE_PLAIN, "%d->%d", link->from_stage, link->to_stage);
	table_cell(table, TONE_DIM, "asked");
	add_row(table, comparison, i, NULL, style);
	for (size_t s = 0; s < comparison->n_schedules; s++) {
		table_cell(table, TONE_PLAIN, "%s", "");
		table_cell(table, TONE_PLAIN, "%s", report_name(comparison, s, style, name));
		add_row(table, comparison, i, &link->passed[s], style);
	}
}

static void add_key(const struct comparison *comparison, size_t n_shown,
                    const struct report_style *style, struct strbuf *out)
{
	double largest;
	bool has_packets = report_link_has(comparison, COLUMN_PACKETS, &largest);

	report_sentence(
		out, TONE_DIM, style,
		"more: than a message takes on a healthy link; goodput: of messages' bytes, "
		"while one was under way.");
	if (report_link_has(comparison, COLUMN_RESENT, &largest))
		report_sentence(out, TONE_DIM, style,
		                "sent again: segments, by TCP, in iterations with the fault%s.",
		                has_packets ? "; packets, those lost, and how long who delays them "
		                              "held them: the same"
		                            : "");
	if (n_shown < comparison->n_links)
		report_sentence(out, TONE_DIM, style,
		                "The first %zu of %zu; --json and --csv links have all.", n_shown,
		                comparison->n_links);
}

void report_links(const struct comparison *comparison, const struct report_style *style,
                  struct strbuf *out)
{
	size_t n_most = ROWS_MOST / (1 + comparison->n_schedules);
	size_t n_shown = comparison->n_links < n_most ? comparison->n_links : n_most;
	struct table *table;
	double largest;

	if (comparison->n_links == 0)
		return;
	table = table_new();
	report_sentence(out, TONE_PLAIN, style,
	                "Faults of links, as asked for and as measured, in profile time");
	table_column(table, "\nlink", TABLE_LEFT, 0);
	table_column(table, "\nschedule", TABLE_LEFT, 0);
	for (size_t c = 0; c < REPORT_LINK_COLUMNS; c++)
		if (report_link_has(comparison, c, &largest))
			table_column(table, report_link_columns[c].title, TABLE_RIGHT, 0);
	for (size_t i = 0; i < n_shown; i++)
		add_link(table, comparison, i, style);
	table_print(table, 2, style, out);
	table_free(table);
	add_key(comparison, n_shown, style, out);
}
