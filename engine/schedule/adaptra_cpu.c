/* adaptra_cpu.c - zb's order for good; only the data plane changes when a straggler is seen. */
#include "engine/schedule/policy_internal.h"

static int adaptra_cpu_make(const struct schedule_request *request, struct plan *out,
                            struct err *err)
{
	return zb_ops.make(request, out, err);
}

const struct schedule_ops adaptra_cpu_ops = {
	.name = "adaptra-cpu",
	.summary = "zb's order; delegates once a link is slow",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_MOVES,
	.make = adaptra_cpu_make,
};
