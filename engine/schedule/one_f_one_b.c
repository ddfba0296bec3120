/* one_f_one_b.c - 1F1B: S − i forwards on stage i, then a backward and a forward in turn. */
#include "engine/schedule/policy_internal.h"

static void fill_stage(struct plan *plan, int stage, int warmup)
{
	struct op_writer writer = op_writer_at(plan, stage);

	for (int i = 0; i < warmup; i++)
		op_put(&writer, OP_F);
	while (writer.next[OP_B] < plan->n_microbatches) {
		op_put(&writer, OP_B);
		op_put(&writer, OP_W);
		if (writer.next[OP_F] < plan->n_microbatches)
			op_put(&writer, OP_F);
	}
}

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int cap = plan->n_microbatches;

	plan->merges_backward = true;
	for (int s = 0; s < plan->n_stages; s++) {
		struct plan_clamp clamp = {.stage = s, .asked = plan->n_stages - s};
		int rc = 0;

		if (clamp.asked > plan->n_microbatches)
			clamp.asked = plan->n_microbatches; /* the rule itself */
		cap = policy_cap(request, request->limits, s, cap, &clamp.reason);
		clamp.given = clamp.asked < cap ? clamp.asked : cap;
		if (clamp.given < clamp.asked)
			rc = plan_add_clamp(plan, clamp, err);
		if (rc)
			return rc;
		fill_stage(plan, s, clamp.given);
	}
	return 0;
}

static int one_f_one_b_make(const struct schedule_request *request, struct plan *out,
                            struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops one_f_one_b_ops = {
	.name = "1f1b",
	.summary = "one forward, one whole backward in turn",
	.plane = PLANE_STREAM,
	.is_batched = true,
	.adaptation = SCHEDULE_FIXED,
	.make = one_f_one_b_make,
};
