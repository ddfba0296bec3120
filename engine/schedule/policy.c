/* policy.c - what all policies do alike: check the request, fill a plan, time it. */
#include <errno.h>

#include "engine/schedule/plan_internal.h"
#include "engine/schedule/policy_internal.h"

static int check_request(const struct schedule_request *request, struct err *err)
{
	if (request->times.n_stages < 1 || request->n_microbatches < 1)
		return err_set(
			err, -EINVAL,
			"a schedule needs at least one stage and one microbatch, not %d and %d",
			request->times.n_stages, request->n_microbatches);
	for (int s = 0; request->limits && s < request->times.n_stages; s++)
		if (request->limits[s] < 0)
			return err_set(
				err, -EINVAL,
				"stage %d has the activation limit %d; wanted at least 1, or 0 "
				"for none",
				s, request->limits[s]);
	return plan_times_check(&request->times, request->n_microbatches, err);
}

int policy_make(const struct schedule_request *request, policy_fill *fill, struct plan *out,
                struct err *err)
{
	struct plan plan;
	int rc = check_request(request, err);

	if (rc == 0)
		rc = plan_init(&plan, request->times.n_stages, request->n_microbatches, err);
	if (rc)
		return rc;
	rc = fill(request, &plan, err);
	rc = rc ? rc : plan_time(&plan, &request->times, err);
	if (rc) {
		plan_fini(&plan);
		return rc;
	}
	*out = plan;
	return 0;
}

int policy_cap(const struct schedule_request *request, const int *limits, int stage, int cap_before,
               const char **reason_out)
{
	int limit = limits ? limits[stage] : 0;

	if (limit > 0 && limit < cap_before) {
		*reason_out = "activation limit";
		return limit;
	}
	*reason_out = cap_before == request->n_microbatches
	                      ? "microbatches"
	                      : "activation limit of an earlier stage";
	return cap_before;
}

struct op_writer op_writer_at(struct plan *plan, int stage)
{
	return (struct op_writer){.ops = plan_stage(plan, stage)};
}

void op_put(struct op_writer *writer, enum op_kind kind)
{
	writer->ops[writer->n_ops++] =
		(struct plan_op){.kind = kind, .microbatch = writer->next[kind]++};
}
