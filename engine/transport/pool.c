/* pool.c - payload buffers that are used again. */
#include <stdlib.h>

#include "engine/transport/transport_internal.h"

enum { SMALLEST_CLASS = 10, ALIGNMENT_BYTES = 64 };

/* In front of each payload, on cache lines of its own. */
struct pool_buffer {
	_Alignas(ALIGNMENT_BYTES) struct pool_buffer *next_spare;
	struct pool_buffer *next;
	int class;
};

static int class_of(int64_t n_bytes)
{
	int class = SMALLEST_CLASS;

	while (((int64_t)1 << class) < n_bytes)
		class ++;
	return class;
}

void *pool_take(struct pool *pool, int64_t n_bytes)
{
	int class = class_of(n_bytes);
	struct pool_buffer *buffer = pool->spare[class];

	if (buffer) {
		pool->spare[class] = buffer->next_spare;
		return buffer + 1;
	}
	buffer = aligned_alloc(ALIGNMENT_BYTES, sizeof(*buffer) + ((size_t)1 << class));
	if (!buffer)
		return NULL;
	*buffer = (struct pool_buffer){.next = pool->all, .class = class};
	pool->all = buffer;
	return buffer + 1;
}

void pool_give(struct pool *pool, void *payload)
{
	struct pool_buffer *buffer = payload;

	if (!buffer)
		return;
	buffer--;
	buffer->next_spare = pool->spare[buffer->class];
	pool->spare[buffer->class] = buffer;
}

void pool_fini(struct pool *pool)
{
	while (pool->all) {
		struct pool_buffer *next = pool->all->next;

		free(pool->all);
		pool->all = next;
	}
}
