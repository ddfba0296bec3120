/* reports_svg.c - pictures: every shape as it is written, ticks that read well, and no spike lost.
 */
#include "reports/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/axis.h"
#include "tests/markup_check.h"
#include "tests/tap.h"

enum { MANY = 100000 };

static void draw_shapes(struct svg *svg)
{
	svg_group(svg, "a b");
	svg_rect(svg, "bar", (struct svg_box){1.26, 2, 30, 4.5}, "a & b < \"c\"");
	svg_rect(svg, NULL, (struct svg_box){150, -5, 100, 20}, NULL);
	svg_line(svg, "", (struct svg_point){0, 0}, (struct svg_point){1e9, 50}, NULL);
	svg_group_end(svg);
	svg_text(svg, "end", (struct svg_point){10, 20}, "<%s>", "\033é\xff");
	for (int kind = 0; kind <= SVG_MARKS; kind++)
		svg_mark(svg, "mark", kind, (struct svg_point){20.0 * kind, 40}, NULL);
	svg_path(svg, "line");
	svg_path_to(svg, (struct svg_point){1, 2});
	svg_path_to(svg, (struct svg_point){3, 4});
	svg_path_to(svg, (struct svg_point){NAN, 4});
	svg_path_to(svg, (struct svg_point){5, 6});
	svg_path_end(svg, "a line and a dot");
}

static void draw_figure(struct svg *svg)
{
	static const double values[] = {3, 1, 4, 1, 5, NAN, 9, 2, 6};
	const struct axis_series series = {values, sizeof(values) / sizeof(values[0]), 0};
	struct axis x, y;

	axis_init(&x, 0, 8, 4);
	axis_place(&x, 40, 190);
	axis_init_rounded(&y, 0, 9, 3);
	axis_place(&y, 80, 10);
	axis_draw_vertical(&y, svg, x.from_px, x.to_px, "ms");
	axis_draw_horizontal(&x, svg, y.from_px, "iteration");
	axis_draw_series(&x, &y, &series, svg, "line");
}

static void test_golden(void)
{
	struct strbuf out = {0};
	struct svg svg;

	svg_begin(&svg, &out, 200, 50, "all shapes & marks");
	draw_shapes(&svg);
	svg_end(&svg);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/shapes.svg",
	              "shapes are written as they were");
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL,
	           "well-formed, and inside of the picture");
	strbuf_clear(&out);
	svg_begin(&svg, &out, 200, 100, "a figure");
	draw_figure(&svg);
	svg_end(&svg);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/figure.svg",
	              "axes and a line are drawn as they were");
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL,
	           "well-formed, and inside of the picture");
	strbuf_fini(&out);
}

static void test_no_numbers(void)
{
	struct strbuf out = {0};
	struct svg svg;

	svg_begin(&svg, &out, 100, 100, "");
	strbuf_clear(&out);
	svg_rect(&svg, NULL, (struct svg_box){NAN, 0, 1, 1}, NULL);
	svg_rect(&svg, NULL, (struct svg_box){0, 0, -1, 1}, NULL);
	svg_line(&svg, NULL, (struct svg_point){0, INFINITY}, (struct svg_point){1, 1}, NULL);
	svg_text(&svg, NULL, (struct svg_point){NAN, 1}, "text");
	svg_mark(&svg, NULL, 0, (struct svg_point){1, NAN}, NULL);
	tap_is_str(strbuf_text(&out), "", "a shape without numbers is left out");
	strbuf_fini(&out);
}

static void ticks(double low, double high, int n, const char *want)
{
	struct strbuf out = {0};
	struct axis axis;
	double value;

	axis_init(&axis, low, high, n);
	for (int i = 0; isfinite(value = axis_tick(&axis, i)); i++)
		strbuf_addf(&out, "%s%.*f", i ? " " : "", axis.decimals, value);
	tap_is_str(strbuf_text(&out), want, "ticks from %g to %g", low, high);
	strbuf_fini(&out);
}

static void test_ticks(void)
{
	ticks(0, 1199, 6, "0 200 400 600 800 1000");
	ticks(0, 3.2, 4, "0 1 2 3");
	ticks(0.37, 0.42, 5, "0.37 0.38 0.39 0.40 0.41 0.42");
	ticks(-3, 3, 3, "-2 0 2");
	ticks(0, 0.0004, 4, "0.0000 0.0001 0.0002 0.0003 0.0004");
	ticks(5, 5, 4, "6 8 10");
	ticks(NAN, NAN, 2, "0.0 0.5 1.0");
	ticks(0, INFINITY, 2, "0.0 0.5 1.0");
	ticks(1e15, -1e300, 2, "1000000000000000 1500000000000000 2000000000000000");
}

static void test_rounded(void)
{
	struct axis axis;

	axis_init_rounded(&axis, 0, 3289, 4);
	tap_is_number(axis.high, 4000, 0, "an axis ends at a tick");
	axis_place(&axis, 200, 0);
	tap_is_number(axis_px(&axis, 1000), 150, 1e-9, "and maps values to px");
	tap_ok(isnan(axis_px(&axis, NAN)), "but not what is no number");
	tap_ok(axis_gutter_px(&axis, "ms") > svg_text_width("4,000 ms"),
	       "its numbers have room beside it");
	axis_init_rounded(&axis, 0, 2000, 4);
	tap_is_number(axis.high, 2000, 0, "one that ends at a tick stays");
}

/* Among a hundred thousand equal values one is larger and one smaller. */
static void test_thinning(void)
{
	double *values = malloc(MANY * sizeof(*values));
	const struct axis_series series = {values, MANY, 0};
	struct strbuf out = {0};
	struct svg svg;
	struct axis x, y;

	if (!values)
		abort();
	for (int i = 0; i < MANY; i++)
		values[i] = 50;
	values[40321] = 100;
	values[77777] = 0;
	axis_init(&x, 0, MANY - 1, 4);
	axis_place(&x, 0, 500);
	axis_init(&y, 0, 100, 4);
	axis_place(&y, 100, 0);
	svg_begin(&svg, &out, 500, 100, "");
	axis_draw_series(&x, &y, &series, &svg, "line");
	svg_end(&svg);
	tap_ok(out.length < 500 * 4 * 12, "no more than four points a px: %zu bytes", out.length);
	tap_contains(strbuf_text(&out), "L201.6 0L", "the one spike is there");
	tap_contains(strbuf_text(&out), "L388.9 100L", "and the one dip");
	strbuf_fini(&out);
	free(values);
}

static void test_checker(void)
{
	static const char *const bad[] = {
		"<a>",
		"<a></b>",
		"</a>",
		"<a b=c/>",
		"<a b=\"1\" b=\"2\"/>",
		"a & b",
		"<a b=\"<\"/>",
		"\x01",
		"\xff",
		"<a",
		"&nbsp;",
		"\xef\xbf\xbf",
		"<a b=\"x",
		"< a/>",
		"<svg viewBox=\"0 0 10 10\"><rect x=\"11\"/></svg>",
		"<svg viewBox=\"0 0 10 10\"><rect x=\"-1\"/></svg>",
		"<svg viewBox=\"0 0 10 10\"><rect x=\"nan\"/></svg>",
		"<svg viewBox=\"0 0 10 10\"><path d=\"M1 11\"/></svg>",
		"<svg viewBox=\"0 0 10 10\"><path d=\"M1\"/></svg>",
		"<svg viewBox=\"0 0 10 10\"><line y2=\"inf\"/></svg>",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		tap_ok(markup_complaint(bad[i]) != NULL, "the checker refuses bad text %zu", i);
	tap_is_str(markup_complaint("<!DOCTYPE html>\n<a b=\"1\"><svg viewBox=\"0 0 9 9\"><path "
	                            "d=\"M1 2L3 4h0Z\"/></svg>é &amp;</a>"),
	           NULL, "and takes what is good");
}

int main(void)
{
	test_golden();
	test_no_numbers();
	test_ticks();
	test_rounded();
	test_thinning();
	test_checker();
	return tap_done();
}
