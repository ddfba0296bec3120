/* progress.h - a record sink that hands everything on and tells how far the work is. */
#ifndef ENGINE_CLI_PROGRESS_H
#define ENGINE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/cli/options.h"
#include "engine/record/record.h"

/* One for all runs of a command. On a terminal one line on stderr, at most four times a second and
 * only after the first; elsewhere a line when a run has ended; with --quiet nothing. */
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
	bool has_line;        /* something stands on the line now */
	bool has_sink_failed; /* next refused something: not the producer's fault */
};

void progress_init(struct progress *progress, const struct options *options, int64_t n_total);

/* next takes the record of the run that label names, borrowed until progress_end_run(). */
void progress_begin_run(struct progress *progress, const char *label, int n_iterations,
                        struct record_sink *next);
void progress_end_run(struct progress *progress, const char *how);

#endif
