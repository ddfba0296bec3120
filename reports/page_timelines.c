/* page_timelines.c - chosen iterations over time, a lane a stage: ops coloured by kind, messages
 * between the lanes. All schedules of one kind of iteration share a scale.
 *
 * Few ops are drawn one by one, each with its numbers. Many would neither be seen nor fit into a
 * page; then each column of a lane shows the kind that fills most of it, and that is said. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/page_timeline.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

enum { OPS_MOST = 12000, LANES_MOST = 64, SEGMENTS_MOST = 100000, COLUMNS_MOST = 900, TICKS = 10 };

/* In columns: what is shorter would come and go with the columns' raster. */
enum { NARROWEST_OP = 2 };

static const double WIDTH = 1000, LEFT = 62, RIGHT = 8, TOP = 6, BOTTOM = 24;

static double longest_ms(const struct page *page, enum page_kind kind)
{
	double longest = 0;

	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		if (page->runs[s].chosen[kind].n_ops > 0)
			longest = fmax(longest,
			               (double)page->runs[s].chosen[kind].duration_ns / NS_PER_MS);
	return longest;
}

static size_t count_pictures(const struct page *page)
{
	size_t n = 0;

	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		for (int kind = 0; kind < PAGE_KINDS; kind++)
			n += page->runs[s].chosen[kind].n_ops > 0;
	return n ? n : 1;
}

static bool is_drawn_by_op(const struct page *page, const struct page_iteration *iteration)
{
	return iteration->n_ops <= OPS_MOST / count_pictures(page);
}

/* A row a stage; one replica stands for all, every so many stages where there are too many. */
static struct page_timeline lanes_of(const struct page *page,
                                     const struct page_iteration *iteration, enum page_kind kind)
{
	const struct comparison *comparison = page->comparison;
	int n = comparison->n_stages > 0 ? comparison->n_stages : 1;
	struct page_timeline timeline = {
		.iteration = iteration,
		.n_stages = n,
		.every = (n + LANES_MOST - 1) / LANES_MOST,
		.is_by_op = is_drawn_by_op(page, iteration),
	};

	timeline.n_lanes = (n + timeline.every - 1) / timeline.every;
	timeline.lane_px = timeline.n_lanes <= 8 ? 20 : timeline.n_lanes <= 16 ? 14 : 9;
	timeline.gap_px = timeline.n_lanes <= 8 ? 10 : timeline.n_lanes <= 16 ? 7 : 3;
	timeline.top = TOP;
	timeline.n_columns = (int)(SEGMENTS_MOST / count_pictures(page)) / timeline.n_lanes;
	if (timeline.n_columns > COLUMNS_MOST)
		timeline.n_columns = COLUMNS_MOST;
	axis_init(&timeline.x, 0, longest_ms(page, kind), TICKS);
	timeline.is_mixed = page_timeline_op_ms(iteration) * timeline.n_columns <
	                    NARROWEST_OP * timeline.x.high;
	if (timeline.is_mixed)
		timeline.n_columns = timeline.n_columns / OP_KINDS + 1;
	axis_place(&timeline.x, LEFT, WIDTH - RIGHT);
	return timeline;
}

/* The lanes with their names; slow links and stages are shaded where a fault is in force. */
static void draw_lanes(const struct page_timeline *timeline, struct svg *svg)
{
	double end = axis_px(&timeline->x, (double)timeline->iteration->duration_ns / NS_PER_MS);
	int named = timeline->lane_px < 12 ? 4 : 1;

	for (int lane = 0; lane < timeline->n_lanes; lane++) {
		double y = page_timeline_lane_px(timeline, lane);

		svg_rect(svg, "lane",
		         (struct svg_box){LEFT, y, fmax(end - LEFT, 0), timeline->lane_px}, NULL);
		if (lane % named == 0)
			svg_text(svg, "faint end",
			         (struct svg_point){LEFT - 6, y + timeline->lane_px / 2 + 4},
			         lane == 0 ? "stage %d" : "%d", lane * timeline->every);
	}
}

/* Where messages are late: the space between two lanes, or a lane itself. */
static void shade_faults(const struct page_timeline *timeline, const struct trace_source *source,
                         struct svg *svg)
{
	const struct record_iteration row = {.start_ns = timeline->iteration->start_ns,
	                                     .duration_ns = timeline->iteration->duration_ns};

	for (size_t i = 0; i < source->n_faults && timeline->every == 1; i++) {
		const struct stored_fault *fault = &source->faults[i];
		int low = fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;
		int high =
			fault->from_stage < fault->to_stage ? fault->to_stage : fault->from_stage;
		bool is_link = low != high;
		double y = page_timeline_lane_px(timeline, low);
		double height = is_link ? timeline->gap_px : timeline->lane_px;

		if (!trace_source_is_in_force(fault, &row) || high >= timeline->n_lanes)
			continue;
		svg_rect(svg, "lane-shade",
		         (struct svg_box){LEFT, is_link ? y + timeline->lane_px : y,
		                          WIDTH - RIGHT - LEFT, height},
		         fault->label);
	}
}

static void draw(const struct page *page, size_t s, enum page_kind kind, struct strbuf *out)
{
	const struct page_iteration *iteration = &page->runs[s].chosen[kind];
	struct page_timeline timeline = lanes_of(page, iteration, kind);
	double bottom = page_timeline_lane_px(&timeline, timeline.n_lanes) - timeline.gap_px;
	struct strbuf label = {0};
	struct svg svg;

	strbuf_addf(&label, "Ops of iteration %d under %s, a lane a stage", iteration->iteration,
	            page->comparison->schedules[s].name);
	svg_begin(&svg, out, WIDTH, bottom + BOTTOM, strbuf_text(&label));
	draw_lanes(&timeline, &svg);
	shade_faults(&timeline, &page->runs[s].source, &svg);
	if (timeline.is_by_op)
		page_timeline_ops(&timeline, &svg);
	else
		page_timeline_columns(&timeline, &svg);
	axis_draw_horizontal(&timeline.x, &svg, bottom + 2, "ms");
	svg_end(&svg);
	out->is_failed |= label.is_failed;
	strbuf_fini(&label);
}

static void add_schedule(const struct page *page, size_t s, enum page_kind kind, struct strbuf *out)
{
	const struct page_iteration *iteration = &page->runs[s].chosen[kind];
	char text[QUANTITY_BYTES], number[QUANTITY_BYTES];

	if (iteration->n_ops == 0)
		return;
	html_sentence(out, "title", "%s, iteration %s: %s", page->comparison->schedules[s].name,
	              quantity_count(iteration->iteration, number),
	              quantity_duration((double)iteration->duration_ns / NS_PER_MS, &page_style,
	                                text));
	strbuf_add(out, "<figure class=\"scroll pan\" role=\"region\" tabindex=\"0\" "
	                "aria-label=\"timeline\">\n");
	draw(page, s, kind, out);
	strbuf_add(out, "</figure>\n");
}

/* What the reader should know about how it is drawn. */
static void add_omissions(const struct page *page, const struct page_iteration *iteration,
                          struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	struct page_timeline timeline = lanes_of(page, iteration, PAGE_HEALTHY);
	char number[QUANTITY_BYTES];

	if (comparison->n_replicas > 1)
		html_sentence(out, "dim", "Drawn is the first of %d replicas.",
		              comparison->n_replicas);
	if (timeline.every > 1)
		html_sentence(
			out, "dim",
			"Drawn is every %d%s of %d stages, without the messages between them.",
			timeline.every,
			timeline.every == 2   ? "nd"
			: timeline.every == 3 ? "rd"
					      : "th",
			comparison->n_stages);
	if (!timeline.is_by_op)
		html_sentence(
			out, "dim",
			"An iteration has %s ops, too many to be drawn one by one: each of %d "
			"columns of a lane shows %s, and messages are left out. adaptra-bench "
			"trace export has them all.",
			quantity_count((long long)iteration->n_ops, number), timeline.n_columns,
			timeline.is_mixed ? "how much of it each kind fills"
					  : "the kind that fills most of it");
}

static const struct page_iteration *largest(const struct page *page)
{
	const struct page_iteration *found = NULL;

	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		for (int kind = 0; kind < PAGE_KINDS; kind++) {
			const struct page_iteration *one = &page->runs[s].chosen[kind];

			if (one->n_ops > 0 && (!found || one->n_ops > found->n_ops))
				found = one;
		}
	return found;
}

static void add_legend(bool is_by_op, struct strbuf *out)
{
	page_timeline_legend(out);
	if (is_by_op)
		html_sentence(
			out, "caption",
			"Gaps in a lane are bubbles. Lines lead from where a message was "
			"handed over to where it arrived, solid forwards, dashed backwards: "
			"the flatter, the later. Shaded: where a fault was in force. Point at "
			"an op or a line for its numbers.");
}

void page_timelines(const struct page *page, struct strbuf *out)
{
	const struct page_iteration *most = largest(page);

	if (!most)
		return;
	add_legend(is_drawn_by_op(page, most), out);
	add_omissions(page, most, out);
	for (int kind = 0; kind < PAGE_KINDS; kind++) {
		struct strbuf title = {0};

		if (page_describe(page, (enum page_kind)kind, &title))
			html_heading(out, "%s", strbuf_text(&title));
		for (size_t s = 0; s < page->comparison->n_schedules; s++)
			add_schedule(page, s, (enum page_kind)kind, out);
		out->is_failed |= title.is_failed;
		strbuf_fini(&title);
	}
}
