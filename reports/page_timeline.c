/* page_timeline.c - the ops of one iteration in lanes. */
#include "reports/page_timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

enum { TITLE_BYTES = 4 * QUANTITY_BYTES };

static const double LETTER_PX = 7, NUMBER_PX = 19, LETTERS_LANE_PX = 14, BAND_PX = 0.5;

static const struct {
	const char *letter, *name, *ops_class;
} kinds[OP_KINDS] = {
	[OP_F] = {"F", "forward", "ops F"},
	[OP_B] = {"B", "backward for the input", "ops B"},
	[OP_W] = {"W", "backward for the weights", "ops W"},
};

double page_timeline_lane_px(const struct page_timeline *timeline, int lane)
{
	return timeline->top + lane * (timeline->lane_px + timeline->gap_px);
}

static double since_ms(const struct page_timeline *timeline, int64_t ns)
{
	return (double)(ns - timeline->iteration->start_ns) / NS_PER_MS;
}

/* Lanes of stages in between are not there. */
static bool is_drawn(const struct page_timeline *timeline, const struct record_op *op)
{
	return op->replica == 0 && op->stage >= 0 && op->stage < timeline->n_stages &&
	       op->stage % timeline->every == 0 && (int)op->kind < OP_KINDS;
}

static int neighbour_of(const struct record_op *op)
{
	return op->kind == OP_F ? op->stage + 1 : op->stage - 1;
}

static bool has_message(const struct page_timeline *timeline, const struct record_op *op)
{
	int to = neighbour_of(op);

	return op->message_request_ns >= 0 && op->message_arrive_ns >= op->message_request_ns &&
	       to >= 0 && to < timeline->n_stages;
}

/* "F3 stage 2: 12.3 to 35.1 ms, 22.8 ms" */
static void describe_op(const struct page_timeline *timeline, const struct record_op *op,
                        char *title)
{
	double start = since_ms(timeline, op->start_ns), end = since_ms(timeline, op->end_ns);

	snprintf(title, TITLE_BYTES, "%s%d on stage %d: %.1f to %.1f ms, %.1f ms",
	         kinds[op->kind].letter, op->microbatch, op->stage, start, end, end - start);
}

static void describe_message(const struct page_timeline *timeline, const struct record_op *op,
                             char *title)
{
	double from = since_ms(timeline, op->message_request_ns);
	double to = since_ms(timeline, op->message_arrive_ns);

	snprintf(title, TITLE_BYTES, "%s%d from stage %d to %d: %.1f to %.1f ms, %.1f ms",
	         kinds[op->kind].letter, op->microbatch, op->stage, neighbour_of(op), from, to,
	         to - from);
}

static void draw_op(const struct page_timeline *timeline, const struct record_op *op,
                    struct svg *svg)
{
	double from = axis_px(&timeline->x, since_ms(timeline, op->start_ns));
	double to = axis_px(&timeline->x, since_ms(timeline, op->end_ns));
	double y = page_timeline_lane_px(timeline, op->stage / timeline->every);
	char title[TITLE_BYTES];

	describe_op(timeline, op, title);
	svg_rect(svg, NULL, (struct svg_box){from, y, to - from, timeline->lane_px}, title);
}

static void draw_letter(const struct page_timeline *timeline, const struct record_op *op,
                        struct svg *svg)
{
	double from = axis_px(&timeline->x, since_ms(timeline, op->start_ns));
	double to = axis_px(&timeline->x, since_ms(timeline, op->end_ns));
	double y = page_timeline_lane_px(timeline, op->stage / timeline->every);
	struct svg_point at = {(from + to) / 2, y + timeline->lane_px / 2 + 3};

	if (timeline->lane_px < LETTERS_LANE_PX || to - from < LETTER_PX)
		return;
	if (to - from < NUMBER_PX)
		svg_text(svg, NULL, at, "%s", kinds[op->kind].letter);
	else
		svg_text(svg, NULL, at, "%s%d", kinds[op->kind].letter, op->microbatch);
}

/* From the edge of its own lane to that of its neighbour's. */
static void draw_message(const struct page_timeline *timeline, const struct record_op *op,
                         struct svg *svg)
{
	double from = axis_px(&timeline->x, since_ms(timeline, op->message_request_ns));
	double to = axis_px(&timeline->x, since_ms(timeline, op->message_arrive_ns));
	bool is_down = neighbour_of(op) > op->stage;
	int upper = is_down ? op->stage : op->stage - 1;
	double high = page_timeline_lane_px(timeline, upper) + timeline->lane_px;
	double low = high + timeline->gap_px;
	char title[TITLE_BYTES];

	if (timeline->every > 1 || !has_message(timeline, op))
		return;
	describe_message(timeline, op, title);
	svg_line(svg, NULL, (struct svg_point){from, is_down ? high : low},
	         (struct svg_point){to, is_down ? low : high}, title);
}

/* One kind after another, so that what they share is written once. */
static void draw_group(const struct page_timeline *timeline, struct svg *svg, enum op_kind kind,
                       const char *class,
                       void (*draw)(const struct page_timeline *timeline,
                                    const struct record_op *op, struct svg *svg))
{
	const struct page_iteration *iteration = timeline->iteration;

	svg_group(svg, class);
	for (size_t i = 0; i < iteration->n_ops; i++)
		if (iteration->ops[i].kind == kind && is_drawn(timeline, &iteration->ops[i]))
			draw(timeline, &iteration->ops[i], svg);
	svg_group_end(svg);
}

void page_timeline_ops(const struct page_timeline *timeline, struct svg *svg)
{
	for (int kind = 0; kind < OP_KINDS; kind++) {
		draw_group(timeline, svg, (enum op_kind)kind, kinds[kind].ops_class, draw_op);
		draw_group(timeline, svg, (enum op_kind)kind, "letters", draw_letter);
	}
	draw_group(timeline, svg, OP_F, "messages F", draw_message);
	draw_group(timeline, svg, OP_B, "messages B", draw_message);
	draw_group(timeline, svg, OP_W, "messages B", draw_message);
}

/* Time of each kind in each column of one lane. */
struct fill {
	double ms[OP_KINDS];
};

static double column_ms(const struct page_timeline *timeline)
{
	return (timeline->x.high - timeline->x.low) / timeline->n_columns;
}

static void add_to_fills(const struct page_timeline *timeline, const struct record_op *op,
                         struct fill *fills)
{
	double width = column_ms(timeline), start = since_ms(timeline, op->start_ns);
	double end = since_ms(timeline, op->end_ns);
	int first = (int)fmax(0, fmin(start / width, timeline->n_columns));
	int last = (int)fmax(-1, fmin(end / width, timeline->n_columns - 1));

	for (int c = first; c <= last; c++)
		fills[c].ms[op->kind] +=
			fmax(0, fmin(end, (c + 1) * width) - fmax(start, c * width));
}

/* What a kind takes of a lane's height in one column. */
struct band {
	double top, height;
};

/* The whole height for the kind that fills the most, if it is not idle for most of it. */
static struct band whole_band(const struct page_timeline *timeline, const struct fill *fill,
                              int kind)
{
	double sum = 0;
	int most = 0;

	for (int k = 0; k < OP_KINDS; k++) {
		sum += fill->ms[k];
		most = fill->ms[k] > fill->ms[most] ? k : most;
	}
	if (kind != most || sum < column_ms(timeline) / 2)
		return (struct band){0, 0};
	return (struct band){0, timeline->lane_px};
}

/* The kind's share of the time as its share of the height, below the kinds before it. */
static struct band mixed_band(const struct page_timeline *timeline, const struct fill *fill,
                              int kind)
{
	double px_per_ms = timeline->lane_px / column_ms(timeline);
	double before = 0;

	for (int k = 0; k < kind; k++)
		before += fill->ms[k];
	before = round(before * px_per_ms / BAND_PX) * BAND_PX;
	return (struct band){before, round(fill->ms[kind] * px_per_ms / BAND_PX) * BAND_PX};
}

static struct band band_of(const struct page_timeline *timeline, const struct fill *fill, int kind)
{
	return timeline->is_mixed ? mixed_band(timeline, fill, kind)
	                          : whole_band(timeline, fill, kind);
}

static void draw_box(struct svg *svg, struct svg_box box)
{
	svg_path_to(svg, (struct svg_point){box.x, box.y});
	svg_path_to(svg, (struct svg_point){box.x + box.width, box.y});
	svg_path_to(svg, (struct svg_point){box.x + box.width, box.y + box.height});
	svg_path_to(svg, (struct svg_point){box.x, box.y + box.height});
	svg_path_close(svg);
}

/* Neighbouring columns that look alike are one box. */
static void draw_columns(const struct page_timeline *timeline, const struct fill *fills, int lane,
                         int kind, struct svg *svg)
{
	double y = page_timeline_lane_px(timeline, lane), width = column_ms(timeline);

	for (int c = 0, end; c < timeline->n_columns; c = end) {
		struct band band = band_of(timeline, &fills[c], kind), next = band;
		double from = axis_px(&timeline->x, c * width);

		for (end = c + 1; end < timeline->n_columns; end++) {
			next = band_of(timeline, &fills[end], kind);
			if (next.top != band.top || next.height != band.height)
				break;
		}
		if (band.height > 0)
			draw_box(svg, (struct svg_box){from, y + band.top,
			                               axis_px(&timeline->x, end * width) - from,
			                               band.height});
	}
}

double page_timeline_op_ms(const struct page_iteration *iteration)
{
	double sum = 0;

	for (size_t i = 0; i < iteration->n_ops; i++)
		sum += (double)(iteration->ops[i].end_ns - iteration->ops[i].start_ns) / NS_PER_MS;
	return iteration->n_ops ? sum / (double)iteration->n_ops : 0;
}

void page_timeline_columns(const struct page_timeline *timeline, struct svg *svg)
{
	size_t n = (size_t)timeline->n_columns;
	struct fill *fills = array_new(n * (size_t)timeline->n_lanes, sizeof(*fills));

	if (!fills) {
		svg->out->is_failed = 1;
		return;
	}
	for (size_t i = 0; i < timeline->iteration->n_ops; i++) {
		const struct record_op *op = &timeline->iteration->ops[i];

		if (is_drawn(timeline, op))
			add_to_fills(timeline, op,
			             &fills[(size_t)(op->stage / timeline->every) * n]);
	}
	for (int kind = 0; kind < OP_KINDS; kind++) {
		svg_group(svg, kinds[kind].ops_class);
		svg_path(svg, NULL);
		for (int lane = 0; lane < timeline->n_lanes; lane++)
			draw_columns(timeline, &fills[(size_t)lane * n], lane, kind, svg);
		svg_path_end(svg, kinds[kind].name);
		svg_group_end(svg);
	}
	free(fills);
}

void page_timeline_legend(struct strbuf *out)
{
	strbuf_add(out, "<p class=\"legend\">");
	for (int kind = 0; kind < OP_KINDS; kind++) {
		struct svg svg;

		strbuf_add(out, "<span>");
		svg_begin(&svg, out, 20, 16, "");
		svg_group(&svg, kinds[kind].ops_class);
		svg_rect(&svg, NULL, (struct svg_box){0, 0, 20, 16}, NULL);
		svg_group_end(&svg);
		svg_group(&svg, "letters");
		svg_text(&svg, NULL, (struct svg_point){10, 11}, "%s", kinds[kind].letter);
		svg_group_end(&svg);
		svg_end(&svg);
		strbuf_addf(out, "%s</span> ", kinds[kind].name);
	}
	strbuf_add(out, "</p>\n");
}
