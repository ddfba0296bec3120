/* packet_arena_internal.h - memory for packets that leave about in the order in which they came.
 *
 * A packet takes what it needs behind the one before, and memory is used again when all packets of
 * a chunk have left: however many wait, none is searched for, and after the first ones the kernel
 * is asked for nothing. What was once needed is kept until _fini. */
#ifndef INJECTORS_PACKET_ARENA_INTERNAL_H
#define INJECTORS_PACKET_ARENA_INTERNAL_H

#include <stddef.h>

struct packet_chunk;

/* Start zeroed. */
struct packet_arena {
	struct packet_chunk *all, *spare, *current;
	size_t n_used; /* bytes of the current one */
};

/* Room for n_bytes, aligned to 16; the next call returns the same if nothing is kept of it. NULL:
 * out of memory, or more than 1 MiB. */
void *packet_arena_room(struct packet_arena *arena, size_t n_bytes);

/* The first n_bytes of the last room are in use until they are given back. */
void packet_arena_keep(struct packet_arena *arena, size_t n_bytes);

void packet_arena_give(struct packet_arena *arena, const void *kept);

/* Also what is in use. */
void packet_arena_fini(struct packet_arena *arena);

#endif
