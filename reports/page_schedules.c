/* page_schedules.c - the numbers of every schedule, and of every pair. */
#include <math.h>

#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

static const double PERCENT = 100;

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

static const struct {
	const char *title;
	double (*value)(const struct comparison_schedule *schedule);
	int decimals_most;
} columns[] = {
	{"p50, ms", p50, 4},      {"p95, ms", p95, 4},        {"samples/s", samples, 4},
	{"bubble, %", bubble, 1}, {"blocked, %", blocked, 1}, {"restarts", restarts, 0},
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static int column_decimals(const struct comparison *comparison, size_t c)
{
	double largest = 0;
	int decimals;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		double value = columns[c].value(&comparison->schedules[i]);

		largest = fmax(largest, quantity_largest(&value, 1));
	}
	decimals = quantity_decimals(largest);
	return decimals < columns[c].decimals_most ? decimals : columns[c].decimals_most;
}

static double largest_total_s(const struct comparison *comparison)
{
	double largest = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		largest = fmax(largest, quantity_largest(&comparison->schedules[i].total_s, 1));
	return largest;
}

/* The total, and how many times the subject's it is. */
static void add_total(const struct page *page, size_t i, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	const struct comparison_schedule *schedule = &comparison->schedules[i];
	const struct comparison_speedup *speedup =
		comparison_speedup_of(comparison, comparison_subject(comparison), i);
	char text[QUANTITY_BYTES];

	html_cell(out, comparison_is_done(schedule) ? "n strong" : "n bad", "%s%s",
	          comparison_is_done(schedule) || !isfinite(schedule->total_s) ? "" : "≥ ",
	          quantity_span(schedule->total_s, largest_total_s(comparison), &page_style, text));
	if (comparison->n_schedules > 1)
		html_cell(out, "n faint", "%s",
		          speedup ? quantity_ratio(speedup->ratio, &page_style, text) : "");
}

static void add_row(const struct page *page, size_t i, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	const struct comparison_schedule *schedule = &comparison->schedules[i];
	char text[QUANTITY_BYTES];

	html_row(out);
	html_row_head(out, i == comparison_subject(comparison) ? "strong" : "", "%s",
	              schedule->name);
	add_total(page, i, out);
	for (size_t c = 0; c < N_COLUMNS; c++) {
		double value = columns[c].value(schedule);
		bool is_bad = columns[c].value == restarts && value > 0;

		html_cell(out, is_bad ? "n bad" : "n", "%s",
		          quantity_number(value, column_decimals(comparison, c), &page_style,
		                          text));
	}
	html_row_end(out);
}

static void add_table(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	size_t subject = comparison_subject(comparison);

	html_table(out, "Numbers of every schedule");
	html_head(out, "", "schedule");
	html_head(out, "n", "total");
	if (comparison->n_schedules > 1)
		html_head(out, "n", "times %s's", comparison->schedules[subject].name);
	for (size_t c = 0; c < N_COLUMNS; c++)
		html_head(out, "n", "%s", columns[c].title);
	html_rows(out);
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_row(page, i, out);
	html_table_end(out);
}

/* "… took 118.7 s of 1f1b's total, 115.7 s of zb's." */
static void add_restarts(const struct comparison *comparison, struct strbuf *out)
{
	struct strbuf text = {0};
	char span[QUANTITY_BYTES];

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];
		double s = schedule->repeated_s;

		if (schedule->n_restarts > 0 && isfinite(s))
			strbuf_addf(&text, "%s %s of %s's%s", text.length ? "," : "",
			            quantity_span(s, s, &page_style, span), schedule->name,
			            text.length ? "" : " total");
	}
	if (text.length > 0)
		html_sentence(out, "dim", "Restarts and the iterations that they repeated took%s.",
		              strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_replans(const struct comparison *comparison, struct strbuf *out)
{
	struct strbuf text = {0};

	report_replans(comparison, &page_style, &text);
	if (text.length > 0)
		html_sentence(out, "dim", "%s.", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

/* One sentence for all schedules that had to share the machine. */
static void add_crowd(const struct comparison *comparison, struct strbuf *out)
{
	struct strbuf names = {0};
	double most = 0;
	char number[QUANTITY_BYTES];

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];

		if (!schedule->has_facts || !comparison_is_crowded(schedule->facts.foreign_cores))
			continue;
		most = fmax(most, schedule->facts.foreign_cores);
		strbuf_addf(&names, "%s%s", names.length ? ", " : "", schedule->name);
	}
	if (names.length > 0)
		html_sentence(out, "warning",
		              "Other programs kept up to %s cores busy meanwhile (%s): times are "
		              "longer than on a free machine.",
		              quantity_number(most, 2, &page_style, number), strbuf_text(&names));
	out->is_failed |= names.is_failed;
	strbuf_fini(&names);
}

static void add_meanings(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	char number[QUANTITY_BYTES];

	add_crowd(comparison, out);
	add_restarts(comparison, out);
	add_replans(comparison, out);
	html_sentence(out, "dim",
	              "Bubble: share of stage time in which no op ran; blocked: the part of it in "
	              "which an op could have run but a transfer held the device's queue. p50, p95 "
	              "and shares leave out the warm-up, %s iteration%s.",
	              quantity_count(comparison->n_warmup, number),
	              comparison->n_warmup == 1 ? "" : "s");
}

static void add_speedup_cell(const struct comparison *comparison, size_t of, size_t over,
                             struct strbuf *out)
{
	const struct comparison_speedup *speedup = comparison_speedup_of(comparison, of, over);
	char ratio[QUANTITY_BYTES], low[QUANTITY_BYTES], high[QUANTITY_BYTES];

	if (!speedup)
		html_cell(out, "n faint", "·");
	else if (isfinite(speedup->low) && isfinite(speedup->high))
		html_cell(out, "n", "%s (%s to %s)",
		          quantity_ratio(speedup->ratio, &page_style, ratio),
		          quantity_ratio(speedup->low, &page_style, low),
		          quantity_ratio(speedup->high, &page_style, high));
	else
		html_cell(out, "n", "%s", quantity_ratio(speedup->ratio, &page_style, ratio));
}

static void add_speedups(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	html_heading(out, "Speedup of each row over each column, by total time");
	html_table(out, "Speedup of every schedule over every other");
	html_head(out, "", "schedule");
	for (size_t over = 0; over < comparison->n_schedules; over++)
		html_head(out, "n", "%s", comparison->schedules[over].name);
	html_rows(out);
	for (size_t of = 0; of < comparison->n_schedules; of++) {
		html_row(out);
		html_row_head(out, of == comparison_subject(comparison) ? "strong" : "", "%s",
		              comparison->schedules[of].name);
		for (size_t over = 0; over < comparison->n_schedules; over++)
			add_speedup_cell(comparison, of, over, out);
		html_row_end(out);
	}
	html_table_end(out);
	if (comparison->schedules[0].n_repeats > 1)
		html_sentence(out, "dim",
		              "In brackets: 95 %% confidence, paired t over the logarithms of the "
		              "repeats' ratios.");
}

void page_schedules(const struct page *page, struct strbuf *out)
{
	if (page->comparison->n_schedules == 0)
		return;
	add_table(page, out);
	add_meanings(page, out);
	if (page->comparison->n_schedules > 1)
		add_speedups(page, out);
}
