/* progress.h - a record sink that hands everything on and tells how far the work is. */
#ifndef ENGINE_CLI_PROGRESS_H
#define ENGINE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/cli/live_view.h"
#include "engine/cli/options.h"
#include "engine/record/record.h"
#include "engine/replay/watch.h"
#include "engine/scenario/scenario.h"

/* What a run in real time is shown with. Borrowed until progress_end_run(). */
struct progress_beside {
	const struct scenario *scenario;
	const struct record_iteration *simulated; /* the same run in virtual time; NULL: none */
	size_t n_simulated;
};

/* One for all runs of a command. On a terminal one line on stderr, at most four times a second and
 * only after the first; of a run in real time that is watched a view of its stages, at most ten
 * times a second. Elsewhere a line when a run has ended; with --quiet nothing. */
struct progress {
	struct record_sink sink; /* for the producer */
	struct record_sink *next;
	const struct options *options;
	const char *label;
	int64_t started_ns;
	int64_t run_started_ns;
	int64_t shown_ns;
	int n_iterations; /* of a run */
	int n_begun;      /* of this run: the furthest iteration that was recorded */
	int64_t n_total;  /* of all runs together */
	int64_t n_before; /* in the runs that have ended */
	bool is_on_terminal;
	bool has_line;          /* something stands on the line now */
	bool has_sink_failed;   /* next refused something: not the producer's fault */
	struct watcher watcher; /* of a run in real time */
	bool is_watched;
	struct progress_beside beside;
	int64_t measured_ns;  /* end of the last iteration recorded, profile time; -1: none */
	int64_t simulated_ns; /* of the same iteration in virtual time; -1: not known */
	struct live_view view;
};

void progress_init(struct progress *progress, const struct options *options, int64_t n_total);

/* next takes the record of the run that label names, borrowed until progress_end_run(). */
void progress_begin_run(struct progress *progress, const char *label, int n_iterations,
                        struct record_sink *next);

/* What the executor of the run that has begun is to be watched with; NULL: there is nobody to see
 * it. */
struct watcher *progress_watch(struct progress *progress, const struct progress_beside *beside);

void progress_end_run(struct progress *progress, const char *how);

/* Real time that all runs have taken and may take yet; -1: not known before an iteration has been
 * recorded. */
int64_t progress_elapsed_ns(const struct progress *progress);
int64_t progress_left_ns(const struct progress *progress);

/* progress_view.c: watcher.look. */
void progress_look(struct watcher *watcher, const struct watch_moment *moment);

#endif
