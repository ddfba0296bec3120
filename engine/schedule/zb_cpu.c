/* zb_cpu.c - the published ZB-CPU baseline: one greedy order for equal op times and no delay.
 *
 * The systems measured made it once, from 10 ms for every op, and never again (DESIGN.md section 4,
 * fact 4). The times of the request only say when its ops then start. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/schedule/policy_internal.h"

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	size_t n = (size_t)plan->n_stages;
	int64_t *equal_ns = array_new(n, sizeof(*equal_ns));
	int64_t *no_delay_ns = array_new(n, sizeof(*no_delay_ns));
	struct list_rules rules = {.limits = request->limits};
	struct schedule_request equal = *request;
	int rc;

	if (!equal_ns || !no_delay_ns) {
		rc = err_set(err, -ENOMEM, "no memory to schedule %d stages", plan->n_stages);
		goto free_times;
	}
	for (size_t s = 0; s < n; s++)
		equal_ns[s] = 10 * (int64_t)NS_PER_MS;
	for (int kind = OP_F; kind <= OP_W; kind++)
		equal.times.op_ns[kind] = equal_ns;
	equal.times.link_ns = no_delay_ns;
	rc = list_schedule(&equal, &rules, plan, err);
free_times:
	free(equal_ns);
	free(no_delay_ns);
	return rc;
}

static int zb_cpu_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops zb_cpu_ops = {
	.name = "zb-cpu",
	.summary = "greedy B > F > W order for equal times and no delay",
	.plane = PLANE_DELEGATE,
	.adaptation = SCHEDULE_FIXED,
	.make = zb_cpu_make,
};
