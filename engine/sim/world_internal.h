/* world_internal.h - what world.c (faults in force), world_ops.c (ops at which they start or end)
 * and world_record.c (what they did) share. */
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

/* Places in the list of ops; -1: it does not start, or end, at one. */
struct fault_ops {
	int start;
	int end;
};

/* A moment of a run. */
struct instant {
	int iteration;
	int64_t now_ns;
	bool is_message; /* a message enters its channel or queue, rather than an op starts */
	const struct moment *op; /* the one that starts; NULL: none in particular */
};

struct world {
	const struct scenario *scenario;
	uint64_t seed;
	struct sim_world view;
	struct shape healthy;
	struct shape *messages;
	int64_t *op_ns; /* [kind][stage] */
	struct fault_state *faults;
	struct fault_ops *fault_ops;
	struct moment *ops; /* scenario_list_ops() */
	size_t n_ops;
	int64_t *op_starts; /* [n_ops], own or the caller's; world.h */
	int64_t *own_op_starts;
	const bool *is_left;             /* [n_faults], the caller's; NULL: none is */
	const struct fault_times *times; /* [n_faults], the caller's; NULL: all is as asked */
	struct measuring *measuring;     /* NULL: nothing is measured */
	struct sim_outage *outages; /* of this iteration; a DOWN fires once, so there is room */
	int iteration;
	int64_t start_ns;
};

/* world_ops.c */
int world_list_ops(struct world *world, struct err *err);
bool world_is_in_force(const struct world *world, size_t fault, struct instant instant);

/* world_ops.c: may the fault start or end inside the iteration in hand, after its start? */
bool world_may_change(const struct world *world, size_t fault);

/* world_ops.c: its start at a time or at an op of the iteration in hand, and its end at a time or
 * an op, since the run's start; WORLD_NOT_YET. */
int64_t world_fault_start_ns(const struct world *world, size_t fault);
int64_t world_fault_end_ns(const struct world *world, size_t fault);

/* world_measure.c; without measuring all of them do nothing. One message of the fault's, in one
 * replica; that replica's iteration is over; all replicas' is. */
void measuring_add_message(struct world *world, size_t fault, int64_t start_ns, int64_t arrive_ns);
void measuring_end_replica(struct world *world, size_t fault);
void measuring_end_iteration(struct world *world, size_t fault);
void measuring_free(struct measuring *measuring);

/* world_measure.c: fill in out, return it, and begin anew; NULL: nothing is measured. */
const struct record_traffic *measuring_report(struct world *world, size_t fault,
                                              struct record_traffic *out);

static inline int world_fault_direction(const struct fault *fault)
{
	int link = fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;

	return sim_direction(link, fault->from_stage > fault->to_stage);
}

#endif
