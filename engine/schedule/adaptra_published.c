/* adaptra_published.c - study variant: Algorithm 2 as it was published.
 *
 * It caps each difference at N − 2·S and nothing else. For N = 2·S all counts are 1, and for
 * large N it can ask for more warm-ups than there are microbatches; this file shows both. */
#include "engine/schedule/policy_internal.h"

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	struct list_rules rules = {
		.warmups = plan->warmups, .limits = request->limits, .waits_for_backward = true};
	int rc = request->has_straggler ? warmups_published(request, plan, err)
	                                : warmups_initial(request, plan, err);

	return rc ? rc : list_schedule(request, &rules, plan, err);
}

static int adaptra_published_make(const struct schedule_request *request, struct plan *out,
                                  struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops adaptra_published_ops = {
	.name = "adaptra-published",
	.summary = "study: Algorithm 2 with its published cap, N - 2 S",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_REPLANS,
	.make = adaptra_published_make,
};
