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

static bool has_same_stream(const struct plane_rules *a, const struct plane_rules *b)
{
	return a->is_batched == b->is_batched && a->order == b->order &&
	       a->is_channel_shared == b->is_channel_shared &&
	       a->has_one_issue_queue == b->has_one_issue_queue && a->host_waits == b->host_waits;
}

bool plane_is_stream_preset(const struct plane_rules *rules)
{
	const struct plane_rules batched = plane_batched(), unbatched = plane_unbatched();

	return has_same_stream(rules, &batched) || has_same_stream(rules, &unbatched);
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
