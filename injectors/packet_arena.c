/* packet_arena.c - memory for packets that leave about in the order in which they came. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "injectors/packet_arena_internal.h"

/* A chunk is a large page, where the kernel has those for the asking, and begins at a multiple of
 * its size, by which a packet's chunk is found. */
enum { CHUNK_BYTES = 2 << 20, ROOM_BYTES_MAX = 1 << 20, ALIGNMENT_BYTES = 16 };

struct packet_chunk {
	_Alignas(ALIGNMENT_BYTES) struct packet_chunk *next;
	struct packet_chunk *next_spare;
	size_t n_kept; /* packets */
};

static struct packet_chunk *make_chunk(struct packet_arena *arena)
{
	struct packet_chunk *chunk = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);

	if (!chunk)
		return NULL;
	(void)madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE); /* else it takes more faults */
	*chunk = (struct packet_chunk){.next = arena->all};
	arena->all = chunk;
	return chunk;
}

static struct packet_chunk *next_chunk(struct packet_arena *arena)
{
	struct packet_chunk *chunk = arena->spare;

	if (!chunk)
		return make_chunk(arena);
	arena->spare = chunk->next_spare;
	return chunk;
}

void *packet_arena_room(struct packet_arena *arena, size_t n_bytes)
{
	struct packet_chunk *chunk = arena->current;

	if (n_bytes > ROOM_BYTES_MAX)
		return NULL;
	if (!chunk || n_bytes > CHUNK_BYTES - arena->n_used) {
		chunk = next_chunk(arena);
		if (!chunk)
			return NULL;
		arena->current = chunk;
		arena->n_used = sizeof(*chunk);
	}
	return (char *)chunk + arena->n_used;
}

void packet_arena_keep(struct packet_arena *arena, size_t n_bytes)
{
	arena->current->n_kept++;
	arena->n_used += (n_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
}

void packet_arena_give(struct packet_arena *arena, const void *kept)
{
	struct packet_chunk *chunk =
		(struct packet_chunk *)((uintptr_t)kept / CHUNK_BYTES * CHUNK_BYTES);

	if (--chunk->n_kept > 0)
		return;
	if (chunk == arena->current) {
		arena->n_used = sizeof(*chunk);
		return;
	}
	chunk->next_spare = arena->spare;
	arena->spare = chunk;
}

void packet_arena_fini(struct packet_arena *arena)
{
	while (arena->all) {
		struct packet_chunk *next = arena->all->next;

		free(arena->all);
		arena->all = next;
	}
	*arena = (struct packet_arena){0};
}
