/* core_progress.c - running what is due on a CPU device. */
#include <errno.h>
#include <string.h>

#include "engine/device/core_internal.h"

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Saturates, since a flag's moment is the caller's and may be anything. */
static int64_t after(int64_t at_ns, int64_t duration_ns)
{
	int64_t sum_ns;

	return __builtin_add_overflow(at_ns, duration_ns, &sum_ns) ? INT64_MAX : sum_ns;
}

/* The current item has ended at this scheduled moment. */
static void leave(struct core *core, struct queue *queue, int64_t at_ns)
{
	queue->reached_ns = at_ns;
	queue->state = QUEUE_EMPTY;
	core->n_outstanding--;
}

/* What the item that has just become current waits for, as far as its kind says. */
static enum queue_state state_of(const struct core *core, const struct queue *queue)
{
	const struct item *item = &queue->current;

	switch (item->kind) {
	case ITEM_LAUNCH:
		return core->kind->runs_kernels ? QUEUE_READY : QUEUE_ENDS_AT;
	case ITEM_COPY:
		return item->copy.n_bytes > DEVICE_COPY_SMALL_BYTES ? QUEUE_READY : QUEUE_ENDS_AT;
	case ITEM_HOLD:
		return QUEUE_HOLDS;
	case ITEM_WAIT:
		return QUEUE_WAITS;
	case ITEM_CALL:
	case ITEM_RECORD:
		break;
	}
	return QUEUE_ENDS_AT;
}

/* The queue's computation starts. */
static int64_t duration_ns(const struct core *core, const struct queue *queue)
{
	const struct item *item = &queue->current;

	if (!item->launch.ask)
		return item->launch.duration_ns;
	return core_scaled_ns(core, item->launch.ask(item->launch.argument, queue->start_ns));
}

/* Make the next item the current one; false: there is none. */
static bool take_next(const struct core *core, struct queue *queue)
{
	const struct item *item = &queue->current;

	if (queue->n_items == 0)
		return false;
	queue->current = queue->items[queue->first];
	queue->first = (queue->first + 1) & (queue->capacity - 1);
	queue->n_items--;
	queue->start_ns = later_of(queue->reached_ns, item->issued_ns);
	queue->state = state_of(core, queue);
	queue->due_ns = queue->start_ns;
	if (item->kind == ITEM_LAUNCH && queue->state == QUEUE_ENDS_AT)
		queue->due_ns = after(queue->start_ns, duration_ns(core, queue));
	return true;
}

/* Pass what the queue need not stand at; afterwards state and due_ns say what it stands at. */
static void advance(struct core *core, struct queue *queue)
{
	for (;;) {
		const struct item *item = &queue->current;

		if (queue->state == QUEUE_EMPTY && !take_next(core, queue))
			return;
		if (queue->state == QUEUE_WAITS && item->mark->is_done) {
			leave(core, queue, later_of(queue->start_ns, item->mark->scheduled_ns));
			core_mark_release(core, item->mark);
		} else if (queue->state == QUEUE_HOLDS && device_flag_is_set(item->flag)) {
			leave(core, queue, later_of(queue->start_ns, item->flag->at_ns));
		} else {
			return;
		}
	}
}

/* Look at every queue: note when what comes next, and return the queue whose item ends first; NULL:
 * none ends by itself. *ready_out: the one whose computation begins first, or NULL. */
static struct queue *look(struct core *core, struct queue **ready_out)
{
	struct queue *first = NULL, *ready = NULL;

	core->n_holding = 0;
	core->is_changed = false;
	for (size_t i = 0; i < core->n_queues; i++) {
		struct queue *queue = core->queues[i];

		advance(core, queue);
		core->n_holding += queue->state == QUEUE_HOLDS;
		if (queue->state == QUEUE_ENDS_AT && (!first || queue->due_ns < first->due_ns))
			first = queue;
		if (queue->state == QUEUE_READY && (!ready || queue->due_ns < ready->due_ns))
			ready = queue;
	}
	core->light_ns = first ? first->due_ns : INT64_MAX;
	core->ready_ns = ready ? ready->due_ns : INT64_MAX;
	*ready_out = ready;
	return first;
}

/* The copy's own time is part of the schedule, how late it began is not. */
static void run_copy(struct core *core, struct queue *queue, int64_t *now_ns)
{
	const struct item item = queue->current;
	int64_t began_ns = core_now(core);

	if (item.copy.n_bytes > 0)
		memmove(item.copy.to, item.copy.from, item.copy.n_bytes);
	*now_ns = core_now(core);
	leave(core, queue,
	      core->kind->holds_durations ? after(queue->start_ns, *now_ns - began_ns) : *now_ns);
}

/* What the callback issues is a consequence of this moment, not of when it was found to be due. */
static void run_callback(struct core *core, struct queue *queue, int64_t at_ns, int64_t *now_ns)
{
	const struct item item = queue->current;

	leave(core, queue, at_ns);
	core->base.issued_as_of = at_ns;
	item.call.callback(item.call.argument);
	core->base.issued_as_of = DEVICE_AS_OF_CALL;
	*now_ns = core_now(core);
}

static void end_launch(struct core *core, struct queue *queue, int64_t at_ns, int64_t now_ns)
{
	struct device_stats *stats = &core->base.stats;

	stats->n_ops++;
	stats->late_ns_sum += now_ns - at_ns;
	stats->late_ns_max = later_of(stats->late_ns_max, now_ns - at_ns);
	leave(core, queue, at_ns);
}

static void end_record(struct core *core, struct queue *queue, int64_t at_ns, int64_t now_ns)
{
	struct mark *mark = queue->current.mark;

	mark->scheduled_ns = at_ns;
	mark->real_ns = now_ns;
	mark->is_done = true;
	core_mark_release(core, mark);
	leave(core, queue, at_ns);
}

/* The queue's item is due: do it, or note its end. */
static void end_item(struct core *core, struct queue *queue, int64_t *now_ns)
{
	int64_t at_ns = core->kind->holds_durations ? queue->due_ns : *now_ns;

	switch (queue->current.kind) {
	case ITEM_LAUNCH:
		end_launch(core, queue, at_ns, *now_ns);
		break;
	case ITEM_COPY:
		run_copy(core, queue, now_ns);
		break;
	case ITEM_CALL:
		run_callback(core, queue, at_ns, now_ns);
		break;
	case ITEM_RECORD:
		end_record(core, queue, at_ns, *now_ns);
		break;
	case ITEM_HOLD:
	case ITEM_WAIT:
		break; /* passed by advance() */
	}
}

/* Returns the queue whose computation may begin now, or NULL. */
static struct queue *end_due_items(struct core *core, int64_t now_ns)
{
	struct queue *first, *ready;

	for (;;) {
		first = look(core, &ready);
		if (!first || first->due_ns > now_ns)
			return ready && ready->due_ns <= now_ns ? ready : NULL;
		end_item(core, first, &now_ns);
	}
}

static int note_error(struct core *core, int rc)
{
	if (!core->error.text[0])
		(void)err_set(&core->error, rc, "a computation failed with code %d and no reason",
		              rc);
	core->error.code = rc < 0 ? rc : -EIO;
	return core->error.code;
}

static int begin_launch(struct core *core, struct queue *queue, int64_t *now_ns)
{
	const struct item item = queue->current;
	int64_t held_ns = duration_ns(core, queue), began_ns = core_now(core), took_ns;
	int rc = 0;

	if (item.launch.kernel)
		rc = item.launch.kernel(item.launch.argument, &core->error);
	*now_ns = core_now(core);
	if (rc)
		return note_error(core, rc);
	core->error.code = 0;
	core->error.text[0] = '\0';
	took_ns = *now_ns - began_ns;
	queue->due_ns = after(queue->start_ns, held_ns);
	queue->state = QUEUE_ENDS_AT;
	if (took_ns <= held_ns)
		return 0;
	queue->due_ns = *now_ns;
	if (held_ns > 0) {
		core->base.stats.n_overruns++;
		core->base.stats.overrun_ns_sum += took_ns - held_ns;
	}
	return 0;
}

static int run(struct core *core, bool may_compute)
{
	int64_t now_ns = core_now(core);
	struct queue *ready = end_due_items(core, now_ns);
	int rc = 0;

	if (!ready || !may_compute)
		return 0;
	now_ns = core_now(core);
	if (ready->current.kind == ITEM_LAUNCH)
		rc = begin_launch(core, ready, &now_ns);
	else
		run_copy(core, ready, &now_ns);
	if (rc == 0)
		(void)end_due_items(core, now_ns);
	return rc;
}

static bool is_any_flag_set(const struct core *core)
{
	for (size_t i = 0; i < core->n_queues; i++)
		if (core->queues[i]->state == QUEUE_HOLDS &&
		    device_flag_is_set(core->queues[i]->current.flag))
			return true;
	return false;
}

/* Whether a look at the queues can find anything; most calls of a polling worker end here. */
static bool is_worth_a_look(const struct core *core, bool may_compute)
{
	int64_t next_ns = core->light_ns;

	if (core->is_changed || (core->n_holding > 0 && is_any_flag_set(core)))
		return true;
	if (may_compute && core->ready_ns < next_ns)
		next_ns = core->ready_ns;
	return next_ns < INT64_MAX && core_now(core) >= next_ns;
}

int core_progress(struct device *device, bool may_compute, struct device_state *out,
                  struct err *err)
{
	struct core *core = (struct core *)device;

	if (core->is_progressing)
		return err_set(err, -EBUSY,
		               "device_progress() is called from within device_progress()");
	device->issued_as_of = DEVICE_AS_OF_CALL;
	if (!core->error.code && is_worth_a_look(core, may_compute)) {
		core->is_progressing = true;
		(void)run(core, may_compute); /* a failure is in core->error */
		core->is_progressing = false;
	}
	if (core->error.code)
		return err_set(err, core->error.code, "%s", core->error.text);
	out->is_idle = core->n_outstanding == 0;
	out->ready_ns = core->ready_ns;
	out->next_ns = core->light_ns < core->ready_ns ? core->light_ns : core->ready_ns;
	return 0;
}
