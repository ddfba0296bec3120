/* adaptra.c - Adaptra: wider slackness on the slow link, ordered by list scheduling.
 *
 * Algorithm 1's warm-ups until a straggler is seen, Algorithm 2's after; Algorithms 3 and 4 order
 * both. */
#include "engine/schedule/policy_internal.h"

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	struct list_rules rules = {
		.warmups = plan->warmups, .limits = request->limits, .waits_for_backward = true};
	int rc = request->has_straggler ? warmups_adapted(request, plan, err)
	                                : warmups_initial(request, plan, err);

	return rc ? rc : list_schedule(request, &rules, plan, err);
}

static int adaptra_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops adaptra_ops = {
	.name = "adaptra",
	.summary = "widens the slackness of slow links, over delegates",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_REPLANS,
	.make = adaptra_make,
};
