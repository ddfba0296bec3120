/* axis.c - the scale along one side of a picture: values to px, and ticks that read well. */
#include "reports/axis.h"

#include <math.h>
#include <stdio.h>

#include "reports/quantity.h"

enum { TICKS_MOST = 50 };

static const struct report_style style = {.has_unicode = true};

/* Beyond these a picture says nothing, and sums lose their ends. */
static const double LARGEST = 1e15, SMALLEST_RANGE = 1e-9;

static const double TICK_GAP = 6, TEXT_DROP = 4, TICK_LENGTH = 4, LABEL_DROP = 16;

/* The step of 1, 2 or 5 times a power of ten that makes about n ticks. */
static double round_step(double range, int n)
{
	double rough = range / n, power = pow(10, floor(log10(rough))), ratio = rough / power;

	return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

static double within(double value, double otherwise)
{
	return isfinite(value) && fabs(value) <= LARGEST ? value : otherwise;
}

void axis_init(struct axis *axis, double low, double high, int n_ticks)
{
	double least;

	low = within(low, 0);
	high = within(high, low + 1);
	least = fmax(SMALLEST_RANGE, fabs(low) * SMALLEST_RANGE);
	if (!(high - low > least))
		high = low + fmax(1, fabs(low));
	*axis = (struct axis){.low = low, .high = high, .to_px = 1};
	axis->step = round_step(high - low, n_ticks);
	axis->decimals = axis->step < 1 ? (int)ceil(-log10(axis->step) - SMALLEST_RANGE) : 0;
}

void axis_init_rounded(struct axis *axis, double low, double high, int n_ticks)
{
	axis_init(axis, low, high, n_ticks);
	axis->high = ceil(axis->high / axis->step - SMALLEST_RANGE) * axis->step;
}

void axis_place(struct axis *axis, double from_px, double to_px)
{
	axis->from_px = from_px;
	axis->to_px = to_px;
}

double axis_px(const struct axis *axis, double value)
{
	double ratio = (value - axis->low) / (axis->high - axis->low);

	return axis->from_px + ratio * (axis->to_px - axis->from_px);
}

double axis_tick(const struct axis *axis, int i)
{
	double first = ceil(axis->low / axis->step - SMALLEST_RANGE);
	double value = (first + i) * axis->step;

	if (i >= TICKS_MOST || value > axis->high + SMALLEST_RANGE * axis->step)
		return NAN;
	return value;
}

static void add_number(const struct axis *axis, double value, char *out)
{
	quantity_number(value, axis->decimals, &style, out);
}

double axis_gutter_px(const struct axis *axis, const char *unit)
{
	double widest = 0, value;

	for (int i = 0; isfinite(value = axis_tick(axis, i)); i++) {
		char number[QUANTITY_BYTES];

		add_number(axis, value, number);
		widest = fmax(widest, svg_text_width(number));
	}
	return widest + svg_text_width(unit) + svg_text_width(" ") + TICK_GAP;
}

void axis_draw_vertical(const struct axis *axis, struct svg *svg, double left, double right,
                        const char *unit)
{
	double value;

	svg_group(svg, "axis");
	for (int i = 0; isfinite(value = axis_tick(axis, i)); i++) {
		double y = axis_px(axis, value);
		bool is_last = isnan(axis_tick(axis, i + 1));
		char number[QUANTITY_BYTES];

		svg_line(svg, value == 0 ? "base" : "", (struct svg_point){left, y},
		         (struct svg_point){right, y}, NULL);
		add_number(axis, value, number);
		svg_text(svg, "end", (struct svg_point){left - TICK_GAP, y + TEXT_DROP}, "%s%s%s",
		         number, is_last && *unit ? " " : "", is_last ? unit : "");
	}
	svg_group_end(svg);
}

/* The number under a tick stays inside of the picture. */
static const char *anchor_of(const struct svg *svg, double x, const char *text)
{
	double half = svg_text_width(text) / 2;

	return x < half ? "" : x > svg->width - half ? "end" : "middle";
}

void axis_draw_horizontal(const struct axis *axis, struct svg *svg, double y, const char *what)
{
	double end = axis->to_px - svg_text_width(what) - TICK_GAP, value;

	svg_group(svg, "axis");
	svg_line(svg, "base", (struct svg_point){axis->from_px, y},
	         (struct svg_point){axis->to_px, y}, NULL);
	for (int i = 0; isfinite(value = axis_tick(axis, i)); i++) {
		double x = axis_px(axis, value);
		char number[QUANTITY_BYTES];

		svg_line(svg, "", (struct svg_point){x, y}, (struct svg_point){x, y + TICK_LENGTH},
		         NULL);
		add_number(axis, value, number);
		if (x + svg_text_width(number) / 2 <= end)
			svg_text(svg, anchor_of(svg, x, number),
			         (struct svg_point){x, y + LABEL_DROP}, "%s", number);
	}
	svg_text(svg, "end", (struct svg_point){axis->to_px, y + LABEL_DROP}, "%s", what);
	svg_group_end(svg);
}

/* What one px of a series holds. */
struct column {
	size_t first, least, most, last;
};

static void widen(struct column *column, const double *values, size_t i)
{
	if (values[i] < values[column->least])
		column->least = i;
	if (values[i] > values[column->most])
		column->most = i;
	column->last = i;
}

static void draw_column(const struct axis *x, const struct axis *y,
                        const struct axis_series *series, const struct column *column,
                        struct svg *svg)
{
	size_t early = column->least < column->most ? column->least : column->most;
	size_t late = column->least < column->most ? column->most : column->least;
	const size_t order[] = {column->first, early, late, column->last};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (i > 0 && order[i] == order[i - 1])
			continue;
		svg_path_to(svg, (struct svg_point){
					 axis_px(x, series->from + (double)order[i]),
					 axis_px(y, series->values[order[i]]),
				 });
	}
}

void axis_draw_series(const struct axis *x, const struct axis *y, const struct axis_series *series,
                      struct svg *svg, const char *class)
{
	size_t next;

	svg_path(svg, class);
	for (size_t i = 0; i < series->n; i = next) {
		struct column column = {i, i, i, i};
		double px = floor(axis_px(x, series->from + (double)i));

		next = i + 1;
		if (!isfinite(series->values[i])) {
			svg_path_to(svg, (struct svg_point){NAN, NAN});
			continue;
		}
		for (; next < series->n && isfinite(series->values[next]) &&
		       floor(axis_px(x, series->from + (double)next)) == px;
		     next++)
			widen(&column, series->values, next);
		draw_column(x, y, series, &column, svg);
	}
	svg_path_end(svg, NULL);
}
