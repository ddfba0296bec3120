/* core_issue.c - issuing to a CPU device, and asking its events. */
#include <errno.h>
#include <stdlib.h>

#include "engine/device/checks_internal.h"
#include "engine/device/core_internal.h"

static int report_error(const struct core *core, struct err *err)
{
	return err_set(err, core->error.code, "%s", core->error.text);
}

/* Items are moved to the front of a ring twice as large. */
static int grow_ring(struct queue *queue, struct err *err)
{
	size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
	struct item *items;

	if (capacity > SIZE_MAX / sizeof(*items) / 2)
		return err_set(err, -ENOMEM, "%zu items are issued to one queue", queue->n_items);
	items = malloc(capacity * sizeof(*items));
	if (!items)
		return err_set(err, -ENOMEM, "out of memory for %zu issued items", capacity);
	for (size_t i = 0; i < queue->n_items; i++)
		items[i] = queue->items[(queue->first + i) & (queue->capacity - 1)];
	free(queue->items);
	queue->items = items;
	queue->capacity = capacity;
	queue->first = 0;
	return 0;
}

static int issue(struct device_stream *stream, const struct item *item, struct err *err)
{
	struct core *core = (struct core *)stream->device;
	struct queue *queue = ((struct core_stream *)stream)->queue;
	struct item *slot;
	int rc;

	if (core->error.code)
		return report_error(core, err);
	if (queue->n_items == queue->capacity) {
		rc = grow_ring(queue, err);
		if (rc)
			return rc;
	}
	slot = &queue->items[(queue->first + queue->n_items) & (queue->capacity - 1)];
	*slot = *item;
	slot->issued_ns = core->base.issued_as_of == DEVICE_AS_OF_CALL ? core_now(core)
	                                                               : core->base.issued_as_of;
	queue->n_items++;
	core->n_outstanding++;
	core->is_changed = true;
	return 0;
}

int64_t core_scaled_ns(const struct core *core, int64_t duration_ns)
{
	if (!core->kind->holds_durations)
		return 0;
	return device_scaled_ns(core->config.speed, duration_ns);
}

int core_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                struct device_duration duration, struct err *err)
{
	const struct core *core = (struct core *)stream->device;
	struct item item = {.kind = ITEM_LAUNCH};
	int rc = device_check_duration(core->config.speed, duration.ns, err);

	if (rc)
		return rc;
	item.launch.kernel = kernel;
	item.launch.argument = argument;
	item.launch.duration_ns = core_scaled_ns(core, duration.ns);
	if (core->kind->holds_durations)
		item.launch.ask = duration.ask;
	return issue(stream, &item, err);
}

int core_copy(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
              struct err *err)
{
	const struct item item = {
		.kind = ITEM_COPY,
		.copy = {.to = to, .from = from, .n_bytes = n_bytes},
	};

	return issue(stream, &item, err);
}

int core_call(struct device_stream *stream, device_callback *callback, void *argument,
              struct err *err)
{
	const struct item item = {
		.kind = ITEM_CALL,
		.call = {.callback = callback, .argument = argument},
	};

	return issue(stream, &item, err);
}

int core_hold(struct device_stream *stream, const struct device_flag *flag, struct err *err)
{
	const struct item item = {.kind = ITEM_HOLD, .flag = flag};

	return issue(stream, &item, err);
}

int core_record(struct device_event *event, struct device_stream *stream, struct err *err)
{
	struct core *core = (struct core *)stream->device;
	struct core_event *own = (struct core_event *)event;
	struct item item = {.kind = ITEM_RECORD};
	int rc = device_check_same(event, stream, err);

	if (rc)
		return rc;
	item.mark = core_mark_new(core);
	if (!item.mark)
		return err_set(err, -ENOMEM, "out of memory for the record of an event");
	rc = issue(stream, &item, err);
	if (rc) {
		core_mark_release(core, item.mark);
		return rc;
	}
	if (own->mark)
		core_mark_release(core, own->mark);
	own->mark = item.mark;
	own->mark->n_users++;
	return 0;
}

int core_wait(struct device_stream *stream, struct device_event *event, struct err *err)
{
	struct item item = {.kind = ITEM_WAIT, .mark = ((struct core_event *)event)->mark};
	const struct core *core = (struct core *)stream->device;
	int rc = device_check_same(event, stream, err);

	if (rc)
		return rc;
	if (!item.mark)
		return core->error.code ? report_error(core, err) : 0;
	rc = issue(stream, &item, err);
	if (rc == 0)
		item.mark->n_users++;
	return rc;
}

int core_query(struct device_event *event, int64_t *scheduled_ns_out, int64_t *real_ns_out,
               struct err *err)
{
	const struct core *core = (struct core *)event->device;
	const struct mark *mark = ((struct core_event *)event)->mark;

	if (core->error.code)
		return report_error(core, err);
	if (mark && !mark->is_done)
		return 0;
	if (scheduled_ns_out)
		*scheduled_ns_out = mark ? mark->scheduled_ns : 0;
	if (real_ns_out)
		*real_ns_out = mark ? mark->real_ns : 0;
	return 1;
}
