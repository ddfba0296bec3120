/* report_events.c - what each fault cost every schedule, and what was published; totals under other
 * options. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { LABEL_SHORTEST = 16 };

bool report_has_restart(const struct comparison_schedule *schedule, int first, int last)
{
	for (size_t i = 0; i < schedule->n_restart_iterations; i++)
		if (schedule->restart_iterations[i] >= first &&
		    schedule->restart_iterations[i] <= last)
			return true;
	return false;
}

const char *report_restart_mark(const struct report_style *style)
{
	return style->has_unicode ? "↺" : "R";
}

static double largest_p50(const struct comparison *comparison, size_t schedule)
{
	double largest = 0;

	for (size_t i = 0; i < comparison->n_events; i++) {
		largest =
			fmax(largest, quantity_largest(&comparison->events[i].p50_ms[schedule], 1));
		largest = fmax(largest,
		               quantity_largest(&comparison->events[i].published_ms[schedule], 1));
	}
	return largest;
}

static bool has_published(const struct comparison *comparison, size_t schedule)
{
	for (size_t i = 0; i < comparison->n_events; i++)
		if (isfinite(comparison->events[i].published_ms[schedule]))
			return true;
	return false;
}

static void add_range(struct table *table, const struct comparison_event *event,
                      const struct report_style *style)
{
	char first[QUANTITY_BYTES], last[QUANTITY_BYTES];

	if (event->first_iteration < 0)
		table_cell(table, TONE_PLAIN, "by time");
	else if (event->first_iteration == event->last_iteration)
		table_cell(table, TONE_PLAIN, "%s", quantity_count(event->first_iteration, first));
	else
		table_cell(table, TONE_PLAIN, "%s%s%s",
		           quantity_count(event->first_iteration, first),
		           style->has_unicode ? "–" : "-",
		           quantity_count(event->last_iteration, last));
}

/* The schedule that the event slowed least, or n_schedules: one to compare is no competition. */
static size_t best_of(const struct comparison *comparison, const struct comparison_event *event)
{
	size_t best = comparison->n_schedules, n = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		if (!isfinite(event->p50_ms[i]))
			continue;
		n++;
		if (best == comparison->n_schedules || event->p50_ms[i] < event->p50_ms[best])
			best = i;
	}
	return n > 1 ? best : comparison->n_schedules;
}

static void add_event(struct table *table, const struct comparison *comparison,
                      const struct comparison_event *event, const struct report_style *style)
{
	size_t best = best_of(comparison, event);
	char text[QUANTITY_BYTES];

	add_range(table, event, style);
	table_cell(table, TONE_PLAIN, "%s", event->label);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		int decimals = quantity_decimals(largest_p50(comparison, i));
		bool has_restart = report_has_restart(
			&comparison->schedules[i], event->first_iteration, event->last_iteration);

		table_cell(table,
		           has_restart ? TONE_BAD
		           : i == best ? TONE_GOOD
		                       : TONE_PLAIN,
		           "%s%s%s", has_restart ? report_restart_mark(style) : "",
		           has_restart ? " " : "",
		           quantity_number(event->p50_ms[i], decimals, style, text));
		if (has_published(comparison, i))
			table_cell(table, TONE_DIM, "%s",
			           quantity_number(event->published_ms[i], decimals, style, text));
	}
}

/* The columns; returns whether anything was published. */
static bool add_event_columns(struct table *table, const struct comparison *comparison,
                              const struct report_style *style)
{
	bool is_any_published = false;
	char name[REPORT_NAME_BYTES];

	table_column(table, "iterations", TABLE_LEFT, 0);
	table_column(table, "fault", TABLE_LEFT, LABEL_SHORTEST);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		table_column(table, report_name(comparison, i, style, name), TABLE_RIGHT, 0);
		if (!has_published(comparison, i))
			continue;
		table_column(table, "publ.", TABLE_RIGHT, 0);
		table_join_column(table);
		is_any_published = true;
	}
	return is_any_published;
}

static bool has_restart_anywhere(const struct comparison *comparison,
                                 const struct comparison_event *event)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		if (report_has_restart(&comparison->schedules[i], event->first_iteration,
		                       event->last_iteration))
			return true;
	return false;
}

void report_events(const struct comparison *comparison, const struct report_style *style,
                   struct strbuf *out)
{
	bool is_any_published, has_restart = false;
	struct table *table;

	if (comparison->n_schedules == 0 || comparison->n_events == 0)
		return;
	table = table_new();
	is_any_published = add_event_columns(table, comparison, style);
	for (size_t e = 0; e < comparison->n_events; e++) {
		add_event(table, comparison, &comparison->events[e], style);
		has_restart |= has_restart_anywhere(comparison, &comparison->events[e]);
	}
	report_sentence(out, TONE_PLAIN, style, "What each fault cost: p50 of its iterations, ms%s",
	                is_any_published ? "; publ.: as published" : "");
	table_print(table, 2, style, out);
	table_free(table);
	if (has_restart)
		report_sentence(out, TONE_DIM, style,
		                "%s: the run restarted here; the p50 is that of the "
		                "iterations once repeated.",
		                report_restart_mark(style));
}

/* The table of totals being made. */
struct totals {
	struct table *table;
	const struct comparison *comparison;
	const struct report_style *style;
	size_t subject;
	double largest_s;
};

static void find_largest(struct totals *totals, const struct report_variant *variants,
                         size_t n_variants)
{
	const struct comparison *comparison = totals->comparison;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		totals->largest_s = fmax(totals->largest_s,
		                         quantity_largest(&comparison->schedules[i].total_s, 1));
	for (size_t v = 0; v < n_variants; v++)
		totals->largest_s =
			fmax(totals->largest_s,
		             quantity_largest(variants[v].total_s, comparison->n_schedules));
}

/* One row; total_s NULL: those of the comparison itself. Beside each total, how many times as long
 * as the subject's it is. */
static void add_totals(const struct totals *totals, const char *label, const double *total_s)
{
	const struct comparison *comparison = totals->comparison;
	char text[QUANTITY_BYTES];

	table_cell(totals->table, TONE_PLAIN, "%s", label);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		double value = total_s ? total_s[i] : comparison->schedules[i].total_s;
		double own = total_s ? total_s[totals->subject]
		                     : comparison->schedules[totals->subject].total_s;

		table_cell(totals->table, TONE_PLAIN, "%s",
		           quantity_span(value, totals->largest_s, totals->style, text));
		if (i != totals->subject)
			table_cell(totals->table, TONE_DIM, "%s",
			           quantity_ratio(value / own, totals->style, text));
	}
}

static void add_total_columns(const struct totals *totals)
{
	char name[REPORT_NAME_BYTES];

	table_column(totals->table, "", TABLE_LEFT, LABEL_SHORTEST);
	for (size_t i = 0; i < totals->comparison->n_schedules; i++) {
		table_column(totals->table, report_name(totals->comparison, i, totals->style, name),
		             TABLE_RIGHT, 0);
		if (i == totals->subject)
			continue;
		table_column(totals->table, "", TABLE_RIGHT, 0);
		table_join_column(totals->table);
	}
}

void report_variants(const struct comparison *comparison, const struct report_variant *variants,
                     size_t n_variants, const struct report_style *style, struct strbuf *out)
{
	struct totals totals = {.comparison = comparison, .style = style};
	bool is_live = strcmp(comparison->mode, "live") == 0;
	const char *where = is_live ? ", in virtual time" : "";
	char name[REPORT_NAME_BYTES];

	if (comparison->n_schedules == 0 || n_variants == 0)
		return;
	totals.table = table_new();
	totals.subject = comparison_subject(comparison);
	find_largest(&totals, variants, n_variants);
	if (comparison->n_schedules == 1)
		report_sentence(out, TONE_PLAIN, style, "Totals under other options%s", where);
	else
		report_sentence(out, TONE_PLAIN, style,
		                "Totals under other options%s, and as multiples of %s's", where,
		                report_name(comparison, totals.subject, style, name));
	add_total_columns(&totals);
	/* Variants are computed, whatever the comparison is. */
	add_totals(&totals, is_live ? "as above, live" : "as above", NULL);
	for (size_t v = 0; v < n_variants; v++)
		add_totals(&totals, variants[v].label, variants[v].total_s);
	table_print(totals.table, 1, style, out);
	table_free(totals.table);
}
