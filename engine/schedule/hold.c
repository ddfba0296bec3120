/* hold.c - keeps the lead that the warm-up gave, instead of spending it on the first backwards.
 *
 * B > F > W runs several backwards in a row as soon as they arrive, and is left with a slackness of
 * 2 however many forwards it began with. Alternating strictly leaves the stage as far ahead of the
 * next one as its warm-up made it (DESIGN.md section 5). */
#include "engine/schedule/policy_internal.h"

static void fill_stage(struct plan *plan, int stage, int warmup, int limit)
{
	struct op_writer writer = op_writer_at(plan, stage);
	int n = plan->n_microbatches;

	for (int i = 0; i < warmup; i++)
		op_put(&writer, OP_F);
	while (writer.next[OP_F] < n) {
		op_put(&writer, OP_B);
		if (op_is_full(&writer, limit))
			op_put(&writer, OP_W);
		op_put(&writer, OP_F);
	}
	while (writer.next[OP_B] < n) {
		op_put(&writer, OP_B);
		op_put(&writer, OP_W);
	}
	while (writer.next[OP_W] < n)
		op_put(&writer, OP_W);
}

void hold_order(const struct schedule_request *request, const int *warmups, struct plan *plan)
{
	int cap = plan->n_microbatches;

	for (int s = 0; s < plan->n_stages; s++) {
		const char *reason;

		cap = policy_cap(request, request->limits, s, cap, &reason);
		cap = warmups[s] < cap ? warmups[s] : cap;
		cap = cap > 1 ? cap : 1;
		fill_stage(plan, s, cap, request->limits ? request->limits[s] : 0);
	}
}

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int rc = request->has_straggler ? warmups_adapted(request, plan, err)
	                                : warmups_initial(request, plan, err);

	if (rc == 0)
		hold_order(request, plan->warmups, plan);
	return rc;
}

static int hold_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops hold_ops = {
	.name = "hold",
	.summary = "adaptra's warm-ups, then strictly B and F in turn",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_REPLANS,
	.make = hold_make,
};
