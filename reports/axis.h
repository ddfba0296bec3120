/* axis.h - the scale along one side of a picture: values to px, and ticks that read well. */
#ifndef REPORTS_AXIS_H
#define REPORTS_AXIS_H

#include <stddef.h>

#include "reports/svg.h"

/* low is at from_px, high at to_px; from_px is the larger one on an axis that goes up. */
struct axis {
	double low, high;
	double from_px, to_px;
	double step; /* between ticks: 1, 2 or 5 times a power of ten */
	int decimals;
};

/* From low to high, with about n_ticks. Ends that are no numbers, or no range, are replaced so that
 * there is one. */
void axis_init(struct axis *axis, double low, double high, int n_ticks);

/* The same, with high moved to the next tick. */
void axis_init_rounded(struct axis *axis, double low, double high, int n_ticks);

void axis_place(struct axis *axis, double from_px, double to_px);

/* NaN for NaN; what lies outside of the range stays outside. */
double axis_px(const struct axis *axis, double value);

/* The i-th tick; NaN: there are no more. */
double axis_tick(const struct axis *axis, int i);

/* Px that the numbers of a vertical axis take left of it. */
double axis_gutter_px(const struct axis *axis, const char *unit);

/* Lines across the picture from left to right at the ticks of a vertical axis, their numbers left
 * of it, unit ("ms") behind the highest. */
void axis_draw_vertical(const struct axis *axis, struct svg *svg, double left, double right,
                        const char *unit);

/* Ticks and numbers below y, and what they are at the right end. */
void axis_draw_horizontal(const struct axis *axis, struct svg *svg, double y, const char *what);

/* A line through n values at from, from + 1, …, thinned so that each px of width has no more than
 * its first, least, largest and last value: what is drawn looks as all of them would. Values that
 * are no numbers leave a gap. */
struct axis_series {
	const double *values;
	size_t n;
	double from;
};

void axis_draw_series(const struct axis *x, const struct axis *y, const struct axis_series *series,
                      struct svg *svg, const char *class);

#endif
