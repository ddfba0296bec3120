/* world_internal.h - what world.c (faults in force) and world_record.c (what they did) share. */
#ifndef ENGINE_SIM_WORLD_INTERNAL_H
#define ENGINE_SIM_WORLD_INTERNAL_H

#include "engine/sim/world.h"

/* What became of one fault of the scenario. */
struct fault_state {
	bool is_active;
	bool is_dynamic; /* asked message by message in this iteration */
	int64_t since_ns;
	int64_t n_messages;
	int64_t n_arrived; /* of them */
	int64_t extra_ns;  /* sum over those that arrived */
};

struct world {
	const struct scenario *scenario;
	uint64_t seed;
	struct sim_world view;
	struct shape healthy;
	struct shape *messages;
	int64_t *op_ns; /* [kind][stage] */
	struct fault_state *faults;
	struct sim_outage *outages; /* of this iteration; a DOWN fires once, so there is room */
	int iteration;
	int64_t start_ns;
};

static inline bool world_is_on_link(const struct fault *fault)
{
	return fault->kind == FAULT_DELAY || fault->kind == FAULT_RATE;
}

static inline int world_fault_direction(const struct fault *fault)
{
	int link = fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;

	return sim_direction(link, fault->from_stage > fault->to_stage);
}

#endif
