/* ring_internal.h - a bounded queue between two threads, of which one puts and the other takes.
 *
 * Neither takes a lock, makes a system call or waits for the other. What was written before an item
 * was put is seen by who takes it. */
#ifndef ENGINE_TRANSPORT_RING_INTERNAL_H
#define ENGINE_TRANSPORT_RING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

enum { CACHE_LINE_BYTES = 64 };

/* The two counters lie a cache line apart, so that the threads do not take it from each other. */
struct ring {
	char *items;
	size_t item_bytes;
	size_t capacity; /* a power of two */
	char apart[CACHE_LINE_BYTES];
	size_t n_put; /* ever */
	char apart_too[CACHE_LINE_BYTES];
	size_t n_taken; /* ever */
};

/* false: out of memory. */
bool ring_init(struct ring *ring, size_t capacity, size_t item_bytes);
void ring_fini(struct ring *ring);

/* Who puts: how many items may follow. */
size_t ring_room(const struct ring *ring);

/* false: it is full. */
bool ring_put(struct ring *ring, const void *item);

/* Who takes. false: there is nothing. */
bool ring_take(struct ring *ring, void *item_out);
bool ring_is_empty(const struct ring *ring);

#endif
