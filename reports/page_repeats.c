/* page_repeats.c - what repeats say about the subject's speedups, and the control about chance: a
 * row a pair of schedules, its interval beside the line of no difference. */
#include <math.h>
#include <stdio.h>

#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum { TICKS_WIDE = 8, TICKS_NARROW = 4, DECIMALS = 3 };

static const double RIGHT = 14, TEXT_GAP = 8, ROW = 26, TOP = 6, BOTTOM = 24, CAP = 5, DROP = 4;

struct figure {
	const struct comparison *comparison;
	struct svg svg;
	struct axis x;
	double y; /* of the row that comes next */
};

typedef void row_visit(struct figure *figure, const char *name, size_t schedule,
                       const struct paired *steady);

static bool has_interval(const struct paired *paired)
{
	return isfinite(paired->low) && isfinite(paired->high);
}

/* Every speedup of the subject's, then the control. */
static void each_row(struct figure *figure, row_visit *visit)
{
	const struct comparison *comparison = figure->comparison;
	const struct comparison_control *control = &comparison->control;
	char name[REPORT_NAME_BYTES + 16], schedule[REPORT_NAME_BYTES];

	for (size_t i = 0; i < comparison->n_speedups; i++) {
		const struct comparison_speedup *speedup = &comparison->speedups[i];

		if (!report_is_repeated(comparison, speedup) || !has_interval(&speedup->steady))
			continue;
		snprintf(name, sizeof(name), "over %s",
		         report_name(comparison, speedup->over, &page_style, schedule));
		visit(figure, name, speedup->over, &speedup->steady);
	}
	if (control->schedule && has_interval(&control->steady))
		visit(figure, "control", comparison->n_schedules, &control->steady);
}

static void widen(struct figure *figure, const char *name, size_t schedule,
                  const struct paired *steady)
{
	(void)schedule;
	figure->x.low = fmin(figure->x.low, fmin(steady->low, steady->least));
	figure->x.high = fmax(figure->x.high, fmax(steady->high, steady->most));
	figure->x.from_px = fmax(figure->x.from_px, svg_text_width(name) + TEXT_GAP);
	figure->y += ROW;
}

static void draw_cap(struct figure *figure, const char *class, double ratio)
{
	double x = axis_px(&figure->x, ratio);

	svg_line(&figure->svg, class, (struct svg_point){x, figure->y - CAP},
	         (struct svg_point){x, figure->y + CAP}, NULL);
}

static void draw_row(struct figure *figure, const char *name, size_t schedule,
                     const struct paired *steady)
{
	char class[PAGE_CLASS_BYTES], ratio[QUANTITY_BYTES], title[QUANTITY_BYTES + 8];
	double low = axis_px(&figure->x, steady->low), high = axis_px(&figure->x, steady->high);

	svg_text(&figure->svg, "end",
	         (struct svg_point){figure->x.from_px - TEXT_GAP, figure->y + DROP}, "%s", name);
	svg_line(&figure->svg, page_class("interval", schedule, class),
	         (struct svg_point){low, figure->y}, (struct svg_point){high, figure->y}, NULL);
	draw_cap(figure, class, steady->low);
	draw_cap(figure, class, steady->high);
	page_class("pair", schedule, class);
	draw_cap(figure, class, steady->least);
	draw_cap(figure, class, steady->most);
	snprintf(title, sizeof(title), "%s times",
	         quantity_number(steady->ratio, DECIMALS, &page_style, ratio));
	svg_mark(&figure->svg, page_class("mark", schedule, class), 0,
	         (struct svg_point){axis_px(&figure->x, steady->ratio), figure->y}, title);
	figure->y += ROW;
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	struct figure figure = {
		.comparison = page->comparison, .x = {.low = 1, .high = 1}, .y = TOP};
	double bottom, left;

	each_row(&figure, widen);
	bottom = figure.y;
	left = fmin(figure.x.from_px, width / 2);
	svg_begin(&figure.svg, out, width, bottom + BOTTOM,
	          "Speedups by median with their intervals, beside the line of no difference");
	axis_init(&figure.x, figure.x.low, figure.x.high,
	          html_is_narrow(width) ? TICKS_NARROW : TICKS_WIDE);
	axis_place(&figure.x, left, width - RIGHT);
	svg_line(&figure.svg, "asked", (struct svg_point){axis_px(&figure.x, 1), TOP},
	         (struct svg_point){axis_px(&figure.x, 1), bottom}, "no difference");
	figure.y = TOP + ROW / 2;
	each_row(&figure, draw_row);
	axis_draw_horizontal(&figure.x, &figure.svg, bottom, "times faster");
	svg_end(&figure.svg);
}

static void add_interval(const struct paired *paired, struct strbuf *out)
{
	char ratio[QUANTITY_BYTES], low[QUANTITY_BYTES], high[QUANTITY_BYTES];

	html_cell(out, "n strong", "%s",
	          quantity_number(paired->ratio, DECIMALS, &page_style, ratio));
	html_cell(out, "n", "%s to %s", quantity_number(paired->low, DECIMALS, &page_style, low),
	          quantity_number(paired->high, DECIMALS, &page_style, high));
}

static void add_row(const struct comparison *comparison, const struct comparison_speedup *speedup,
                    struct strbuf *out)
{
	const struct paired total = {
		.ratio = speedup->ratio, .low = speedup->low, .high = speedup->high};
	const struct paired *steady = &speedup->steady;
	char least[QUANTITY_BYTES], most[QUANTITY_BYTES];

	html_row(out);
	html_row_head(out, "", "%s", comparison->schedules[speedup->over].name);
	add_interval(steady, out);
	html_cell(out, "n", "%s to %s",
	          quantity_number(steady->least, DECIMALS, &page_style, least),
	          quantity_number(steady->most, DECIMALS, &page_style, most));
	add_interval(&total, out);
	html_cell(out, paired_is_wide(steady) ? "n bad" : "n", "%d%s", steady->pairs,
	          paired_is_wide(steady) ? ", wide" : "");
	html_row_end(out);
}

static void add_table(const struct comparison *comparison, struct strbuf *out)
{
	html_table(out, "Speedups over pairs of repeats");
	html_head(out, "", "over");
	html_head(out, "n", "by median");
	html_head(out, "n", "95 %%");
	html_head(out, "n", "least to most pair");
	html_head(out, "n", "by total");
	html_head(out, "n", "95 %%");
	html_head(out, "n", "pairs");
	html_rows(out);
	for (size_t i = 0; i < comparison->n_speedups; i++)
		if (report_is_repeated(comparison, &comparison->speedups[i]))
			add_row(comparison, &comparison->speedups[i], out);
	html_table_end(out);
}

static bool has_repeats(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_speedups; i++)
		if (report_is_repeated(comparison, &comparison->speedups[i]))
			return true;
	return false;
}

static void add_control(const struct comparison_control *control, struct strbuf *out)
{
	struct strbuf text = {0};

	report_control_text(control, &page_style, &text);
	html_sentence(out, NULL, "Control: %s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void page_repeats(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	char name[REPORT_NAME_BYTES];

	if (has_repeats(comparison)) {
		html_sentence(
			out, "caption",
			"Speedups of %s. Each run is one number, the median of its iterations "
			"after warm-up; a diamond is the mean of the pairs of interleaved repeats, "
			"the line through it its 95 %% interval, the thin marks the least and the "
			"most pair. What keeps clear of the upright line%s is more than chance.",
			page_name(page, comparison_subject(comparison), name),
			comparison->control.schedule ? ", and of the control's interval," : "");
		page_figure(page, out, draw);
		add_table(comparison, out);
	}
	if (comparison->control.schedule)
		add_control(&comparison->control, out);
}
