/* ring.c - a bounded queue between two threads.
 *
 * Each counter is written by one side alone. Reading the other side's with acquire, and writing the
 * own one with release after the item was copied, is all the order there has to be. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/ring_internal.h"

bool ring_init(struct ring *ring, size_t capacity, size_t item_bytes)
{
	*ring = (struct ring){.items = array_new(capacity, item_bytes),
	                      .item_bytes = item_bytes,
	                      .capacity = capacity};
	return ring->items != NULL;
}

void ring_fini(struct ring *ring)
{
	free(ring->items);
}

static char *item_at(const struct ring *ring, size_t i)
{
	return ring->items + (i & (ring->capacity - 1)) * ring->item_bytes;
}

size_t ring_room(const struct ring *ring)
{
	return ring->capacity - (ring->n_put - __atomic_load_n(&ring->n_taken, __ATOMIC_ACQUIRE));
}

bool ring_put(struct ring *ring, const void *item)
{
	if (ring_room(ring) == 0)
		return false;
	memcpy(item_at(ring, ring->n_put), item, ring->item_bytes);
	__atomic_store_n(&ring->n_put, ring->n_put + 1, __ATOMIC_RELEASE);
	return true;
}

bool ring_is_empty(const struct ring *ring)
{
	return __atomic_load_n(&ring->n_put, __ATOMIC_ACQUIRE) == ring->n_taken;
}

bool ring_take(struct ring *ring, void *item_out)
{
	if (ring_is_empty(ring))
		return false;
	memcpy(item_out, item_at(ring, ring->n_taken), ring->item_bytes);
	__atomic_store_n(&ring->n_taken, ring->n_taken + 1, __ATOMIC_RELEASE);
	return true;
}
