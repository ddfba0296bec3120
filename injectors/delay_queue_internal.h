/* delay_queue_internal.h - packets in the order in which they are due. */
#ifndef INJECTORS_DELAY_QUEUE_INTERNAL_H
#define INJECTORS_DELAY_QUEUE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct delay_packet;

struct delay_entry {
	int64_t due_ns;
	uint64_t sequence; /* the queue's; of two that are due at once the first one in is first */
	struct delay_packet *packet;
};

/* Start zeroed; a binary heap. Packets stay the caller's. */
struct delay_queue {
	struct delay_entry *entries;
	size_t n_entries, capacity;
	uint64_t n_put;
};

/* -ENOMEM: it is not in the queue. */
int delay_queue_put(struct delay_queue *queue, int64_t due_ns, struct delay_packet *packet);

/* NULL: empty. */
const struct delay_entry *delay_queue_first(const struct delay_queue *queue);

/* Take the first one out. The queue must not be empty. */
void delay_queue_pop(struct delay_queue *queue);

void delay_queue_fini(struct delay_queue *queue);

#endif
