/* report_schedules.c - the numbers of every schedule, a row each, and of every pair. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/interval.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

static const double CONFIDENCE = 0.95, PERCENT = 100;

/* A column of numbers with as many decimals as its largest one allows. */
struct number_column {
	const char *title;
	double (*value)(const struct comparison_schedule *schedule);
	int decimals_most;
	bool is_optional; /* left out when no schedule has a value */
};

static double p50(const struct comparison_schedule *schedule)
{
	return schedule->p50_ms;
}

static double p95(const struct comparison_schedule *schedule)
{
	return schedule->p95_ms;
}

static double samples(const struct comparison_schedule *schedule)
{
	return schedule->samples_per_s;
}

static double bubble(const struct comparison_schedule *schedule)
{
	return PERCENT * schedule->bubble_ratio;
}

static double blocked(const struct comparison_schedule *schedule)
{
	return PERCENT * schedule->blocked_ratio;
}

static double restarts(const struct comparison_schedule *schedule)
{
	return schedule->n_restarts;
}

/* Half the confidence interval of the mean total over repeats. */
static double spread(const struct comparison_schedule *schedule)
{
	struct interval interval =
		interval_of_mean(schedule->repeat_total_s, (size_t)schedule->n_repeats, CONFIDENCE);

	return PERCENT * (interval.high - interval.mean) / interval.mean;
}

static const struct number_column number_columns[] = {
	{"±\n%", spread, 1, true},        {"p50\nms", p50, 4, false},
	{"p95\nms", p95, 4, false},       {"samples\n/s", samples, 4, false},
	{"bubble\n%", bubble, 1, false},  {"blocked\n%", blocked, 1, false},
	{"restarts", restarts, 0, false},
};

enum { N_NUMBER_COLUMNS = sizeof(number_columns) / sizeof(number_columns[0]) };

/* What one printing of the table has found out about its columns. */
struct column_state {
	bool is_shown[N_NUMBER_COLUMNS];
	int decimals[N_NUMBER_COLUMNS];
	double largest_total_s;
};

static void prepare(const struct comparison *comparison, struct column_state *state)
{
	state->largest_total_s = 0;
	for (size_t i = 0; i < comparison->n_schedules; i++)
		state->largest_total_s =
			fmax(state->largest_total_s,
		             quantity_largest(&comparison->schedules[i].total_s, 1));
	for (size_t c = 0; c < N_NUMBER_COLUMNS; c++) {
		double largest = 0;

		state->is_shown[c] = !number_columns[c].is_optional;
		for (size_t i = 0; i < comparison->n_schedules; i++) {
			double value = number_columns[c].value(&comparison->schedules[i]);

			if (!isfinite(value))
				continue;
			state->is_shown[c] = true;
			largest = fmax(largest, fabs(value));
		}
		state->decimals[c] = quantity_decimals(largest);
		if (state->decimals[c] > number_columns[c].decimals_most)
			state->decimals[c] = number_columns[c].decimals_most;
	}
}

static double least_total_s(const struct comparison *comparison)
{
	double least = INFINITY;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		if (comparison_is_done(&comparison->schedules[i]))
			least = fmin(least, comparison->schedules[i].total_s);
	return least;
}

static void add_row(struct table *table, const struct comparison *comparison, size_t i,
                    const struct column_state *state, const struct report_style *style)
{
	const struct comparison_schedule *schedule = &comparison->schedules[i];
	bool is_done = comparison_is_done(schedule);
	bool is_fastest = is_done && schedule->total_s <= least_total_s(comparison);
	bool is_least = !is_done && isfinite(schedule->total_s);
	char text[QUANTITY_BYTES], name[REPORT_NAME_BYTES];

	table_cell(table, i == comparison_subject(comparison) ? TONE_STRONG : TONE_PLAIN, "%s",
	           report_name(comparison, i, style, name));
	table_cell(table,
	           is_fastest ? TONE_GOOD
	           : is_done  ? TONE_PLAIN
	                      : TONE_BAD,
	           "%s%s",
	           !is_least            ? ""
	           : style->has_unicode ? "≥ "
	                                : ">= ",
	           quantity_span(schedule->total_s, state->largest_total_s, style, text));
	for (size_t c = 0; c < N_NUMBER_COLUMNS; c++) {
		double value = number_columns[c].value(schedule);
		bool is_bad = number_columns[c].value == restarts && value > 0;

		if (state->is_shown[c])
			table_cell(table, is_bad ? TONE_BAD : TONE_PLAIN, "%s",
			           quantity_number(value, state->decimals[c], style, text));
	}
}

/* "Restarts and the iterations they repeated cost 1f1b 4 min 33 s, zb 4 min 02 s." */
static void add_restarts(const struct comparison *comparison, const struct report_style *style,
                         struct strbuf *out)
{
	struct strbuf text = {0};
	char span[QUANTITY_BYTES], name[REPORT_NAME_BYTES];
	bool has_repeats = false;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		has_repeats |= comparison->schedules[i].n_repeats > 1;
		if (comparison->schedules[i].n_restarts > 0)
			strbuf_addf(&text, "%s %s %s", text.length ? "," : "",
			            report_name(comparison, i, style, name),
			            quantity_span(comparison->schedules[i].repeated_s,
			                          comparison->schedules[i].repeated_s, style,
			                          span));
	}
	if (text.length > 0)
		report_sentence(
			out, TONE_PLAIN, style,
			"Restarts and the iterations they repeated cost%s%s.", strbuf_text(&text),
			has_repeats ? " a repeat; the table counts those of all repeats" : "");
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_replans(const struct comparison_schedule *schedule, struct strbuf *out)
{
	char number[QUANTITY_BYTES];

	if (schedule->n_replans == 0)
		strbuf_add(out, " never");
	else if (schedule->n_replans == 1)
		strbuf_addf(out, " once, before iteration %s",
		            quantity_count(schedule->first_replan, number));
	else
		strbuf_addf(out, " %d times, first before iteration %s", schedule->n_replans,
		            quantity_count(schedule->first_replan, number));
}

void report_replans(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out)
{
	bool has_any = false;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];
		char name[REPORT_NAME_BYTES];

		if (!schedule->is_adaptive)
			continue;
		strbuf_addf(out, "%s %s",
		            has_any                   ? ";"
		            : schedule->n_repeats > 1 ? "Re-planned in the first repeat:"
		                                      : "Re-planned:",
		            report_name(comparison, i, style, name));
		add_replans(schedule, out);
		has_any = true;
	}
}

static void add_adaptation(const struct comparison *comparison, const struct report_style *style,
                           struct strbuf *out)
{
	struct strbuf text = {0};

	report_replans(comparison, style, &text);
	if (text.length > 0)
		report_sentence(out, TONE_PLAIN, style, "%s.", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_meanings(const struct comparison *comparison, const struct column_state *state,
                         const struct report_style *style, struct strbuf *out)
{
	char number[QUANTITY_BYTES];
	bool is_one = comparison->n_warmup == 1;

	add_restarts(comparison, style, out);
	add_adaptation(comparison, style, out);
	if (comparison->n_warmup > 0)
		report_sentence(
			out, TONE_DIM, style,
			"p50, p95, bubble (stage time in which no op ran) and "
			"blocked (the part of it held by a transfer) leave out the first %s%s, "
			"the warm-up.",
			is_one ? "" : quantity_count(comparison->n_warmup, number),
			is_one ? "iteration" : " iterations");
	else
		report_sentence(out, TONE_DIM, style,
		                "bubble: stage time in which no op ran; blocked: the "
		                "part of it held by a transfer.");
	if (state->is_shown[0])
		report_sentence(out, TONE_DIM, style,
		                "%s: 95 %% confidence of the mean total over repeats "
		                "(Student's t).",
		                style->has_unicode ? "±" : "+-");
}

void report_schedules(const struct comparison *comparison, const struct report_style *style,
                      struct strbuf *out)
{
	struct column_state state;
	struct table *table;

	if (comparison->n_schedules == 0)
		return;
	table = table_new();
	prepare(comparison, &state);
	table_column(table, "schedule", TABLE_LEFT, 0);
	table_column(table, "total", TABLE_RIGHT, 0);
	for (size_t c = 0; c < N_NUMBER_COLUMNS; c++)
		if (state.is_shown[c])
			table_column(table,
			             c == 0 && !style->has_unicode ? "+-\n%"
			                                           : number_columns[c].title,
			             TABLE_RIGHT, 0);
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_row(table, comparison, i, &state, style);
	table_print(table, 1, style, out);
	table_free(table);
	add_meanings(comparison, &state, style, out);
}

/* Over or under by more than what a glance should notice. */
static enum tone ratio_tone(double ratio)
{
	if (!(ratio < 0.95) && !(ratio > 1.05))
		return TONE_PLAIN;
	return ratio > 1 ? TONE_GOOD : TONE_BAD;
}

static void add_ratios(struct table *table, const struct comparison *comparison, size_t of,
                       const struct report_style *style)
{
	char text[REPORT_NAME_BYTES];

	table_cell(table, of == comparison_subject(comparison) ? TONE_STRONG : TONE_PLAIN, "%s",
	           report_name(comparison, of, style, text));
	for (size_t over = 0; over < comparison->n_schedules; over++) {
		const struct comparison_speedup *speedup =
			comparison_speedup_of(comparison, of, over);

		if (speedup)
			table_cell(table, ratio_tone(speedup->ratio), "%s",
			           quantity_ratio(speedup->ratio, style, text));
		else
			table_cell(table, TONE_DIM, "%s", style->has_unicode ? "·" : ".");
	}
}

void report_speedups(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out)
{
	struct table *table;
	char name[REPORT_NAME_BYTES];

	if (comparison->n_schedules < 2)
		return;
	table = table_new();
	report_sentence(out, TONE_PLAIN, style,
	                "Speedup of each row over each column, by total time");
	table_column(table, "", TABLE_LEFT, 0);
	for (size_t over = 0; over < comparison->n_schedules; over++)
		table_column(table, report_name(comparison, over, style, name), TABLE_RIGHT, 0);
	for (size_t of = 0; of < comparison->n_schedules; of++)
		add_ratios(table, comparison, of, style);
	table_print(table, 1, style, out);
	table_free(table);
}
