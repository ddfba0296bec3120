/* channel.h - the order in which a plan's messages pass the channel between two neighbours. */
#ifndef ENGINE_SCHEDULE_CHANNEL_H
#define ENGINE_SCHEDULE_CHANNEL_H

#include "engine/schedule/plan.h"

/* A copy of plan, timed with F = B = W = 1000 and link 1: the replay whose ends put messages of
 * both directions of a channel into one order (DESIGN.md section 4, fact 2a). -EDEADLK: the order
 * cannot run. plan_fini(out). */
int plan_copy_in_units(const struct plan *plan, struct plan *out, struct err *err);

enum { PLAN_UNIT_OP_NS = 1000 };

/* Does op, of stage, send a message when it ends? An F sends an activation to the next stage; a B,
 * or the W of a whole backward, a gradient to the one before. */
bool plan_op_sends(const struct plan *plan, int stage, const struct plan_op *op);

/* One message of a channel. */
struct channel_slot {
	enum op_kind
		kind; /* OP_F: an activation of stage link; OP_B: a gradient of stage link + 1 */
	int microbatch;
};

/* All 2 N messages of the channel between stages link and link + 1, sorted by their producers' ends
 * in unit_copy (plan_copy_in_units()), forward first on ties. out: [2 * n_microbatches]. -ENOMEM.
 */
int plan_channel_order(const struct plan *unit_copy, int link, struct channel_slot *out,
                       struct err *err);

#endif
