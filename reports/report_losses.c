/* report_losses.c - the losses of live runs: from where to where, and whether all have the same. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

/* A curve between the smallest and the largest loss of all. */
struct curve {
	const struct comparison *comparison;
	const struct report_style *style;
	int gutter, width;
	double low, high;
};

static double column_mean(const struct curve *curve, const double *loss, int column)
{
	int n_iterations = curve->comparison->n_iterations_asked;
	int first = (int)((int64_t)column * n_iterations / curve->width);
	int end = (int)((int64_t)(column + 1) * n_iterations / curve->width);
	double sum = 0;
	int n = 0;

	for (int i = first; i < end || i == first; i++) {
		if (!isfinite(loss[i]))
			continue;
		sum += loss[i];
		n++;
	}
	return n ? sum / n : NAN;
}

/* The smallest loss is the lowest mark, so that what is missing stays blank. */
static int height(const struct curve *curve, double loss)
{
	double ratio = (loss - curve->low) / (curve->high - curve->low);

	if (!isfinite(loss))
		return 0;
	return isfinite(ratio) ? 1 + (int)lround(ratio * (REPORT_LEVELS - 1)) : 1;
}

static void widen(struct curve *curve, const double *loss)
{
	for (int c = 0; c < curve->width; c++) {
		double mean = column_mean(curve, loss, c);

		if (!isfinite(mean))
			continue;
		curve->low = fmin(curve->low, mean);
		curve->high = fmax(curve->high, mean);
	}
}

static void draw(const struct curve *curve, const char *name, const double *loss, enum tone tone,
                 struct strbuf *out)
{
	int blanks = curve->gutter + 2 - display_width(name, curve->style);

	display_add(out, name, curve->style);
	display_begin(out, tone, curve->style);
	for (int c = 0; c < curve->width; c++) {
		int level = height(curve, column_mean(curve, loss, c));

		if (level == 0) {
			blanks++;
			continue;
		}
		strbuf_addf(out, "%*s%s", blanks, "", report_level(level, curve->style));
		blanks = 0;
	}
	display_end(out, tone, curve->style);
	strbuf_add_char(out, '\n');
}

static bool has_losses(const struct comparison_schedule *schedule)
{
	return schedule->n_losses > 0;
}

/* One row when all are the same, else one a schedule. */
static void draw_curves(const struct comparison *comparison, const struct comparison_loss *loss,
                        const struct report_style *style, struct strbuf *out)
{
	struct curve curve = {comparison, style, report_gutter(comparison, style), .low = INFINITY,
	                      .high = -INFINITY};
	char name[REPORT_NAME_BYTES];

	curve.width = display_columns(style) - curve.gutter - 2;
	widen(&curve, loss->loss);
	for (size_t i = 0; !loss->is_equal && i < comparison->n_schedules; i++)
		if (has_losses(&comparison->schedules[i]))
			widen(&curve, comparison->schedules[i].losses[0].loss);
	if (!(curve.low < curve.high))
		return; /* there is no curve to see */
	if (loss->is_equal)
		draw(&curve, "loss", loss->loss, TONE_PLAIN, out);
	for (size_t i = 0; !loss->is_equal && i < comparison->n_schedules; i++)
		if (has_losses(&comparison->schedules[i]))
			draw(&curve, report_name(comparison, i, style, name),
			     comparison->schedules[i].losses[0].loss, TONE_BAD, out);
}

static char *loss_text(double loss, double first, const struct report_style *style, char *out)
{
	return quantity_number(loss, quantity_decimals(first), style, out);
}

static void say(const struct comparison *comparison, const struct comparison_loss *loss,
                const struct report_style *style, struct strbuf *out)
{
	char first[QUANTITY_BYTES], last[QUANTITY_BYTES], count[QUANTITY_BYTES];
	const char *equal = "";

	if (loss->is_equal && loss->n_compared > 0)
		equal = comparison->n_schedules > 1 ? ", bit for bit equal under all schedules"
		                                    : ", bit for bit equal in all repeats";
	report_sentence(out, loss->is_equal ? TONE_PLAIN : TONE_BAD, style,
	                "Loss %s %s %s over %s iteration%s%s",
	                loss_text(loss->first, loss->first, style, first),
	                style->has_unicode ? "→" : "->",
	                loss_text(loss->last, loss->first, style, last),
	                quantity_count(loss->n_iterations, count),
	                loss->n_iterations == 1 ? "" : "s", equal);
}

void report_losses(const struct comparison *comparison, const struct report_style *style,
                   struct strbuf *out)
{
	struct comparison_loss loss = comparison_loss_of(comparison);
	struct strbuf sentence = {0};

	if (!loss.loss && loss.is_equal)
		return;
	if (loss.loss)
		say(comparison, &loss, style, out);
	if (!comparison_losses_agree(comparison, &sentence))
		report_sentence(out, TONE_BAD, style, "Failed: %s.", strbuf_text(&sentence));
	out->is_failed |= sentence.is_failed;
	strbuf_fini(&sentence);
	if (loss.loss)
		draw_curves(comparison, &loss, style, out);
}
