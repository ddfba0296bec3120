/* plan.h - what every stage does, in order. */
#ifndef ENGINE_SCHEDULE_PLAN_H
#define ENGINE_SCHEDULE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/scenario/op.h"

enum { PLAN_WARNING_BYTES = 256 };

struct plan_op {
	enum op_kind kind;
	int microbatch;
	int64_t start_ns;       /* planned */
	int64_t idle_before_ns; /* planned idle time between the op before it and this one */
};

/* A bound that changed what an algorithm asked for; kept in the record. */
struct plan_clamp {
	int stage;
	int asked;          /* warm-up count the rule gave */
	int given;          /* what was left of it */
	const char *reason; /* static text: "microbatches", "activation limit", … */
};

/* ops is stage-major: stage s has ops[s * 3 * N] … ; order of each stage's three kinds is free,
 * each kind covers microbatches 0 … N − 1 once. Owns ops, warmups and clamps. */
struct plan {
	int n_stages;
	int n_microbatches;
	struct plan_op *ops;
	int *warmups;        /* forwards before the first backward, x_i */
	int64_t makespan_ns; /* of the planned starts */
	struct plan_clamp *clamps;
	size_t n_clamps;
	bool merges_backward; /* every B is directly followed by its W, as systems without a split
	                         backward do it */
};

int plan_init(struct plan *plan, int n_stages, int n_microbatches, struct err *err);
int plan_copy(const struct plan *from, struct plan *out, struct err *err);
void plan_fini(struct plan *plan);

/* Record a clamp; -ENOMEM. */
int plan_add_clamp(struct plan *plan, struct plan_clamp clamp, struct err *err);

/* First op of a stage; 3 * n_microbatches follow. */
struct plan_op *plan_stage(const struct plan *plan, int stage);

/* "F0 F1 B0 W0 …" into a heap string; NULL: out of memory. */
char *plan_order_text(const struct plan *plan, int stage);

/* Times of every op and link for which a plan is made or timed. Borrowed arrays. */
struct plan_times {
	int n_stages;
	const int64_t *op_ns[OP_KINDS]; /* [kind][stage] */
	const int64_t
		*link_ns; /* n_stages − 1; both directions; from a producer's end to the arrival */
};

/* Set warmups, planned starts, idle times and makespan by a replay in which a message arrives
 * link_ns after its producer ended. -EDEADLK: the order cannot run, err names each stage's next op;
 * -EINVAL: times that are negative or too long to add up. A failure leaves the plan as it was. */
int plan_time(struct plan *plan, const struct plan_times *times, struct err *err);

/* Each op once, dependencies acyclic, never more activations than limits[stage] (NULL: none; 0:
 * none on that stage), and no deadlock. 0: all hold. *warning (PLAN_WARNING_BYTES, may be NULL) is
 * set to "" or to a sentence when the order ends only because sends are buffered: it would deadlock
 * where a send completes only once its receive is posted (plans that merge the backward post a send
 * and the next receive from the same neighbour together). Else -EINVAL or -EDEADLK, err says stage
 * and op. */
int plan_verify(const struct plan *plan, const int *limits, char *warning, struct err *err);

/* Most activations stage holds at once: F adds one, W frees one. */
int plan_peak_activations(const struct plan *plan, int stage);

/* A plan must keep each kind in microbatch order to run live (bit-equal losses). */
bool plan_is_in_microbatch_order(const struct plan *plan);

#endif
