/* streams.h - how many streams of a GPU the stages of a worker have. */
#ifndef ENGINE_REPLAY_STREAMS_H
#define ENGINE_REPLAY_STREAMS_H

#include "engine/replay/live.h"

struct streams {
	int n_copying;  /* of a stage, each way: one a delegate queue, fewer where the driver could
	                   not keep all apart, but one at least */
	int n_of_stage; /* in all */
	int n_sharing;  /* stages of the worker that may be on one GPU */
};

/* Stages that exchange tensors have a GPU each. */
struct streams streams_of_worker(int n_stages, int n_queues, bool has_exchanges);

static inline struct streams streams_of_live(const struct live_config *live, int n_stages)
{
	return streams_of_worker(n_stages, live->scenario->n_queues, live->exchange != NULL);
}

#endif
