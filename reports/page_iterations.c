/* page_iterations.c - the time of every iteration, a panel a schedule under one another: faults are
 * shaded, decisions and restarts marked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum { PANELS_TALL = 4, TICKS_WIDE = 10, TICKS_NARROW = 4, TICKS_UP = 2, DECISION_KINDS = 5 };

static const double RIGHT = 8, TOP = 20, GAP = 14, BOTTOM = 22;
static const double TALL = 104, LOW = 66, NUMBER_DROP = 13, NAME_DROP = 13;

struct figure {
	const struct page *page;
	struct svg svg;
	struct axis x, y;
	double left, panel_height;
};

static double panel_top(const struct figure *figure, size_t schedule)
{
	return TOP + (double)schedule * (figure->panel_height + GAP);
}

static double largest_ms(const struct comparison *comparison)
{
	double largest = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		largest = fmax(largest, quantity_largest(comparison->schedules[i].iteration_ms,
		                                         (size_t)comparison->n_iterations_asked));
	return largest;
}

/* Iterations are as wide as they are apart. */
static double iteration_px(const struct figure *figure, int iteration, double part)
{
	double px = axis_px(&figure->x, iteration + part);

	return fmin(fmax(px, figure->x.from_px), figure->x.to_px);
}

static void shade_event(struct figure *figure, size_t e)
{
	const struct comparison_event *event = &figure->page->comparison->events[e];
	double from = iteration_px(figure, event->first_iteration, -0.5);
	double to = iteration_px(figure, event->last_iteration, 0.5);
	double end = panel_top(figure, figure->page->comparison->n_schedules) - GAP;
	char title[QUANTITY_BYTES * 4], number[QUANTITY_BYTES];

	if (event->first_iteration < 0 || event->last_iteration < event->first_iteration)
		return;
	snprintf(title, sizeof(title), "%zu: %.100s, iterations %d to %d", e + 1, event->label,
	         event->first_iteration, event->last_iteration);
	svg_rect(&figure->svg, "shade", (struct svg_box){from, TOP, fmax(to - from, 1), end - TOP},
	         title);
	snprintf(number, sizeof(number), "%zu", e + 1);
	if (to - from >= svg_text_width(number))
		svg_text(&figure->svg, "shade-number middle",
		         (struct svg_point){(from + to) / 2, NUMBER_DROP}, "%s", number);
}

/* In which iterations of the schedule was a fault of the event in force? One event may be many
 * faults, one behind the other. */
static void find_in_force(const struct figure *figure, size_t s, size_t event, bool *is_in_force)
{
	const struct trace_source *source = &figure->page->runs[s].source;

	memset(is_in_force, 0, (size_t)figure->page->comparison->n_iterations_asked);
	for (size_t f = 0; f < source->n_faults; f++) {
		if (page_event_of(figure->page, &source->faults[f]) != event)
			continue;
		for (size_t i = 0; i < source->n_iterations; i++) {
			const struct record_iteration *row = &source->iterations[i];

			if (row->iteration >= 0 &&
			    row->iteration < figure->page->comparison->n_iterations_asked &&
			    trace_source_is_in_force(&source->faults[f], row))
				is_in_force[row->iteration] = true;
		}
	}
}

/* Iterations first to end - 1 of one panel. */
static void shade_panel(struct figure *figure, size_t s, size_t event, int first, int end)
{
	double from = iteration_px(figure, first, -0.5), to = iteration_px(figure, end - 1, 0.5);
	double top = panel_top(figure, s);
	char number[QUANTITY_BYTES];

	snprintf(number, sizeof(number), "%zu", event + 1);
	svg_rect(&figure->svg, "shade",
	         (struct svg_box){from, top, fmax(to - from, 1), figure->panel_height},
	         figure->page->comparison->events[event].label);
	if (to - from >= svg_text_width(number))
		svg_text(&figure->svg, "shade-number middle",
		         (struct svg_point){(from + to) / 2, top + NAME_DROP}, "%s", number);
}

/* What starts at a time strikes each schedule in other iterations. */
static void shade_timed(struct figure *figure, size_t s)
{
	const struct comparison *comparison = figure->page->comparison;
	int n = comparison->n_iterations_asked;
	bool *is_in_force = array_new((size_t)n, sizeof(*is_in_force));

	if (!is_in_force) {
		figure->svg.out->is_failed = 1;
		return;
	}
	for (size_t e = 0; e < comparison->n_events; e++) {
		if (comparison->events[e].first_iteration >= 0)
			continue;
		find_in_force(figure, s, e, is_in_force);
		for (int first = 0, end; first < n; first = end) {
			end = first + 1;
			while (end < n && is_in_force[end] == is_in_force[first])
				end++;
			if (is_in_force[first])
				shade_panel(figure, s, e, first, end);
		}
	}
	free(is_in_force);
}

static void draw_restarts(struct figure *figure, size_t s)
{
	const struct comparison_schedule *schedule = &figure->page->comparison->schedules[s];
	double top = panel_top(figure, s);

	for (size_t i = 0; i < schedule->n_restart_iterations; i++) {
		double x = iteration_px(figure, schedule->restart_iterations[i], 0);
		char title[QUANTITY_BYTES];

		snprintf(title, sizeof(title), "restart in iteration %d",
		         schedule->restart_iterations[i]);
		svg_line(&figure->svg, "restart", (struct svg_point){x, top},
		         (struct svg_point){x, top + figure->panel_height}, title);
		svg_text(&figure->svg, "restart middle", (struct svg_point){x, top + NAME_DROP},
		         "↺");
	}
}

/* The kind's place among the marks; restarts have a sign of their own. */
static int decision_kind_of(const char *name)
{
	for (int kind = 0; kind < DECISION_KINDS; kind++)
		if (strcmp(name, decision_kind_name((enum decision_kind)kind)) == 0)
			return kind;
	return 0;
}

/* Where many fall on one px, the first of a kind stands for them. */
static void draw_decisions(struct figure *figure, size_t s)
{
	const struct trace_source *source = &figure->page->runs[s].source;
	double drawn_px[DECISION_KINDS];

	for (int kind = 0; kind < DECISION_KINDS; kind++)
		drawn_px[kind] = -1;
	for (size_t i = 0; i < source->n_decisions; i++) {
		const struct stored_decision *decision = &source->decisions[i];
		int kind = decision_kind_of(decision->kind);
		double x = iteration_px(figure, decision->iteration, -0.5);
		struct strbuf title = {0};

		if (kind == DECISION_RESTART || floor(x) == drawn_px[kind])
			continue;
		drawn_px[kind] = floor(x);
		strbuf_addf(&title, "before iteration %d: %s%s%s", decision->iteration,
		            decision->kind, *decision->reason ? ", " : "", decision->reason);
		svg_mark(&figure->svg, "decision", kind,
		         (struct svg_point){x, panel_top(figure, s) + figure->panel_height},
		         strbuf_text(&title));
		figure->svg.out->is_failed |= title.is_failed;
		strbuf_fini(&title);
	}
}

static void draw_panel(struct figure *figure, size_t s)
{
	const struct comparison *comparison = figure->page->comparison;
	const struct axis_series series = {comparison->schedules[s].iteration_ms,
	                                   (size_t)comparison->n_iterations_asked, 0};
	double top = panel_top(figure, s);
	char class[PAGE_CLASS_BYTES], name[REPORT_NAME_BYTES];

	shade_timed(figure, s);
	axis_place(&figure->y, top + figure->panel_height, top);
	axis_draw_vertical(&figure->y, &figure->svg, figure->x.from_px, figure->x.to_px, "ms");
	axis_draw_series(&figure->x, &figure->y, &series, &figure->svg,
	                 page_class("series", s, class));
	draw_restarts(figure, s);
	draw_decisions(figure, s);
	svg_text(&figure->svg, page_class("name", s, class),
	         (struct svg_point){figure->left + 6, top + NAME_DROP}, "%s",
	         page_name(figure->page, s, name));
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	bool is_narrow = html_is_narrow(width);
	struct figure figure = {
		.page = page,
		.panel_height = comparison->n_schedules <= PANELS_TALL ? TALL : LOW,
	};
	double bottom = panel_top(&figure, comparison->n_schedules) - GAP;

	svg_begin(&figure.svg, out, width, bottom + BOTTOM,
	          "Iteration time over the run, a panel a schedule; faults are shaded");
	axis_init_rounded(&figure.y, 0, largest_ms(comparison), TICKS_UP);
	figure.left = axis_gutter_px(&figure.y, "ms");
	axis_init(&figure.x, 0, fmax(1, comparison->n_iterations_asked - 1),
	          is_narrow ? TICKS_NARROW : TICKS_WIDE);
	axis_place(&figure.x, figure.left, width - RIGHT);
	for (size_t e = 0; e < comparison->n_events; e++)
		shade_event(&figure, e);
	for (size_t s = 0; s < comparison->n_schedules; s++)
		draw_panel(&figure, s);
	axis_draw_horizontal(&figure.x, &figure.svg, bottom, "iteration");
	svg_end(&figure.svg);
}

/* Which marks are in the picture? */
static bool has_decision(const struct page *page, int kind)
{
	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		for (size_t i = 0; i < page->runs[s].source.n_decisions; i++)
			if (decision_kind_of(page->runs[s].source.decisions[i].kind) == kind)
				return true;
	return false;
}

static void add_caption(const struct page *page, struct strbuf *out)
{
	static const char *const signs[DECISION_KINDS] = {
		[DECISION_REPLAN] = "◆ a new plan",
		[DECISION_SWITCH_PLANE] = "■ another data plane",
		[DECISION_RESTART] = "↺ a restart",
		[DECISION_FAILOVER] = "▼ failover to another rail",
		[DECISION_RECOVER] = "⬢ recovery",
	};
	struct strbuf text = {0};

	strbuf_add(&text, "Height is time: a flat line means that faults do not matter.");
	if (page->comparison->n_events > 0)
		strbuf_add(&text, " Shaded: a fault is in force, numbered as below.");
	for (int kind = 0; kind < DECISION_KINDS; kind++)
		if (has_decision(page, kind))
			strbuf_addf(&text, " %s.", signs[kind]);
	html_sentence(out, "caption", "%s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void page_iterations(const struct page *page, struct strbuf *out)
{
	if (!(largest_ms(page->comparison) > 0) || page->comparison->n_iterations_asked < 1)
		return;
	add_caption(page, out);
	page_figure(page, out, draw);
	page_decisions(page, out);
}
