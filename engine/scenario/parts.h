/* parts.h - the small parts of a scenario: events, variants, choices, recovery, detection. */
#ifndef ENGINE_SCENARIO_PARTS_H
#define ENGINE_SCENARIO_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/scenario/plane.h"

/* What was measured elsewhere for an event, p50 of the iteration time. */
struct published {
	char *schedule;
	int64_t p50_ns;
};

/* One statement of the scenario: the faults that share its number, as a person thinks of them. */
struct event {
	char *label;         /* "2-3, 3-4, 6-7: 50 ms", "RNIC of stage 3 down" */
	int first_iteration; /* -1: by time */
	int last_iteration;  /* inclusive; -1: by time, or to the end */
	struct published *published;
	size_t n_published;
};

/* The same scenario under other options, shown by its totals alone below the comparison. */
struct variant {
	char *label;        /* "a path that is slow (latency)" */
	char **assignments; /* "name=value", as --set takes them */
	size_t n_assignments;
};

/* Departures from the presets of the stream plane; they exist in sim only. -1 each: as preset. */
struct stream_choice {
	int order; /* enum channel_order */
	int is_channel_shared;
	int has_one_issue_queue;
	int host_waits;
	int is_batched;
};

/* A schedule that starts on another plane than its own. */
struct plane_choice {
	char *schedule;
	enum plane_kind plane;
};

/* How the scenario runs for real. */
struct live_settings {
	double speed;          /* profile time / real time */
	int64_t payload_bytes; /* of a message; 0: what the live model's tensors take */
};

/* Checkpoints and what a dead RNIC costs. */
struct recovery {
	int checkpoint_every; /* iterations; 0: none, a restart begins at iteration 0 */
	int64_t restart_ns;   /* from the failure to the first op after the restart */
	int64_t failover_ns;  /* a delegated message on a dead rail is sent again this long after it
	                         died */
};

/* The straggler detector's settings; engine/monitor says what they mean. */
struct detection {
	int64_t threshold_ns; /* longer than the healthy time by more than this is a straggler; 0: a
	                         tenth of the mean time of F and B together */
	int confirm_iterations; /* that agree before the plan changes */
	int clear_iterations;   /* that are healthy before it changes back */
};

#endif
