/* delay_queue.c - packets in the order in which they are due. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "injectors/delay_queue_internal.h"

static bool is_before(const struct delay_packet *a, const struct delay_packet *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->sequence < b->sequence;
}

int delay_queue_put(struct delay_queue *queue, struct delay_packet *packet)
{
	struct delay_packet **packets = array_grow(queue->packets, &queue->capacity,
	                                           queue->n_packets + 1, sizeof(*packets));
	size_t at = queue->n_packets;

	if (!packets)
		return -ENOMEM;
	queue->packets = packets;
	queue->n_packets++;
	packet->sequence = queue->n_put++;
	while (at > 0 && is_before(packet, packets[(at - 1) / 2])) {
		packets[at] = packets[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	packets[at] = packet;
	return 0;
}

struct delay_packet *delay_queue_first(const struct delay_queue *queue)
{
	return queue->n_packets > 0 ? queue->packets[0] : NULL;
}

void delay_queue_pop(struct delay_queue *queue)
{
	struct delay_packet **packets = queue->packets, *last = packets[--queue->n_packets];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < queue->n_packets && is_before(packets[child + 1], packets[child]))
			child++;
		if (child >= queue->n_packets || !is_before(packets[child], last))
			break;
		packets[at] = packets[child];
		at = child;
	}
	packets[at] = last;
}

void delay_queue_fini(struct delay_queue *queue)
{
	for (size_t i = 0; i < queue->n_packets; i++)
		free(queue->packets[i]);
	free(queue->packets);
	*queue = (struct delay_queue){0};
}
