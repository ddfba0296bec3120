/* progress_view.c - shows a run in real time while it goes on. */
#include <stddef.h>

#include "engine/base/units.h"
#include "engine/cli/output.h"
#include "engine/cli/progress.h"
#include "reports/live_frame.h"

/* Nobody wants a view of what is over in a moment. */
static const int64_t QUIET_NS = NS_PER_S;

static double done_ratio(const struct progress *progress)
{
	int64_t n_done = progress->n_before + progress->n_begun;

	return progress->n_total > 0 ? (double)n_done / (double)progress->n_total : 0;
}

/* The last row is the cursor's, and a terminal may wrap a line that fills it. */
static void draw(struct progress *progress, const struct live_frame *frame,
                 struct live_view_size size)
{
	struct report_style style = output_error_style();
	struct strbuf lines = {0};

	(void)live_frame_add(frame, size.columns - 1, size.rows - 1, &style, &lines);
	live_view_draw(&progress->view, &lines, size.columns);
	strbuf_fini(&lines);
}

void progress_look(struct watcher *watcher, const struct watch_moment *moment)
{
	struct progress *progress =
		(struct progress *)((char *)watcher - offsetof(struct progress, watcher));
	const struct live_frame frame = {
		.moment = moment,
		.scenario = progress->beside.scenario,
		.label = progress->label,
		.n_iterations = progress->n_iterations,
		.done_ratio = done_ratio(progress),
		.elapsed_ns = progress_elapsed_ns(progress),
		.left_ns = progress_left_ns(progress),
		.measured_ns = progress->measured_ns,
		.simulated_ns = progress->simulated_ns,
	};
	struct live_view_size size;

	if (frame.elapsed_ns >= QUIET_NS && live_view_size(&size))
		draw(progress, &frame, size);
}
