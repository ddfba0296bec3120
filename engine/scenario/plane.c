/* plane.c - the presets of the data planes' rules. */
#include "engine/scenario/plane.h"

struct plane_rules plane_batched(void)
{
	return (struct plane_rules){
		.kind = PLANE_STREAM,
		.is_batched = true,
		.order = CHANNEL_PLAN_ORDER,
		.is_channel_shared = false,
		.has_one_issue_queue = true,
		.host_waits = true,
		.window_bytes = PLANE_WINDOW_BYTES_DEFAULT,
		.n_queues = PLANE_QUEUES_DEFAULT,
	};
}

struct plane_rules plane_unbatched(void)
{
	return (struct plane_rules){
		.kind = PLANE_STREAM,
		.is_batched = false,
		.order = CHANNEL_PLAN_ORDER,
		.is_channel_shared = true,
		.has_one_issue_queue = true,
		.host_waits = true,
		.window_bytes = PLANE_WINDOW_BYTES_DEFAULT,
		.n_queues = PLANE_QUEUES_DEFAULT,
	};
}

struct plane_rules plane_delegate(void)
{
	return (struct plane_rules){
		.kind = PLANE_DELEGATE,
		.order = CHANNEL_REQUEST_ORDER,
		.window_bytes = PLANE_WINDOW_BYTES_DEFAULT,
		.n_queues = PLANE_QUEUES_DEFAULT,
	};
}

const char *plane_kind_name(enum plane_kind kind)
{
	switch (kind) {
	case PLANE_STREAM:
		return "stream";
	case PLANE_DELEGATE:
		return "delegate";
	}
	return "?";
}
