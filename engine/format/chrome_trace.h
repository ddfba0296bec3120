/* chrome_trace.h - what happened as a Chrome trace, which Perfetto and chrome://tracing show.
 *
 * A process per stage and replica, with lanes for computation, sends, receives, the delegates and
 * faults; arrows from sends to receives; counters of what a stage holds. Slices of one lane never
 * overlap: where they would, there are more lanes. The text leaves in pieces while it is made, so
 * memory does not grow with the length of the file. Times are those of the record; what lies before
 * the start of the run is drawn at 0. */
#ifndef ENGINE_FORMAT_CHROME_TRACE_H
#define ENGINE_FORMAT_CHROME_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/record/record.h"

struct chrome_trace;

/* A line of the file's "otherData". */
struct chrome_trace_note {
	const char *name;
	const char *text;
};

/* What a trace is of. Borrowed until chrome_trace_free(). */
struct chrome_trace_run {
	int n_stages;
	int n_replicas;
	int n_hosts;             /* the stages are spread over; 0: not known */
	enum record_timer timer; /* what timed the ops */
	int64_t message_bytes;   /* 0: not known */
	/* Of one microbatch, per stage; NULL or 0 there: not known, that counter is left out. */
	const int64_t *activation_bytes;
	const struct chrome_trace_note *notes;
	size_t n_notes;
};

/* Takes the text, piece by piece; 0 or -errno, which ends the trace. */
struct chrome_trace_target {
	int (*write)(void *context, const char *bytes, size_t n_bytes, struct err *err);
	void *context;
};

/* A fault while it was in force. */
struct chrome_trace_fault {
	int64_t start_ns;
	int64_t end_ns;
	int from_stage, to_stage; /* the ends of its link; both are the stage when it is of one */
	const char *label;
	int64_t n_messages; /* hit by it */
};

/* Begin a trace; free *out with chrome_trace_free(). -EINVAL: run has no stages or too many. */
int chrome_trace_new(const struct chrome_trace_run *run, struct chrome_trace_target target,
                     struct chrome_trace **out, struct err *err);

/* Add an iteration with its ops. has_arrows: draw an arrow for every message; viewers place them
 * wrongly when there are hundreds of thousands. -EINVAL: an op is of a stage or replica that is
 * not there, or its message goes nowhere. */
int chrome_trace_iteration(struct chrome_trace *trace, const struct record_iteration *iteration,
                           bool has_arrows, struct err *err);

/* Add a fault to both its stages, in every replica that has ops so far: iterations come first.
 * Lanes are fewest when faults come in the order of their starts. */
int chrome_trace_fault(struct chrome_trace *trace, const struct chrome_trace_fault *fault,
                       struct err *err);

int chrome_trace_decision(struct chrome_trace *trace, const struct record_decision *decision,
                          struct err *err);

/* Write what is left; nothing may be added afterwards. */
int chrome_trace_end(struct chrome_trace *trace, struct err *err);

void chrome_trace_free(struct chrome_trace *trace); /* NULL is fine */

#endif
