/* page_dots.c - numbers of every schedule beside what they should be: a row a thing, a mark a
 * schedule. */
#include "reports/page_dots.h"

#include <math.h>
#include <stdio.h>

#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum { TICKS_WIDE = 8, TICKS_NARROW = 4 };

static const double RIGHT = 14, TEXT_GAP = 8, ROW = 22, TOP = 8, BOTTOM = 24, MARK = 11;

/* Labels leave so much of a picture to the marks. */
static const double GUTTER_MOST = 0.45;

struct figure {
	const struct page_dots *dots;
	struct svg svg;
	struct axis x;
	double row_px;
};

static size_t n_schedules(const struct page_dots *dots)
{
	return dots->page->comparison->n_schedules;
}

static bool has_number(const struct page_dots *dots, const struct page_dots_row *row)
{
	if (isfinite(row->wanted) && row->wanted != 0)
		return true;
	for (size_t s = 0; s < n_schedules(dots); s++)
		if (isfinite(row->values[s]))
			return true;
	return false;
}

bool page_dots_has_numbers(const struct page_dots *dots)
{
	for (size_t i = 0; i < dots->n_rows; i++)
		if (has_number(dots, &dots->rows[i]))
			return true;
	return false;
}

static void widen(struct axis *x, double value)
{
	if (!isfinite(value))
		return;
	x->low = fmin(x->low, value);
	x->high = fmax(x->high, value);
}

/* From zero, or below, to the largest. */
static void init_axis(struct figure *figure, bool is_narrow)
{
	const struct page_dots *dots = figure->dots;
	struct axis range = {0};

	for (size_t i = 0; i < dots->n_rows; i++) {
		widen(&range, dots->rows[i].wanted);
		for (size_t s = 0; s < n_schedules(dots); s++)
			widen(&range, dots->rows[i].values[s]);
	}
	axis_init_rounded(&figure->x, range.low, range.high, is_narrow ? TICKS_NARROW : TICKS_WIDE);
	if (range.low < 0)
		figure->x.low = floor(figure->x.low / figure->x.step) * figure->x.step;
}

static double gutter_px(const struct page_dots *dots, double width)
{
	double widest = 0;

	for (size_t i = 0; i < dots->n_rows; i++)
		widest = fmax(widest, svg_text_width(dots->rows[i].label));
	return fmin(widest + TEXT_GAP, GUTTER_MOST * width);
}

/* Marks stand under one another, or they would hide each other. */
static void draw_marks(struct figure *figure, const struct page_dots_row *row, double y)
{
	const struct page_dots *dots = figure->dots;
	char class[PAGE_CLASS_BYTES], text[QUANTITY_BYTES], title[PAGE_DOTS_BYTES];
	size_t n = n_schedules(dots);

	for (size_t s = 0; s < n; s++) {
		double offset = MARK * ((double)s - (double)(n - 1) / 2);
		int decimals = quantity_decimals(row->values[s]);

		snprintf(title, sizeof(title), "%.60s: %.40s %s",
		         dots->page->comparison->schedules[s].name,
		         quantity_number(row->values[s], decimals, &page_style, text), dots->unit);
		svg_mark(&figure->svg, page_class("mark", s, class), (int)(s % SVG_MARKS),
		         (struct svg_point){axis_px(&figure->x, row->values[s]), y + offset},
		         title);
	}
}

static void draw_row(struct figure *figure, const struct page_dots_row *row, double y)
{
	double wanted = axis_px(&figure->x, row->wanted), half = figure->row_px / 2;
	const struct axis *x = &figure->x;
	int room = (int)((x->from_px - TEXT_GAP) / svg_text_width("0"));
	struct strbuf label = {0};

	display_add_cut_middle(&label, row->label, room, &page_style);
	svg_line(&figure->svg, "row", (struct svg_point){x->from_px, y + half},
	         (struct svg_point){x->to_px, y + half}, NULL);
	svg_text(&figure->svg, "end", (struct svg_point){x->from_px - TEXT_GAP, y + 4}, "%s",
	         strbuf_text(&label));
	svg_line(&figure->svg, "asked", (struct svg_point){wanted, y - half + 2},
	         (struct svg_point){wanted, y + half - 2}, figure->dots->wanted);
	draw_marks(figure, row, y);
	figure->svg.out->is_failed |= label.is_failed;
	strbuf_fini(&label);
}

void page_dots_draw(const struct page_dots *dots, double width, struct strbuf *out)
{
	struct figure figure = {
		.dots = dots,
		.row_px = fmax(ROW, MARK * (double)n_schedules(dots) + 6),
	};
	double y = TOP + figure.row_px / 2;
	size_t n = 0;

	for (size_t i = 0; i < dots->n_rows; i++)
		n += has_number(dots, &dots->rows[i]);
	svg_begin(&figure.svg, out, width, TOP + (double)n * figure.row_px + BOTTOM, dots->label);
	init_axis(&figure, html_is_narrow(width));
	axis_place(&figure.x, gutter_px(dots, width), width - RIGHT);
	for (size_t i = 0; i < dots->n_rows; i++) {
		if (!has_number(dots, &dots->rows[i]))
			continue;
		draw_row(&figure, &dots->rows[i], y);
		y += figure.row_px;
	}
	axis_draw_horizontal(&figure.x, &figure.svg, y - figure.row_px / 2, dots->unit);
	svg_end(&figure.svg);
}

void page_dots_key(const struct page *page, struct strbuf *out)
{
	static const char *const signs[SVG_MARKS] = {"◇", "□", "△", "▽", "⬡"};

	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		strbuf_addf(out, "%s%s %s", s ? ", " : "", signs[s % SVG_MARKS],
		            page->comparison->schedules[s].name);
}
