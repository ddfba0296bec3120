/* profile.h - what a workload costs on each stage: the times of F, B and W, bytes, memory. */
#ifndef ENGINE_SCENARIO_PROFILE_H
#define ENGINE_SCENARIO_PROFILE_H

#include <stdint.h>

#include "engine/base/err.h"

struct profile_stage {
	int64_t forward_ns;
	int64_t backward_input_ns;
	int64_t backward_weight_ns;
	int64_t activation_bytes; /* held per microbatch from F to W; 0: not known */
	int64_t memory_bytes;     /* for activations; 0: not known */
};

/* Owns its strings and stages. */
struct profile {
	char *name;
	char *source; /* where the numbers were measured */
	int n_stages;
	struct profile_stage *stages;
	int64_t message_bytes;    /* one activation or gradient between stages; 0: not known */
	int64_t delegate_cost_ns; /* one delegated message, charged to the op at either end (DESIGN
	                             4, fact 4) */
	int samples_per_microbatch;
};

/* Most activations that fit stage: memory / activation bytes, at least 1; 0 where either is not
 * known. */
int profile_activation_limit(const struct profile *profile, int stage);

int profile_copy(const struct profile *from, struct profile *out, struct err *err);
void profile_fini(struct profile *profile);

#endif
