/* schedule.h - policies that turn a workload and the delays of its links into a plan.
 *
 * A policy is a function of its request alone: same request, same plan. Which data plane a schedule
 * uses and whether it adapts is part of the policy's row, because it is part of what the names mean
 * in the literature. */
#ifndef ENGINE_SCHEDULE_SCHEDULE_H
#define ENGINE_SCHEDULE_SCHEDULE_H

#include "engine/base/err.h"
#include "engine/scenario/plane.h"
#include "engine/schedule/plan.h"

/* Borrowed by the policy for the time of the call. */
struct schedule_request {
	struct plan_times times; /* link_ns: the delays that the plan is to be made for */
	/* n_stages − 1: what the links take without any fault; NULL: 0 */
	const int64_t *healthy_link_ns;
	int n_microbatches;
	const int *limits;  /* activation limit per stage; NULL or 0: none */
	int n_fitting;      /* activations that fit stage 0's memory, ⌊M / M_F⌋; 0: not known */
	bool has_straggler; /* adaptive policies: make the adapted plan, not the initial one */
	const struct plan *order; /* csv:FILE's order; NULL for every other policy */
};

enum schedule_adaptation {
	SCHEDULE_FIXED,   /* plan and plane never change */
	SCHEDULE_MOVES,   /* on a straggler the plane becomes delegate, the plan stays */
	SCHEDULE_REPLANS, /* plane becomes delegate, and a plan is made for the delays seen */
};

struct schedule_ops {
	const char *name;
	const char *summary; /* one line for list and doctor */

	/* The plane the run starts on. */
	enum plane_kind plane;
	bool is_batched; /* stream plane: batched send/receive */
	enum schedule_adaptation adaptation;

	/* Make a plan, with warmups, planned starts and makespan set, that passes plan_verify()
	 * under the request's limits; *out is set only on success and is the caller's. -EINVAL: no
	 * plan exists for the request. */
	int (*make)(const struct schedule_request *request, struct plan *out, struct err *err);
};

/* NULL-terminated; registry.c. Study variants come last. */
const struct schedule_ops *const *schedule_list(void);

/* name is a row's name or "csv:FILE". NULL: there is none; err then names the nearest. */
const struct schedule_ops *schedule_find(const char *name, struct err *err);

static inline int schedule_make(const struct schedule_ops *ops,
                                const struct schedule_request *request, struct plan *out,
                                struct err *err)
{
	return ops->make(request, out, err);
}

/* The rules of the plane that a schedule runs on; the scenario's queues, window and cost are the
 * caller's to fill in. */
struct plane_rules schedule_plane_rules(const struct schedule_ops *ops, enum plane_kind kind);

#endif
