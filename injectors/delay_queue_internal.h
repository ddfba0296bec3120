/* delay_queue_internal.h - packets in the order in which they are due. */
#ifndef INJECTORS_DELAY_QUEUE_INTERNAL_H
#define INJECTORS_DELAY_QUEUE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct lane;

struct delay_packet {
	int64_t read_ns, due_ns;
	uint64_t sequence; /* the queue's; of two that are due at once the first one in is first */
	struct lane *lane;
	int n_bytes;
	char bytes[];
};

/* Start zeroed; a binary heap. */
struct delay_queue {
	struct delay_packet **packets;
	size_t n_packets, capacity;
	uint64_t n_put;
};

/* Take over packet. -ENOMEM: it stays the caller's. */
int delay_queue_put(struct delay_queue *queue, struct delay_packet *packet);

/* NULL: empty. */
struct delay_packet *delay_queue_first(const struct delay_queue *queue);

/* Take the first one out; it is the caller's then. The queue must not be empty. */
void delay_queue_pop(struct delay_queue *queue);

/* Free everything. */
void delay_queue_fini(struct delay_queue *queue);

#endif
