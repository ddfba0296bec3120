/* slots_internal.h - a stage's messages by op and microbatch, and its neighbours. */
#ifndef ENGINE_DATAPLANE_SLOTS_INTERNAL_H
#define ENGINE_DATAPLANE_SLOTS_INTERNAL_H

#include "engine/dataplane/plane_internal.h"

static inline int64_t plane_now_ns(const struct dataplane *plane)
{
	return plane->config.clock_ns(plane->config.clock_context);
}

/* Exchanges bring the padding along. */
static inline size_t plane_input_bytes(const struct dataplane_config *config)
{
	return config->uses_exchanges ? config->payload_bytes : config->tensor_bytes;
}

static inline size_t plane_slot(const struct dataplane *plane, enum op_kind kind, int microbatch)
{
	return (size_t)(kind == OP_B) * (size_t)plane->config.n_microbatches + (size_t)microbatch;
}

static inline size_t plane_n_slots(const struct dataplane *plane)
{
	return 2 * (size_t)plane->config.n_microbatches;
}

static inline struct sending *plane_sending(const struct dataplane *plane, enum op_kind kind,
                                            int microbatch)
{
	return &plane->sendings[plane_slot(plane, kind, microbatch)];
}

static inline struct arrival *plane_arrival(const struct dataplane *plane, enum op_kind kind,
                                            int microbatch)
{
	return &plane->arrivals[plane_slot(plane, kind, microbatch)];
}

static inline int plane_peer_stage(const struct dataplane *plane, int peer)
{
	return plane->config.stage + (peer ? 1 : -1);
}

static inline bool plane_has_peer(const struct dataplane *plane, int peer)
{
	int stage = plane_peer_stage(plane, peer);

	return stage >= 0 && stage < plane->config.n_stages;
}

#endif
