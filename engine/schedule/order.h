/* order.h - building blocks that policies share.
 *
 * All of them fill a plan that plan_init() made for the request's stages and microbatches. */
#ifndef ENGINE_SCHEDULE_ORDER_H
#define ENGINE_SCHEDULE_ORDER_H

#include "engine/schedule/schedule.h"

/* How list_schedule() chooses. Zeroed, it is the greedy order of DESIGN.md section 4, fact 5. */
struct list_rules {
	const int *warmups;      /* forwards that come first; may be the plan's own; NULL: none */
	const int *limits;       /* most activations; NULL or 0: none */
	bool waits_for_backward; /* after its warm-up a stage idles until its first B is ready */
};

/* List scheduling (Algorithms 3 and 4): every stage runs warmups[stage] forwards, then takes what
 * is ready by priority B > F > W, ties by microbatch; event-driven, exact. Warm-ups that could not
 * be run are lowered to what can: N, the limits, the stage before. Sets the kinds and microbatches
 * of the ops, for the request's times; when they start is for plan_time() to say. O(ops log S). */
int list_schedule(const struct schedule_request *request, const struct list_rules *rules,
                  struct plan *plan, struct err *err);

/* The order that keeps the lead: after its warm-up a stage strictly alternates B, F until the
 * forwards run out, then B, W until the backwards do, then the remaining W. A stage at its limit
 * runs a W before the next F. warmups as for list_schedule(), and as little is set. */
void hold_order(const struct schedule_request *request, const int *warmups, struct plan *plan);

/* Warm-up counts into plan->warmups, non-increasing towards the last stage, within N and the
 * limits; what that took away is recorded as clamps. Algorithm 1: x_0 = n_fitting, else limits[0],
 * or 2·S where that is 0; then differences as equal as possible, larger ones first, down to 1. */
int warmups_initial(const struct schedule_request *request, struct plan *plan, struct err *err);

/* Algorithm 2: from the last stage backwards, as many forwards more than the next stage as hide the
 * delay of the link between them, at least 2. */
int warmups_adapted(const struct schedule_request *request, struct plan *plan, struct err *err);

/* Algorithm 2 as published: no difference above N − 2·S, no other cap. What cannot be run is
 * lowered all the same, and recorded. */
int warmups_published(const struct schedule_request *request, struct plan *plan, struct err *err);

/* The first 3·N letters of every stage, microbatches counted per kind: "FFBWBW". Sets the plan's
 * ops and times it. -EINVAL: another letter, or not N of each kind. */
int plan_from_letters(struct plan *plan, const char *const *letters, const struct plan_times *times,
                      struct err *err);

#endif
