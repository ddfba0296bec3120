/* watch.h - what a run in real time looks like while it goes on, for whoever watches it.
 *
 * The coordinator reads the board that its workers write on anyhow, at most ten times a second and
 * only while it waits for them, so watching costs the workers nothing. */
#ifndef ENGINE_REPLAY_WATCH_H
#define ENGINE_REPLAY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/scenario/op.h"
#include "engine/scenario/plane.h"

enum watch_doing {
	WATCH_OP,      /* its op runs, or what the op needs is under way */
	WATCH_INPUT,   /* what its op needs has not been computed yet */
	WATCH_NOTHING, /* all its ops of the iteration have ended */
};

struct watch_stage {
	enum watch_doing doing;
	enum op_kind kind; /* of the op that comes next; not of WATCH_NOTHING */
	int microbatch;
	int n_ended; /* ops of the iteration */
};

struct watch_moment {
	int attempt;
	int iteration;
	bool is_restarting; /* before that iteration; the stages are as they were left */
	int64_t run_ns;     /* since the run's start, profile time */
	enum plane_kind plane;
	int n_stages;
	int n_ops;                        /* of a stage in an iteration */
	const struct watch_stage *stages; /* of replica 0 */
};

struct watcher {
	/* Must not block: the next iteration waits for it. moment is for the time of the call. */
	void (*look)(struct watcher *watcher, const struct watch_moment *moment);
};

#endif
