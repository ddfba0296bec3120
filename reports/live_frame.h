/* live_frame.h - a run in real time while it goes on, as lines that take each other's place. */
#ifndef REPORTS_LIVE_FRAME_H
#define REPORTS_LIVE_FRAME_H

#include "engine/base/strbuf.h"
#include "engine/replay/watch.h"
#include "engine/scenario/scenario.h"
#include "reports/style.h"

/* Borrowed. Times are in ns. */
struct live_frame {
	const struct watch_moment *moment;
	const struct scenario *scenario; /* whose faults may be in force */
	const char *label;               /* what runs: "adaptra, repeat 1 of 2" */
	int n_iterations;
	double done_ratio;                 /* of all runs of the command */
	int64_t elapsed_ns, left_ns;       /* real time, of all runs */
	int64_t measured_ns, simulated_ns; /* of the iterations recorded, profile time; -1: none */
};

/* Add at most rows lines of at most columns, each with a line feed: what runs and how far it is,
 * then a row a stage. As many stages as fit, and how many do not. columns and rows may be fewer
 * than a report would take. Returns how many lines. */
int live_frame_add(const struct live_frame *frame, int columns, int rows,
                   const struct report_style *style, struct strbuf *out);

#endif
