/* report_repeats.c - what repeats say about the subject's speedups: how far to trust them. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { DECIMALS_MOST = 3 };

static const struct {
	const char *title;
	size_t offset;
} columns[] = {
	{"by\ntotal", offsetof(struct comparison_speedup, ratio)},
	{"95 %\nfrom", offsetof(struct comparison_speedup, low)},
	{"\nto", offsetof(struct comparison_speedup, high)},
	{"by\nmedian", offsetof(struct comparison_speedup, steady.ratio)},
	{"95 %\nfrom", offsetof(struct comparison_speedup, steady.low)},
	{"\nto", offsetof(struct comparison_speedup, steady.high)},
	{"least\npair", offsetof(struct comparison_speedup, steady.least)},
	{"most\npair", offsetof(struct comparison_speedup, steady.most)},
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static double value_of(const struct comparison_speedup *speedup, size_t column)
{
	double value;

	memcpy(&value, (const char *)speedup + columns[column].offset, sizeof(value));
	return value;
}

bool report_is_repeated(const struct comparison *comparison,
                        const struct comparison_speedup *speedup)
{
	return speedup->of == comparison_subject(comparison) && speedup->pairs > 1 &&
	       isfinite(speedup->low);
}

/* What all rows have in common. */
struct repeats {
	int n_shown;
	int pairs; /* the fewest of a row */
	bool is_wide, has_spread;
	int decimals;
};

static struct repeats survey(const struct comparison *comparison)
{
	struct repeats out = {0};
	double largest = 0;

	for (size_t i = 0; i < comparison->n_speedups; i++) {
		const struct comparison_speedup *speedup = &comparison->speedups[i];

		if (!report_is_repeated(comparison, speedup))
			continue;
		if (out.n_shown++ == 0 || speedup->pairs < out.pairs)
			out.pairs = speedup->pairs;
		out.is_wide |= paired_is_wide(&speedup->steady);
		out.has_spread |= speedup->low < speedup->high;
		for (size_t c = 0; c < N_COLUMNS; c++) {
			double value = value_of(speedup, c);

			largest = fmax(largest, quantity_largest(&value, 1));
		}
	}
	out.decimals = quantity_decimals(largest);
	out.decimals = out.decimals > DECIMALS_MOST ? DECIMALS_MOST : out.decimals;
	return out;
}

static void add_row(struct table *table, const struct comparison *comparison,
                    const struct comparison_speedup *speedup, int decimals,
                    const struct report_style *style)
{
	char text[QUANTITY_BYTES], name[REPORT_NAME_BYTES];

	table_cell(table, TONE_PLAIN, "%s", report_name(comparison, speedup->over, style, name));
	for (size_t c = 0; c < N_COLUMNS; c++)
		table_cell(table, TONE_PLAIN, "%s",
		           quantity_number(value_of(speedup, c), decimals, style, text));
}

static void add_table(const struct comparison *comparison, int decimals,
                      const struct report_style *style, struct strbuf *out)
{
	struct table *table = table_new();

	table_column(table, "over", TABLE_LEFT, 0);
	for (size_t c = 0; c < N_COLUMNS; c++)
		table_column(table, columns[c].title, TABLE_RIGHT, 0);
	for (size_t i = 0; i < comparison->n_speedups; i++)
		if (report_is_repeated(comparison, &comparison->speedups[i]))
			add_row(table, comparison, &comparison->speedups[i], decimals, style);
	table_print(table, 1, style, out);
	table_free(table);
}

/* The table and what its columns mean. */
static void add_speedups(const struct comparison *comparison, const struct repeats *repeats,
                         const struct report_style *style, struct strbuf *out)
{
	char name[REPORT_NAME_BYTES];

	report_sentence(out, TONE_PLAIN, style, "Speedup of %s, %d pairs of interleaved repeats",
	                report_name(comparison, comparison_subject(comparison), style, name),
	                repeats->pairs);
	add_table(comparison, repeats->decimals, style, out);
	report_sentence(
		out, TONE_DIM, style,
		"By total: of the mean totals. By median: each run is one number, the median "
		"of its iterations after warm-up; the speedup is exp of the mean log ratio of "
		"the pairs. 95 %%: Student's t over the pairs' log ratios.");
	if (!repeats->has_spread)
		report_sentence(out, TONE_PLAIN, style,
		                "Every repeat gave the same: nothing in it was random.");
	if (repeats->is_wide)
		report_sentence(
			out, TONE_BAD, style,
			"Wide: %d pairs are few, so these intervals say little; --repeat %d "
			"or more make them tell.",
			repeats->pairs, PAIRED_FEW);
}

/* "zb beside itself, by median 1.003, 95 % from 0.995 to 1.011 (6 pairs): …" */
void report_control_text(const struct comparison_control *control, const struct report_style *style,
                         struct strbuf *out)
{
	const struct paired *steady = &control->steady;
	double width = paired_width_ratio(steady);
	char ratio[QUANTITY_BYTES], low[QUANTITY_BYTES], high[QUANTITY_BYTES];

	if (isnan(width))
		strbuf_addf(out, "too little of %s beside itself was run to tell anything.",
		            control->schedule);
	else if (width == 0)
		strbuf_addf(out, "%s beside itself is equal in all %d pairs.", control->schedule,
		            steady->pairs);
	else
		strbuf_addf(
			out,
			"%s beside itself, by median %s, 95 %% from %s to %s (%d pairs%s): a "
			"speedup within %.2g %% of 1 is none that can be told from chance here.",
			control->schedule,
			quantity_number(steady->ratio, DECIMALS_MOST, style, ratio),
			quantity_number(steady->low, DECIMALS_MOST, style, low),
			quantity_number(steady->high, DECIMALS_MOST, style, high), steady->pairs,
			paired_is_wide(steady) ? ", wide" : "", 100 * width);
}

static void add_control(const struct comparison_control *control, const struct report_style *style,
                        struct strbuf *out)
{
	struct strbuf text = {0};

	report_control_text(control, style, &text);
	report_sentence(out, TONE_PLAIN, style, "Control: %s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void report_repeats(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out)
{
	struct repeats repeats = survey(comparison);

	if (repeats.n_shown > 0)
		add_speedups(comparison, &repeats, style, out);
	if (comparison->control.schedule)
		add_control(&comparison->control, style, out);
}
