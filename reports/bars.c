/* bars.c - bars in groups, each with a mark beside it that says what others have.
 *
 * A bar's number stands in a column of its own at the right: behind the bar it would run into the
 * mark, which is hardly ever far from the bar's end. Many groups stand in two columns where there
 * is room, in the order of reading a newspaper, with one scale for both. */
#include "reports/bars.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/axis.h"
#include "reports/display.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/svg.h"

enum { TICKS = 4, GROUPS_IN_A_COLUMN = 3 };

static const double ROW = 18, BAR = 11, LABEL = 22, GAP = 8, HEAD = 18, BOTTOM = 26, DROP = 4;
/* Sums of what is whole are, within this. */
static const double ROUNDING = 1e-6;

static const double TEXT_GAP = 8, NUMBER_GAP = 12, COLUMN_GAP = 36, GUTTER_MOST = 0.4;

struct figure {
	const struct bars *bars;
	struct svg svg;
	struct axis x;
	double value_px, mark_px; /* right edges of the numbers */
	int decimals;
};

void bars_add_group(struct bars *bars, const char *format, ...)
{
	struct bar_group *groups =
		array_grow(bars->groups, &bars->capacity, bars->n_groups + 1, sizeof(*groups));
	struct bar_group *group;
	va_list args;

	if (!groups) {
		bars->is_failed = true;
		return;
	}
	bars->groups = groups;
	group = &groups[bars->n_groups++];
	*group = (struct bar_group){.n_bars = 0};
	va_start(args, format);
	vsnprintf(group->label, sizeof(group->label), format, args);
	va_end(args);
}

static struct bar *new_bar(struct bars *bars)
{
	struct bar_group *group = bars->n_groups ? &bars->groups[bars->n_groups - 1] : NULL;
	struct bar *grown = NULL;

	if (group)
		grown = array_grow(group->bars, &group->capacity, group->n_bars + 1,
		                   sizeof(*grown));
	if (!grown) {
		bars->is_failed = true;
		return &bars->spare;
	}
	group->bars = grown;
	return &grown[group->n_bars++];
}

struct bar *bars_add(struct bars *bars, const char *name, size_t colour, double value)
{
	struct bar *bar = new_bar(bars);

	*bar = (struct bar){.colour = colour, .value = value, .mark = NAN};
	snprintf(bar->name, sizeof(bar->name), "%s", name);
	return bar;
}

void bars_fini(struct bars *bars)
{
	for (size_t g = 0; g < bars->n_groups; g++)
		free(bars->groups[g].bars);
	free(bars->groups);
}

static double largest(const struct bars *bars)
{
	double most = 0;

	for (size_t g = 0; g < bars->n_groups; g++)
		for (size_t i = 0; i < bars->groups[g].n_bars; i++)
			most = fmax(most, fmax(bars->groups[g].bars[i].value,
			                       bars->groups[g].bars[i].mark));
	return most;
}

static bool is_whole(double value)
{
	return !isfinite(value) || fabs(value - round(value)) < ROUNDING;
}

/* Made-up times are whole, and read best so. */
static int decimals_of(const struct bars *bars)
{
	bool are_whole = true;

	for (size_t g = 0; g < bars->n_groups; g++)
		for (size_t i = 0; i < bars->groups[g].n_bars; i++)
			are_whole = are_whole && is_whole(bars->groups[g].bars[i].value) &&
			            is_whole(bars->groups[g].bars[i].mark);
	return are_whole ? 0 : quantity_decimals(largest(bars));
}

static double widest_name_px(const struct bars *bars)
{
	double widest = 0;

	for (size_t g = 0; g < bars->n_groups; g++)
		for (size_t i = 0; i < bars->groups[g].n_bars; i++)
			widest = fmax(widest, svg_text_width(bars->groups[g].bars[i].name));
	return widest;
}

static double group_height(const struct bar_group *group)
{
	return LABEL + ROW * (double)group->n_bars + GAP;
}

/* A number of the largest magnitude, or the head above it. */
static double number_width(const struct figure *figure, const char *head)
{
	char number[QUANTITY_BYTES];

	quantity_number(largest(figure->bars), figure->decimals, &page_style, number);
	return fmax(svg_text_width(number), svg_text_width(head));
}

static const char *mark_head(const struct bars *bars, char *out)
{
	snprintf(out, BARS_TEXT_BYTES, "◆ %s", bars->mark_head);
	return out;
}

/* Names, bars and two columns of numbers from left on. */
static void place(struct figure *figure, double left, double width)
{
	const struct bars *bars = figure->bars;
	char head[BARS_TEXT_BYTES];
	double gutter = fmin(widest_name_px(bars), GUTTER_MOST * width) + TEXT_GAP;

	figure->mark_px = left + width;
	figure->value_px =
		figure->mark_px - number_width(figure, mark_head(bars, head)) - NUMBER_GAP;
	axis_place(&figure->x, left + gutter,
	           figure->value_px - number_width(figure, bars->value_head) - NUMBER_GAP);
}

static void draw_heads(struct figure *figure)
{
	char head[BARS_TEXT_BYTES];

	svg_text(&figure->svg, "faint end", (struct svg_point){figure->value_px, 12}, "%s",
	         figure->bars->value_head);
	svg_text(&figure->svg, "faint end", (struct svg_point){figure->mark_px, 12}, "%s",
	         mark_head(figure->bars, head));
}

static void draw_name(struct figure *figure, const struct bar *bar, double left, double y)
{
	int room = (int)((figure->x.from_px - left - TEXT_GAP) / svg_text_width("0") + ROUNDING);
	struct strbuf name = {0};

	display_add_cut_middle(&name, bar->name, room, &page_style);
	svg_text(&figure->svg, "end", (struct svg_point){figure->x.from_px - TEXT_GAP, y + DROP},
	         "%s", strbuf_text(&name));
	figure->svg.out->is_failed |= name.is_failed;
	strbuf_fini(&name);
}

static void draw_bar(struct figure *figure, const struct bar *bar, double left, double y)
{
	double from = figure->x.from_px, to = axis_px(&figure->x, bar->value);
	char class[PAGE_CLASS_BYTES], value[QUANTITY_BYTES], mark[QUANTITY_BYTES];
	struct strbuf title = {0};

	quantity_number(bar->value, figure->decimals, &page_style, value);
	quantity_number(bar->mark, figure->decimals, &page_style, mark);
	draw_name(figure, bar, left, y);
	svg_rect(&figure->svg, page_class("bar", bar->colour, class),
	         (struct svg_box){from, y - BAR / 2, to - from, BAR}, NULL);
	svg_text(&figure->svg, "end", (struct svg_point){figure->value_px, y + DROP}, "%s", value);
	if (isfinite(bar->mark)) {
		strbuf_addf(&title, "%s %s%s%s", figure->bars->mark_head, mark,
		            *bar->source ? ": " : "", bar->source);
		svg_mark(&figure->svg, "beside", 0,
		         (struct svg_point){axis_px(&figure->x, bar->mark), y},
		         strbuf_text(&title));
		svg_text(&figure->svg, "end faint", (struct svg_point){figure->mark_px, y + DROP},
		         "%s", mark);
	}
	figure->svg.out->is_failed |= title.is_failed;
	strbuf_fini(&title);
}

static double draw_group(struct figure *figure, const struct bar_group *group, double left,
                         double y)
{
	svg_text(&figure->svg, "name", (struct svg_point){left, y + 14}, "%s", group->label);
	for (size_t i = 0; i < group->n_bars; i++)
		draw_bar(figure, &group->bars[i], left, y + LABEL + ROW * ((double)i + 0.5));
	return y + group_height(group);
}

static void draw_column(struct figure *figure, size_t first, size_t end, double left, double width)
{
	double y = HEAD;

	place(figure, left, width);
	draw_heads(figure);
	for (size_t g = first; g < end; g++)
		y = draw_group(figure, &figure->bars->groups[g], left, y);
	axis_draw_horizontal(&figure->x, &figure->svg, y, figure->bars->unit);
}

static double column_height(const struct bars *bars, size_t first, size_t end)
{
	double height = HEAD + BOTTOM;

	for (size_t g = first; g < end; g++)
		height += group_height(&bars->groups[g]);
	return height;
}

static void draw(const void *what, double width, struct strbuf *out)
{
	const struct bars *bars = what;
	bool has_two = !html_is_narrow(width) && bars->n_groups > GROUPS_IN_A_COLUMN;
	size_t middle = has_two ? (bars->n_groups + 1) / 2 : bars->n_groups;
	double column = has_two ? (width - COLUMN_GAP) / 2 : width;
	struct figure figure = {.bars = bars, .decimals = decimals_of(bars)};

	axis_init_rounded(&figure.x, 0, largest(bars), TICKS);
	svg_begin(&figure.svg, out, width, column_height(bars, 0, middle), bars->label);
	draw_column(&figure, 0, middle, 0, column);
	if (has_two)
		draw_column(&figure, middle, bars->n_groups, column + COLUMN_GAP, column);
	svg_end(&figure.svg);
}

void bars_figure(const struct bars *bars, struct strbuf *out)
{
	out->is_failed |= bars->is_failed;
	if (bars->n_groups > 0)
		html_figure(out, draw, bars);
}
