/* csv.c - an order from outside; the request carries it. */
#include <errno.h>
#include <string.h>

#include "engine/schedule/policy_internal.h"

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	const struct plan *order = request->order;
	int rc;

	if (!order)
		return err_set(err, -EINVAL,
		               "schedule csv needs an order from a file; name it as csv:FILE");
	if (order->n_stages != plan->n_stages || order->n_microbatches != plan->n_microbatches)
		return err_set(err, -EINVAL,
		               "the order is for %d stages and %d microbatches, the scenario has "
		               "%d and %d",
		               order->n_stages, order->n_microbatches, plan->n_stages,
		               plan->n_microbatches);
	rc = plan_verify(order, request->limits, NULL, err);
	if (rc)
		return rc;
	for (int s = 0; s < plan->n_stages; s++)
		memcpy(plan_stage(plan, s), plan_stage(order, s),
		       OP_KINDS * (size_t)plan->n_microbatches * sizeof(*plan->ops));
	plan->merges_backward = order->merges_backward;
	return 0;
}

static int csv_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops csv_ops = {
	.name = "csv",
	.summary = "an order from a file",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_FIXED,
	.make = csv_make,
};
