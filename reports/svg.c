/* svg.c - pictures: a few shapes, written as SVG. */
#include "reports/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/display.h"
#include "reports/markup.h"

/* Tenths of a px are finer than any screen. */
static const double PRECISION = 10;

/* Of a digit in page.css's small type and the widest of its fonts, DejaVu Sans. */
static const double GLYPH_PX = 7.4;

static double clamped(double value, double most)
{
	return value < 0 ? 0 : value > most ? most : value;
}

static double x_of(const struct svg *svg, double x)
{
	return clamped(x, svg->width);
}

static double y_of(const struct svg *svg, double y)
{
	return clamped(y, svg->height);
}

static bool is_drawable(struct svg_point at)
{
	return isfinite(at.x) && isfinite(at.y);
}

/* As short as can be: pictures are mostly numbers. */
static void add_number(const struct svg *svg, double value)
{
	long tenths = lround(value * PRECISION);

	if (tenths % (long)PRECISION)
		strbuf_addf(svg->out, "%.1f", (double)tenths / PRECISION);
	else
		strbuf_addf(svg->out, "%ld", tenths / (long)PRECISION);
}

static void add_attribute(const struct svg *svg, const char *name, double value)
{
	strbuf_addf(svg->out, " %s=\"", name);
	add_number(svg, value);
	strbuf_add_char(svg->out, '"');
}

static void open_shape(const struct svg *svg, const char *element, const char *class)
{
	strbuf_addf(svg->out, "<%s", element);
	if (class && *class) {
		strbuf_add(svg->out, " class=\"");
		markup_add(svg->out, class);
		strbuf_add_char(svg->out, '"');
	}
}

static void close_shape(const struct svg *svg, const char *element, const char *title)
{
	if (!title) {
		strbuf_add(svg->out, "/>\n");
		return;
	}
	strbuf_add(svg->out, "><title>");
	markup_add(svg->out, title);
	strbuf_addf(svg->out, "</title></%s>\n", element);
}

void svg_begin(struct svg *svg, struct strbuf *out, double width, double height, const char *label)
{
	*svg = (struct svg){.out = out, .width = width, .height = height};
	strbuf_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ");
	add_number(svg, width);
	strbuf_add_char(out, ' ');
	add_number(svg, height);
	strbuf_add_char(out, '"');
	add_attribute(svg, "width", width);
	add_attribute(svg, "height", height);
	strbuf_add(out, " aria-label=\"");
	markup_add(out, label);
	strbuf_add(out, "\">\n");
}

void svg_end(struct svg *svg)
{
	strbuf_add(svg->out, "</svg>\n");
}

void svg_group(struct svg *svg, const char *class)
{
	open_shape(svg, "g", class);
	strbuf_add(svg->out, ">\n");
}

void svg_group_end(struct svg *svg)
{
	strbuf_add(svg->out, "</g>\n");
}

void svg_rect(struct svg *svg, const char *class, struct svg_box box, const char *title)
{
	const struct svg_point from = {box.x, box.y};
	const struct svg_point to = {box.x + box.width, box.y + box.height};
	double left, top;

	if (!is_drawable(from) || !is_drawable(to) || box.width < 0 || box.height < 0)
		return;
	left = x_of(svg, from.x);
	top = y_of(svg, from.y);
	open_shape(svg, "rect", class);
	add_attribute(svg, "x", left);
	add_attribute(svg, "y", top);
	add_attribute(svg, "width", x_of(svg, to.x) - left);
	add_attribute(svg, "height", y_of(svg, to.y) - top);
	close_shape(svg, "rect", title);
}

void svg_line(struct svg *svg, const char *class, struct svg_point from, struct svg_point to,
              const char *title)
{
	if (!is_drawable(from) || !is_drawable(to))
		return;
	open_shape(svg, "line", class);
	add_attribute(svg, "x1", x_of(svg, from.x));
	add_attribute(svg, "y1", y_of(svg, from.y));
	add_attribute(svg, "x2", x_of(svg, to.x));
	add_attribute(svg, "y2", y_of(svg, to.y));
	close_shape(svg, "line", title);
}

void svg_text(struct svg *svg, const char *class, struct svg_point at, const char *format, ...)
{
	va_list args;

	if (!is_drawable(at))
		return;
	open_shape(svg, "text", class);
	add_attribute(svg, "x", x_of(svg, at.x));
	add_attribute(svg, "y", y_of(svg, at.y));
	strbuf_add_char(svg->out, '>');
	va_start(args, format);
	markup_vaddf(svg->out, format, args);
	va_end(args);
	strbuf_add(svg->out, "</text>\n");
}

void svg_path(struct svg *svg, const char *class)
{
	svg->n_points = 0;
	open_shape(svg, "path", class);
	strbuf_add(svg->out, " d=\"");
}

/* A line without length is drawn as its round end. */
static void lift_pen(struct svg *svg)
{
	if (svg->n_points == 1)
		strbuf_add(svg->out, "h0");
	svg->n_points = 0;
}

void svg_path_to(struct svg *svg, struct svg_point to)
{
	if (!is_drawable(to)) {
		lift_pen(svg);
		return;
	}
	strbuf_add_char(svg->out, svg->n_points ? 'L' : 'M');
	add_number(svg, x_of(svg, to.x));
	strbuf_add_char(svg->out, ' ');
	add_number(svg, y_of(svg, to.y));
	svg->n_points++;
}

void svg_path_close(struct svg *svg)
{
	if (svg->n_points > 0)
		strbuf_add_char(svg->out, 'Z');
	svg->n_points = 0;
}

void svg_path_end(struct svg *svg, const char *title)
{
	lift_pen(svg);
	strbuf_add_char(svg->out, '"');
	close_shape(svg, "path", title);
}

/* Corners around the mark's middle, up to six. */
static const struct {
	int n;
	struct svg_point corners[6];
} marks[SVG_MARKS] = {
	{4, {{-5, 0}, {0, -5}, {5, 0}, {0, 5}}},   /* diamond */
	{4, {{-4, -4}, {4, -4}, {4, 4}, {-4, 4}}}, /* square */
	{3, {{-5, 4}, {0, -5}, {5, 4}}},           /* triangle */
	{3, {{-5, -4}, {5, -4}, {0, 5}}},          /* … on its head */
	{6, {{-5, 0}, {-2.5, -4.4}, {2.5, -4.4}, {5, 0}, {2.5, 4.4}, {-2.5, 4.4}}}, /* hexagon */
};

void svg_mark(struct svg *svg, const char *class, int kind, struct svg_point at, const char *title)
{
	int which = kind % SVG_MARKS;

	if (!is_drawable(at))
		return;
	svg_path(svg, class);
	for (int i = 0; i < marks[which].n; i++) {
		const struct svg_point corner = marks[which].corners[i];

		svg_path_to(svg, (struct svg_point){at.x + corner.x, at.y + corner.y});
	}
	svg_path_close(svg);
	svg_path_end(svg, title);
}

double svg_text_width(const char *text)
{
	static const struct report_style style = {.has_unicode = true};

	return GLYPH_PX * display_width(text, &style);
}
