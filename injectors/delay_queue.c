/* delay_queue.c - packets in the order in which they are due. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "injectors/delay_queue_internal.h"

static bool is_before(const struct delay_entry *a, const struct delay_entry *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->sequence < b->sequence;
}

int delay_queue_put(struct delay_queue *queue, int64_t due_ns, struct delay_packet *packet)
{
	const struct delay_entry entry = {due_ns, queue->n_put, packet};
	struct delay_entry *entries = array_grow(queue->entries, &queue->capacity,
	                                         queue->n_entries + 1, sizeof(*entries));
	size_t at = queue->n_entries;

	if (!entries)
		return -ENOMEM;
	queue->entries = entries;
	queue->n_entries++;
	queue->n_put++;
	while (at > 0 && is_before(&entry, &entries[(at - 1) / 2])) {
		entries[at] = entries[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	entries[at] = entry;
	return 0;
}

const struct delay_entry *delay_queue_first(const struct delay_queue *queue)
{
	return queue->n_entries > 0 ? queue->entries : NULL;
}

void delay_queue_pop(struct delay_queue *queue)
{
	struct delay_entry *entries = queue->entries, last = entries[--queue->n_entries];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < queue->n_entries && is_before(&entries[child + 1], &entries[child]))
			child++;
		if (child >= queue->n_entries || !is_before(&entries[child], &last))
			break;
		entries[at] = entries[child];
		at = child;
	}
	entries[at] = last;
}

void delay_queue_fini(struct delay_queue *queue)
{
	free(queue->entries);
	*queue = (struct delay_queue){0};
}
