/* core.c - what CPU devices are made of: queues, streams, events, memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/device/checks_internal.h"
#include "engine/device/core_internal.h"

static int64_t monotonic_ns(void *context)
{
	(void)context;
	return clock_monotonic_ns();
}

int core_open(const struct core_kind *kind, const struct device_config *config, struct device **out,
              struct err *err)
{
	struct core *core;
	int rc = device_check_config(config, err);

	if (rc)
		return rc;
	core = calloc(1, sizeof(*core));
	if (!core)
		return err_set(err, -ENOMEM, "out of memory for a device");
	core->base = (struct device){.ops = kind->ops,
	                             .timer = kind->timer,
	                             .runs_kernels = kind->runs_kernels,
	                             .issued_as_of = DEVICE_AS_OF_CALL};
	core->kind = kind;
	core->config = *config;
	if (!core->config.clock_ns)
		core->config.clock_ns = monotonic_ns;
	core->blocks.next = core->blocks.previous = &core->blocks;
	core->light_ns = core->ready_ns = INT64_MAX;
	*out = &core->base;
	return 0;
}

int64_t core_now(const struct core *core)
{
	return core->config.clock_ns(core->config.clock_context);
}

static void free_queues(struct core *core)
{
	for (size_t i = 0; i < core->n_queues; i++) {
		free(core->queues[i]->items);
		free(core->queues[i]);
	}
	free(core->queues);
}

void core_close(struct device *device)
{
	struct core *core = (struct core *)device;

	free_queues(core);
	while (core->streams) {
		struct core_stream *stream = core->streams;

		core->streams = stream->next;
		free(stream);
	}
	while (core->events) {
		struct core_event *event = core->events;

		core->events = event->next;
		free(event);
	}
	while (core->chunks) {
		struct mark_chunk *chunk = core->chunks;

		core->chunks = chunk->next;
		free(chunk);
	}
	while (core->blocks.next != &core->blocks)
		(void)core_memory(device, core->blocks.next + 1, 0, false);
	free(core);
}

static void *new_memory(struct core *core, size_t n_bytes)
{
	struct core_block *block = NULL;
	void *memory = NULL;

	if (n_bytes > SIZE_MAX / 2 ||
	    posix_memalign(&memory, sizeof(*block), sizeof(*block) + n_bytes) != 0)
		return NULL;
	memset(memory, 0, sizeof(*block) + n_bytes);
	block = memory;
	block->next = core->blocks.next;
	block->previous = &core->blocks;
	block->next->previous = block;
	core->blocks.next = block;
	return block + 1;
}

/* Device and host memory are the same here. */
void *core_memory(struct device *device, void *memory, size_t n_bytes, bool is_host)
{
	struct core_block *block = memory;

	(void)is_host;
	if (!memory)
		return new_memory((struct core *)device, n_bytes);
	block--;
	block->previous->next = block->next;
	block->next->previous = block->previous;
	free(block);
	return NULL;
}

static struct queue *new_queue(struct core *core)
{
	struct queue **queues = array_grow(core->queues, &core->queues_capacity, core->n_queues + 1,
	                                   sizeof(struct queue *));
	struct queue *queue;

	if (!queues)
		return NULL;
	core->queues = queues;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->reached_ns = INT64_MIN;
	core->queues[core->n_queues++] = queue;
	return queue;
}

static struct queue *queue_of_next_stream(struct core *core)
{
	size_t n_shared = (size_t)core->config.n_issue_queues;

	if (n_shared > 0 && core->n_streams >= n_shared)
		return core->queues[core->n_streams % n_shared];
	return new_queue(core);
}

int core_stream_new(struct device *device, struct device_stream **out, struct err *err)
{
	struct core *core = (struct core *)device;
	struct core_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		goto no_memory;
	stream->queue = queue_of_next_stream(core);
	if (!stream->queue)
		goto free_stream;
	stream->base = (struct device_stream){device, arithmetic_host()};
	stream->next = core->streams;
	core->streams = stream;
	core->n_streams++;
	*out = &stream->base;
	return 0;
free_stream:
	free(stream);
no_memory:
	return err_set(err, -ENOMEM, "out of memory for a stream");
}

int core_event_new(struct device *device, struct device_event **out, struct err *err)
{
	struct core *core = (struct core *)device;
	struct core_event *event = calloc(1, sizeof(*event));

	if (!event)
		return err_set(err, -ENOMEM, "out of memory for an event");
	event->base.device = device;
	event->next = core->events;
	core->events = event;
	*out = &event->base;
	return 0;
}

static bool add_marks(struct core *core)
{
	struct mark_chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return false;
	chunk->next = core->chunks;
	core->chunks = chunk;
	for (size_t i = 0; i < sizeof(chunk->marks) / sizeof(chunk->marks[0]); i++) {
		chunk->marks[i].next_free = core->free_marks;
		core->free_marks = &chunk->marks[i];
	}
	return true;
}

/* With one user. NULL: out of memory. */
struct mark *core_mark_new(struct core *core)
{
	struct mark *mark;

	if (!core->free_marks && !add_marks(core))
		return NULL;
	mark = core->free_marks;
	core->free_marks = mark->next_free;
	*mark = (struct mark){.n_users = 1};
	return mark;
}

void core_mark_release(struct core *core, struct mark *mark)
{
	if (--mark->n_users > 0)
		return;
	mark->next_free = core->free_marks;
	core->free_marks = mark;
}
