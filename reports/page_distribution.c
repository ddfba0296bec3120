/* page_distribution.c - which share of the iterations took no longer than so long. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum { TICKS_WIDE = 8, TICKS_NARROW = 4 };

static const double LEFT = 62, LEFT_NARROW = 46, RIGHT = 10, TOP = 12, BOTTOM = 24;
static const double HEIGHT = 300, FINEST_PX = 0.5, LABEL_GAP = 7;

/* The shares at which lines are drawn. */
static const struct {
	double ratio;
	const char *name;
} guides[] = {{0, "0 %"},     {0.25, "25 %"}, {0.5, "half"},
              {0.75, "75 %"}, {0.95, "95 %"}, {1, "all"}};

struct figure {
	const struct page *page;
	struct svg svg;
	struct axis x, y;
};

/* The iterations after warm-up in ascending order. */
struct sorted {
	double *ms;
	size_t n;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool sort_schedule(const struct page *page, size_t s, struct sorted *out)
{
	const struct comparison *comparison = page->comparison;
	const double *ms = comparison->schedules[s].iteration_ms;
	int first = comparison->n_warmup > 0 ? comparison->n_warmup : 0;

	*out = (struct sorted){array_new((size_t)comparison->n_iterations_asked, sizeof(double)),
	                       0};
	if (!out->ms)
		return false;
	for (int i = first; i < comparison->n_iterations_asked; i++)
		if (isfinite(ms[i]))
			out->ms[out->n++] = ms[i];
	qsort(out->ms, out->n, sizeof(double), compare_doubles);
	return true;
}

static struct svg_point point_at(const struct figure *figure, const struct sorted *sorted, size_t i)
{
	return (struct svg_point){axis_px(&figure->x, sorted->ms[i]),
	                          axis_px(&figure->y, (double)(i + 1) / (double)sorted->n)};
}

/* From none to all, leaving out steps too fine to be seen. */
static void draw_curve(struct figure *figure, const struct sorted *sorted, size_t s)
{
	char class[PAGE_CLASS_BYTES];
	struct svg_point last = {axis_px(&figure->x, sorted->ms[0]), axis_px(&figure->y, 0)};

	svg_path(&figure->svg, page_class("series curve", s, class));
	svg_path_to(&figure->svg, last);
	for (size_t i = 0; i < sorted->n; i++) {
		struct svg_point at = point_at(figure, sorted, i);
		bool is_visible = fabs(at.x - last.x) + fabs(at.y - last.y) >= FINEST_PX;

		if (!is_visible && i + 1 < sorted->n)
			continue;
		if (at.x - last.x >= FINEST_PX)
			svg_path_to(&figure->svg, (struct svg_point){at.x, last.y});
		svg_path_to(&figure->svg, at);
		last = at;
	}
	svg_path_end(&figure->svg, figure->page->comparison->schedules[s].name);
}

/* Names stand beside their curves, each at another height, so that they do not meet. */
static void draw_name(struct figure *figure, const struct sorted *sorted, size_t s)
{
	size_t n = figure->page->comparison->n_schedules;
	double ratio = 0.97 - 0.87 * ((double)s + 0.5) / (double)n;
	struct svg_point at = point_at(figure, sorted, (size_t)(ratio * (double)(sorted->n - 1)));
	char class[PAGE_CLASS_BYTES], name[REPORT_NAME_BYTES];
	bool is_left;

	page_name(figure->page, s, name);
	is_left = at.x + svg_text_width(name) + LABEL_GAP > figure->svg.width;
	at.x += is_left ? -LABEL_GAP : LABEL_GAP;
	svg_text(&figure->svg, page_class(is_left ? "name end" : "name", s, class), at, "%s", name);
}

static void draw_guides(struct figure *figure)
{
	svg_group(&figure->svg, "axis");
	for (size_t i = 0; i < sizeof(guides) / sizeof(guides[0]); i++) {
		double y = axis_px(&figure->y, guides[i].ratio);

		svg_line(&figure->svg, "", (struct svg_point){figure->x.from_px, y},
		         (struct svg_point){figure->x.to_px, y}, NULL);
		svg_text(&figure->svg, "end", (struct svg_point){figure->x.from_px - 6, y + 4},
		         "%s", guides[i].name);
	}
	svg_group_end(&figure->svg);
}

/* The extremes over all schedules; false: there are no iterations. */
static bool range_of(const struct page *page, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t s = 0; s < page->comparison->n_schedules; s++) {
		struct sorted sorted;

		if (!sort_schedule(page, s, &sorted))
			return false;
		if (sorted.n > 0) {
			*low = fmin(*low, sorted.ms[0]);
			*high = fmax(*high, sorted.ms[sorted.n - 1]);
		}
		free(sorted.ms);
	}
	return *low <= *high;
}

static void draw_schedules(struct figure *figure,
                           void (*part)(struct figure *figure, const struct sorted *sorted,
                                        size_t s))
{
	for (size_t s = 0; s < figure->page->comparison->n_schedules; s++) {
		struct sorted sorted;

		if (!sort_schedule(figure->page, s, &sorted)) {
			figure->svg.out->is_failed = 1;
			return;
		}
		if (sorted.n > 0)
			part(figure, &sorted, s);
		free(sorted.ms);
	}
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	bool is_narrow = html_is_narrow(width);
	struct figure figure = {.page = page};
	double low, high;

	if (!range_of(page, &low, &high))
		return;
	svg_begin(&figure.svg, out, width, HEIGHT,
	          "Share of iterations that took no longer than a time, a curve a schedule");
	axis_init(&figure.x, low, high, is_narrow ? TICKS_NARROW : TICKS_WIDE);
	axis_place(&figure.x, is_narrow ? LEFT_NARROW : LEFT, width - RIGHT);
	axis_init(&figure.y, 0, 1, 4);
	axis_place(&figure.y, HEIGHT - BOTTOM, TOP);
	draw_guides(&figure);
	axis_draw_horizontal(&figure.x, &figure.svg, HEIGHT - BOTTOM, "ms an iteration");
	draw_schedules(&figure, draw_curve);
	draw_schedules(&figure, draw_name);
	svg_end(&figure.svg);
}

void page_distribution(const struct page *page, struct strbuf *out)
{
	double low, high;

	if (!range_of(page, &low, &high))
		return;
	html_sentence(
		out, "caption",
		"The further left, the faster; a steep curve means that iterations take alike, "
		"a long way to the right at the top that some are very slow. Iterations after "
		"warm-up, of the first repeat.");
	page_figure(page, out, draw);
}
