/* predict.h - what the simulator says of a measured run, under the rules of its data plane. */
#ifndef ENGINE_VALIDATE_PREDICT_H
#define ENGINE_VALIDATE_PREDICT_H

#include "engine/scenario/plane.h"
#include "engine/validate/truth.h"

/* An order and its times, ready to be simulated. Zeroed arrays: links take nothing. */
struct prediction {
	const struct truth_profile *profile;
	const struct truth_order *order; /* NULL: 1F1B of n_microbatches */
	int n_microbatches;
	struct plane_rules rules;
	int64_t hold_ns[2 * TRUTH_STAGES_MAX]; /* sim_direction(): a message holds its channel or
	                                          queue this long */
};

int predict_makespan(const struct prediction *prediction, int64_t *out_ns, struct err *err);

/* Slow links as the scenario means them: both directions. */
void predict_slow_links(struct prediction *prediction, const struct truth_run *run);

/* As the artefact's injector delayed 1F1B's batched transfers: it took the peer's group rank for
 * "previous" (0) or "next" (1), so that of all messages only stage 2's gradients to stage 1 were
 * treated wrongly. */
void predict_confused_links(struct prediction *prediction, const struct truth_run *run);

#endif
