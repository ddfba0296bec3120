/* page_timeline.h - the ops of one iteration in lanes. */
#ifndef REPORTS_PAGE_TIMELINE_H
#define REPORTS_PAGE_TIMELINE_H

#include "reports/axis.h"
#include "reports/page.h"
#include "reports/svg.h"

struct page_timeline {
	const struct page_iteration *iteration;
	struct axis x; /* ms since the iteration's start */
	int n_stages;
	int every; /* a lane stands for so many stages, and shows the first of them */
	int n_lanes;
	double top, lane_px, gap_px;
	bool is_by_op;
	int n_columns; /* of a lane that is not drawn by op */
	bool is_mixed; /* ops are shorter than columns, which then show how much of each kind */
};

/* Upper edge of a lane. */
double page_timeline_lane_px(const struct page_timeline *timeline, int lane);

/* Every op of the first replica, with the message that leaves after it. */
void page_timeline_ops(const struct page_timeline *timeline, struct svg *svg);

/* Columns instead, each of the kind that fills most of it, or a mixture: F above, B, W below. */
void page_timeline_columns(const struct page_timeline *timeline, struct svg *svg);

/* How long an op takes, in the mean. */
double page_timeline_op_ms(const struct page_iteration *iteration);

/* The three kinds with their letters. */
void page_timeline_legend(struct strbuf *out);

#endif
