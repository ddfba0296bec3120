/* worker_internal.h - what worker.c (a worker's life) and worker_run.c (one iteration) share. */
#ifndef ENGINE_REPLAY_WORKER_INTERNAL_H
#define ENGINE_REPLAY_WORKER_INTERNAL_H

#include "engine/replay/control.h"
#include "engine/replay/stage.h"
#include "engine/replay/worker.h"

struct worker {
	const struct worker_config *config;
	int first_stage;
	int n_stages;
	bool *is_local;              /* [all stages] */
	struct stage **stages;       /* [n_stages], from first_stage on */
	struct transport *transport; /* shaped around another one */
	struct world *world;
	struct plan plan; /* in force; without stages before the first iteration */
	struct plan unit_copy;
	int plan_version;
	int64_t real_start_ns; /* of the iteration, for the hook of the transport */
};

/* Run one iteration. -ENETDOWN: the job dies of a rail, at *died_ns_out of the iteration's profile
 * time. *fired_out: bits of the outages that fired on this worker's stages. */
int worker_run(struct worker *worker, const struct order *order, uint32_t *fired_out,
               int64_t *died_ns_out, struct err *err);

/* The stage of this worker with that number; NULL: it is another worker's. */
struct stage *worker_stage(const struct worker *worker, int stage);

#endif
