/* svg.h - pictures: a few shapes, written as SVG.
 *
 * Units are px of the picture; y grows downwards. How a shape looks is its class's business, in
 * page.css. What lies outside is drawn at the edge, and a shape with a coordinate that is no number
 * is left out, so whatever is drawn is a picture. Text is escaped; titles are shown on hover and
 * may be NULL. */
#ifndef REPORTS_SVG_H
#define REPORTS_SVG_H

#include <stdbool.h>

#include "engine/base/strbuf.h"

struct svg {
	struct strbuf *out;
	double width, height;
	int n_points; /* that the path under way has joined since the pen was last put down */
};

struct svg_point {
	double x, y;
};

struct svg_box {
	double x, y, width, height;
};

/* label says in words what there is to see, for whoever cannot see it. */
void svg_begin(struct svg *svg, struct strbuf *out, double width, double height, const char *label);
void svg_end(struct svg *svg);

/* Shapes until svg_group_end() share a class. */
void svg_group(struct svg *svg, const char *class);
void svg_group_end(struct svg *svg);

void svg_rect(struct svg *svg, const char *class, struct svg_box box, const char *title);
void svg_line(struct svg *svg, const char *class, struct svg_point from, struct svg_point to,
              const char *title);
void svg_text(struct svg *svg, const char *class, struct svg_point at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line from point to point. A point that is no number lifts the pen; one that stands alone is a
 * dot. */
void svg_path(struct svg *svg, const char *class);
void svg_path_to(struct svg *svg, struct svg_point to);
void svg_path_close(struct svg *svg); /* back to the first point: an area */
void svg_path_end(struct svg *svg, const char *title);

/* Marks that can be told apart without colour; kinds repeat after SVG_MARKS. */
enum { SVG_MARKS = 5 };
void svg_mark(struct svg *svg, const char *class, int kind, struct svg_point at, const char *title);

/* Px that text takes in the small type of pictures, a little more rather than less. */
double svg_text_width(const char *text);

#endif
