/* paced.c - computes, and holds each op to its profiled time by the device clock. */
#include "engine/device/core_internal.h"
#include "engine/device/kinds_internal.h"

static const struct core_kind paced_kind = {
	.ops = &paced_ops,
	.timer = "host",
	.runs_kernels = true,
	.holds_durations = true,
};

static int paced_open(const struct device_config *config, struct device **out, struct err *err)
{
	return core_open(&paced_kind, config, out, err);
}

const struct device_ops paced_ops = {
	.name = "paced",
	.open = paced_open,
	.close = core_close,
	.memory = core_memory,
	.stream_new = core_stream_new,
	.event_new = core_event_new,
	.launch = core_launch,
	.copy = core_copy,
	.call = core_call,
	.hold = core_hold,
	.record = core_record,
	.wait = core_wait,
	.query = core_query,
	.progress = core_progress,
};
