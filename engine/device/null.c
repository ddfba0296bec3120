/* null.c - runs no kernel; ops take their profiled time on the clock it is given.
 *
 * Copies and callbacks are real, since the messages of a run in virtual time are. Time jumps are
 * the caller's: device_progress() says how far nothing happens. */
#include "engine/device/core_internal.h"
#include "engine/device/kinds_internal.h"

static const struct core_kind null_kind = {
	.ops = &null_ops,
	.timer = "virtual",
	.runs_kernels = false,
	.holds_durations = true,
};

static int null_open(const struct device_config *config, struct device **out, struct err *err)
{
	return core_open(&null_kind, config, out, err);
}

const struct device_ops null_ops = {
	.name = "null",
	.open = null_open,
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
