/* inbox.c - events on their way to the caller, some of them held for their moment. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/transport/transport_internal.h"

static bool grow_ready(struct inbox *inbox)
{
	size_t capacity = inbox->capacity ? inbox->capacity * 2 : 64;
	struct transport_event *ready = array_new(capacity, sizeof(*ready));

	if (!ready)
		return false;
	for (size_t i = 0; i < inbox->n_ready; i++)
		ready[i] = inbox->ready[(inbox->first + i) % inbox->capacity];
	free(inbox->ready);
	inbox->ready = ready;
	inbox->capacity = capacity;
	inbox->first = 0;
	return true;
}

static void add_ready(struct inbox *inbox, const struct transport_event *event)
{
	if (inbox->n_ready == inbox->capacity && !grow_ready(inbox)) {
		inbox->is_failed = true;
		return;
	}
	inbox->ready[(inbox->first + inbox->n_ready++) % inbox->capacity] = *event;
}

static bool is_before(const struct inbox_item *a, const struct inbox_item *b)
{
	return a->moment_ns != b->moment_ns ? a->moment_ns < b->moment_ns : a->order < b->order;
}

static void swap(struct inbox_item *a, struct inbox_item *b)
{
	struct inbox_item kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_up(struct inbox_item *held, size_t i)
{
	while (i > 0 && is_before(&held[i], &held[(i - 1) / 2])) {
		swap(&held[i], &held[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct inbox_item *held, size_t n, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n && is_before(&held[child + 1], &held[child]))
			child++;
		if (!is_before(&held[child], &held[i]))
			return;
		swap(&held[child], &held[i]);
		i = child;
	}
}

static void hold(struct inbox *inbox, const struct inbox_item *item)
{
	struct inbox_item *held =
		array_grow(inbox->held, &inbox->held_capacity, inbox->n_held + 1, sizeof(*held));

	if (!held) {
		inbox->is_failed = true;
		return;
	}
	inbox->held = held;
	held[inbox->n_held] = *item;
	sift_up(held, inbox->n_held++);
}

bool inbox_add(struct inbox *inbox, const struct transport_event *event, int64_t moment_ns,
               uint64_t token)
{
	struct inbox_item item = {
		.event = *event,
		.moment_ns = moment_ns,
		.order = inbox->n_ever++,
		.token = token,
	};

	bool is_behind_due = inbox->n_held > 0 && inbox->held[0].moment_ns <= event->arrived_ns;

	item.event.at_ns = moment_ns > event->arrived_ns ? moment_ns : event->arrived_ns;
	if (moment_ns <= event->arrived_ns && !is_behind_due) {
		add_ready(inbox, &item.event);
		return true;
	}
	hold(inbox, &item);
	return false;
}

static void pop(struct inbox *inbox, struct inbox_item *out)
{
	*out = inbox->held[0];
	inbox->held[0] = inbox->held[--inbox->n_held];
	sift_down(inbox->held, inbox->n_held, 0);
}

bool inbox_pop_due(struct inbox *inbox, int64_t now_ns, struct inbox_item *out)
{
	if (inbox->n_held == 0 || inbox->held[0].moment_ns > now_ns)
		return false;
	pop(inbox, out);
	add_ready(inbox, &out->event);
	return true;
}

static bool is_of_end(const struct transport_event *event, int stage, int peer, int rail)
{
	const struct message *message = &event->message;
	bool is_incoming = event->kind == TRANSPORT_RECEIVED;

	return message->rail == rail && message->from_stage == (is_incoming ? peer : stage) &&
	       message->to_stage == (is_incoming ? stage : peer);
}

void inbox_lose(struct inbox *inbox, struct pool *pool, int stage, int peer, int rail)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < inbox->n_held; i++) {
		if (is_of_end(&inbox->held[i].event, stage, peer, rail))
			pool_give(pool, inbox->held[i].event.payload);
		else
			inbox->held[n_kept++] = inbox->held[i];
	}
	inbox->n_held = n_kept;
	for (size_t i = n_kept; i-- > 0;)
		sift_down(inbox->held, n_kept, i);
}

size_t inbox_take(struct inbox *inbox, struct transport_event *events, size_t n)
{
	size_t n_taken = inbox->n_ready < n ? inbox->n_ready : n;

	for (size_t i = 0; i < n_taken; i++)
		events[i] = inbox->ready[(inbox->first + i) % inbox->capacity];
	if (n_taken > 0) {
		inbox->first = (inbox->first + n_taken) % inbox->capacity;
		inbox->n_ready -= n_taken;
	}
	return n_taken;
}

int64_t inbox_next_ns(const struct inbox *inbox)
{
	if (inbox->n_ready > 0)
		return 0;
	return inbox->n_held > 0 ? inbox->held[0].moment_ns : INT64_MAX;
}

void inbox_fini(struct inbox *inbox)
{
	free(inbox->ready);
	free(inbox->held);
}
