/* cpu.c - computes; an op ends when its kernel ends. */
#include "engine/device/core_internal.h"
#include "engine/device/kinds_internal.h"

static const struct core_kind cpu_kind = {
	.ops = &cpu_ops,
	.timer = "host",
	.runs_kernels = true,
	.holds_durations = false,
};

static int cpu_open(const struct device_config *config, struct device **out, struct err *err)
{
	return core_open(&cpu_kind, config, out, err);
}

const struct device_ops cpu_ops = {
	.name = "cpu",
	.open = cpu_open,
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
