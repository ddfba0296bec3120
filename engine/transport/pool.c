/* pool.c - payload buffers that are used again. */
#include <stdlib.h>

#include "engine/transport/payload.h"
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

static size_t bytes_of(int class)
{
	return sizeof(struct pool_buffer) + ((size_t)1 << class);
}

static struct pool_buffer *take_of_area(struct pool *pool, int class)
{
	struct pool_buffer *buffer = (struct pool_buffer *)pool->area;

	if (bytes_of(class) > pool->area_bytes)
		return NULL;
	pool->area += bytes_of(class);
	pool->area_bytes -= bytes_of(class);
	*buffer = (struct pool_buffer){.class = class};
	return buffer;
}

size_t payload_area_bytes(int64_t n_bytes)
{
	return bytes_of(class_of(n_bytes));
}

struct pool pool_of(const struct transport_config *config)
{
	struct pool pool = {0};

	if (config->payloads) {
		pool.area = config->payloads->at;
		pool.area_bytes = config->payloads->n_bytes;
	}
	return pool;
}

void *pool_take(struct pool *pool, int64_t n_bytes)
{
	int class = class_of(n_bytes);
	struct pool_buffer *buffer = pool->spare[class];

	if (buffer) {
		pool->spare[class] = buffer->next_spare;
		return buffer + 1;
	}
	buffer = take_of_area(pool, class);
	if (buffer)
		return buffer + 1;
	buffer = aligned_alloc(ALIGNMENT_BYTES, bytes_of(class));
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
