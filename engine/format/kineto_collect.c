/* kineto_collect.c - keeps of each event of a trace what ops are made of. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/base/array.h"
#include "engine/format/kineto_internal.h"
#include "engine/format/text_internal.h"

#define STEP_PREFIX  "ProfilerStep#"
#define RANGE_PREFIX "PP:"

/* What PyTorch calls the types of elements. */
static const struct {
	const char *name;
	int bytes;
} elements[] = {
	{"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Byte", 1}, {"Char", 1},   {"Short", 2},
	{"Int", 4},   {"Long", 8}, {"Double", 8},   {"Bool", 1}, {"Float8", 1},
};

int kineto_table_add(struct kineto_trace *trace, struct kineto_table *table, const void *item,
                     size_t item_bytes, struct err *err)
{
	char *items;

	if (table->n == trace->out->ops_max)
		return kineto_fail(trace, -EFBIG, err, "more than %zu of its kind to be kept",
		                   trace->out->ops_max);
	items = array_grow(table->items, &table->capacity, table->n + 1, item_bytes);
	if (items == NULL)
		return kineto_fail(trace, -ENOMEM, err, "out of memory");
	table->items = items;
	memcpy(items + table->n++ * item_bytes, item, item_bytes);
	return 0;
}

static void skip_named(struct kineto_trace *trace, const char *name)
{
	observed_skip(trace->out, name, strlen(name));
}

static void skip(struct kineto_trace *trace, const struct kineto_event *event)
{
	skip_named(trace, event->category_name[0] ? event->category_name : "no category");
}

/* A process and a thread of it in one. */
static uint64_t lane_of(const struct kineto_event *event)
{
	return (uint64_t)event->process << 32 ^ (uint64_t)event->thread;
}

/* What every event that counts has to say. */
static int check_event(struct kineto_trace *trace, const struct kineto_event *event,
                       struct err *err)
{
	if (!event->has_name || !event->has_start || !event->has_duration)
		return kineto_fail(trace, -EINVAL, err, "a %s without its %s", event->category_name,
		                   !event->has_name    ? "name"
		                   : !event->has_start ? "ts"
		                                       : "dur");
	if (event->duration_ns < 0)
		return kineto_fail(trace, -EINVAL, err, "a %s with a negative duration",
		                   event->category_name);
	return 0;
}

static int add_step(struct kineto_trace *trace, const struct kineto_event *event, struct err *err)
{
	const char *number = event->name + strlen(STEP_PREFIX);
	struct text_span rest = {number, strlen(number)};
	struct kineto_step step = {.start_ns = event->start_ns,
	                           .end_ns = event->start_ns + event->duration_ns};

	if (text_take_count(&rest, INT32_MAX - 1, &step.iteration) < 0 || rest.length > 0) {
		observed_reject(trace->out, "ProfilerStep without a number");
		return 0;
	}
	return kineto_table_add(trace, &trace->steps, &step, sizeof(step), err);
}

static int add_range(struct kineto_trace *trace, const struct kineto_event *event,
                     const struct action_name *action, struct err *err)
{
	struct kineto_table *table =
		event->category == KINETO_HOST_RANGE ? &trace->host_ranges : &trace->device_ranges;
	struct kineto_range range = {.action = *action,
	                             .start_ns = event->start_ns,
	                             .end_ns = event->start_ns + event->duration_ns,
	                             .lane = lane_of(event),
	                             .place = trace->n_events,
	                             .iteration = -1,
	                             .occurrence = -1};

	return kineto_table_add(trace, table, &range, sizeof(range), err);
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* PyTorch's own names, else those that the user described. */
static enum name_match find_action(const struct kineto_trace *trace,
                                   const struct kineto_event *event, struct action_name *out)
{
	const char *action = event->name + strlen(RANGE_PREFIX);

	if (begins_with(event->name, RANGE_PREFIX))
		return action_name_parse(action, strlen(action), out) ? NAME_ACTION : NAME_UNKNOWN;
	return trace->names ? name_pattern_match(trace->names, event->name, out) : NAME_OTHER;
}

static int collect_range(struct kineto_trace *trace, const struct kineto_event *event,
                         struct err *err)
{
	struct action_name action;
	int rc = check_event(trace, event, err);

	if (rc < 0)
		return rc;
	switch (find_action(trace, event, &action)) {
	case NAME_ACTION:
		return add_range(trace, event, &action, err);
	case NAME_UNKNOWN:
		observed_reject(trace->out, "range of no single F, B, I, W, send or receive");
		return 0;
	case NAME_OTHER:
		break;
	}
	if (event->category == KINETO_HOST_RANGE && begins_with(event->name, STEP_PREFIX))
		return add_step(trace, event, err);
	skip(trace, event);
	return 0;
}

static int element_bytes(const char *name)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
		if (strcmp(elements[i].name, name) == 0 ||
		    (strncmp(name, "Float8", 6) == 0 && elements[i].bytes == 1))
			return elements[i].bytes;
	return -1;
}

static int64_t message_bytes(const struct kineto_event *event, bool is_send)
{
	int64_t n = is_send ? event->n_in : event->n_out, bytes;

	if (n < 0)
		n = is_send ? event->n_out : event->n_in;
	if (n < 0 || element_bytes(event->element) < 0 ||
	    __builtin_mul_overflow(n, (int64_t)element_bytes(event->element), &bytes))
		return -1;
	return bytes;
}

/* Downstream is towards the higher rank, as pipelines number their stages. */
static bool is_message(const struct kineto_event *event, struct observed_op *op)
{
	bool is_send = strcasecmp(event->collective, "send") == 0;
	bool is_forward = event->from_rank < event->to_rank;

	if (!is_send && strcasecmp(event->collective, "recv") != 0)
		return false;
	if (event->from_rank < 0 || event->to_rank < 0 || event->from_rank == event->to_rank ||
	    event->from_rank > INT16_MAX || event->to_rank > INT16_MAX)
		return false;
	*op = observed_op_of(is_send ? is_forward ? OBSERVED_SEND_FORWARD : OBSERVED_SEND_BACKWARD
	                     : is_forward ? OBSERVED_RECEIVE_FORWARD
	                                  : OBSERVED_RECEIVE_BACKWARD);
	op->peer = (int16_t)(is_send ? event->to_rank : event->from_rank);
	op->bytes = message_bytes(event, is_send);
	return true;
}

static int collect_nccl(struct kineto_trace *trace, const struct kineto_event *event,
                        struct err *err)
{
	struct observed_op op = observed_op_of(OBSERVED_ALL_REDUCE);
	bool is_between_two = strstr(event->name, "SendRecv") != NULL;

	if (is_between_two && !is_message(event, &op)) {
		skip_named(trace, "NCCL SendRecv that does not say which way");
		return 0;
	}
	if (!is_between_two && strstr(event->name, "AllReduce") == NULL) {
		skip_named(trace, "other NCCL kernel");
		return 0;
	}
	op.start_ns = event->start_ns;
	op.end_ns = event->start_ns + event->duration_ns;
	op.place = trace->n_events;
	op.stream = (int32_t)event->thread;
	return kineto_table_add(trace, &trace->messages, &op, sizeof(op), err);
}

/* Kernels and launches are only wanted where the device has no ranges of its own. */
static bool is_wanted(const struct kineto_trace *trace, const struct kineto_event *event)
{
	return trace->device_ranges.n == 0 && event->has_start && event->correlation >= 0 &&
	       event->correlation <= UINT32_MAX && event->duration_ns <= UINT32_MAX;
}

static int collect_kernel(struct kineto_trace *trace, const struct kineto_event *event,
                          struct err *err)
{
	struct kineto_kernel kernel = {.start_ns = event->start_ns,
	                               .duration_ns = (uint32_t)event->duration_ns,
	                               .correlation = (uint32_t)event->correlation};
	bool is_nccl = strncasecmp(event->name, "nccl", 4) == 0;
	int rc = check_event(trace, event, err);

	if (rc == 0 && is_nccl)
		rc = collect_nccl(trace, event, err);
	if (rc == 0 && is_wanted(trace, event))
		return kineto_table_add(trace, &trace->kernels, &kernel, sizeof(kernel), err);
	if (rc == 0 && !is_nccl)
		skip(trace, event);
	return rc;
}

static int collect_launch(struct kineto_trace *trace, const struct kineto_event *event,
                          struct err *err)
{
	struct kineto_launch launch = {.start_ns = event->start_ns,
	                               .lane = lane_of(event),
	                               .correlation = (uint32_t)event->correlation};

	if (is_wanted(trace, event))
		return kineto_table_add(trace, &trace->launches, &launch, sizeof(launch), err);
	skip(trace, event);
	return 0;
}

int kineto_collect(struct kineto_trace *trace, const struct kineto_event *event, struct err *err)
{
	int rc;

	if (event->phase != 'X' || !event->has_numbers) {
		skip(trace, event);
		return 0;
	}
	switch (event->category) {
	case KINETO_HOST_RANGE:
	case KINETO_DEVICE_RANGE:
		return collect_range(trace, event, err);
	case KINETO_KERNEL:
		return collect_kernel(trace, event, err);
	case KINETO_LAUNCH:
		return collect_launch(trace, event, err);
	case KINETO_SLICE:
		rc = check_event(trace, event, err);
		return rc < 0 ? rc : kineto_collect_slice(trace, event, err);
	case KINETO_OTHER:
		break;
	}
	skip(trace, event);
	return 0;
}
