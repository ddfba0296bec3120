/* gpipe.c - all forwards, then all backwards.
 *
 * Where a stage cannot hold all activations, the microbatches go through in rounds as large as the
 * tightest stage can hold, all stages alike, each round with its own forwards and backwards. */
#include "engine/schedule/policy_internal.h"

static int round_size(const struct schedule_request *request, struct plan *plan, int *out,
                      struct err *err)
{
	struct plan_clamp clamp = {.asked = plan->n_microbatches, .given = plan->n_microbatches};

	for (int s = 0; s < plan->n_stages; s++) {
		const char *reason;
		int most = policy_cap(request, request->limits, s, clamp.given, &reason);

		if (most < clamp.given)
			clamp = (struct plan_clamp){s, clamp.asked, most, reason};
	}
	*out = clamp.given;
	return clamp.given < clamp.asked ? plan_add_clamp(plan, clamp, err) : 0;
}

static void fill_stage(struct plan *plan, int stage, int most)
{
	struct op_writer writer = op_writer_at(plan, stage);

	while (writer.next[OP_W] < plan->n_microbatches) {
		int left = plan->n_microbatches - writer.next[OP_W];
		int n = left < most ? left : most;

		for (int i = 0; i < n; i++)
			op_put(&writer, OP_F);
		for (int i = 0; i < n; i++) {
			op_put(&writer, OP_B);
			op_put(&writer, OP_W);
		}
	}
}

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int most;
	int rc = round_size(request, plan, &most, err);

	if (rc)
		return rc;
	plan->merges_backward = true;
	for (int s = 0; s < plan->n_stages; s++)
		fill_stage(plan, s, most);
	return 0;
}

static int gpipe_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops gpipe_ops = {
	.name = "gpipe",
	.summary = "all forwards, then all backwards",
	.plane = PLANE_STREAM,
	.is_batched = true,
	.adaptation = SCHEDULE_FIXED,
	.make = gpipe_make,
};
