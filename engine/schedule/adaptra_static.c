/* adaptra_static.c - study variant: Algorithm 1's plan over delegates, never planned again.
 *
 * What the order B > F > W is worth when nobody tells it of the delay: it spends the lead of its
 * warm-up on the first backwards and then cascades (DESIGN.md section 5, Equation 1). */
#include "engine/schedule/policy_internal.h"

static int adaptra_static_make(const struct schedule_request *request, struct plan *out,
                               struct err *err)
{
	struct schedule_request initial = *request;

	initial.has_straggler = false;
	return adaptra_ops.make(&initial, out, err);
}

const struct schedule_ops adaptra_static_ops = {
	.name = "adaptra-static",
	.summary = "study: adaptra's initial plan, never adapted",
	.plane = PLANE_DELEGATE,
	.adaptation = SCHEDULE_FIXED,
	.make = adaptra_static_make,
};
