/* verbs_piece_internal.h - what a device sends as one: bytes that were copied to a slot, and bytes
 * that it gathers from where they lie. It needs no device. */
#ifndef ENGINE_TRANSPORT_VERBS_PIECE_INTERNAL_H
#define ENGINE_TRANSPORT_VERBS_PIECE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* A header, a payload, its trailer and the next header, a payload. */
enum { VERBS_PARTS_MAX = 4 };

struct verbs_part {
	const uint8_t *at;
	size_t n_bytes;
	uint32_t key; /* by which the device knows the memory */
};

/* The first four are filled in, the rest zero. */
struct verbs_piece {
	uint8_t *slot; /* where copies go; room for n_bytes_most */
	uint32_t slot_key;
	size_t n_bytes_most;
	int n_parts_most;
	struct verbs_part parts[VERBS_PARTS_MAX]; /* in their order */
	int n_parts;
	size_t n_bytes, n_copied;
};

/* Add bytes that come next: of memory that the device knows by this key, which are left where they
 * are, or, key NULL, copies. Returns how many found room, of bytes and parts: the first ones. */
size_t verbs_piece_add(struct verbs_piece *piece, const void *bytes, size_t n_bytes,
                       const uint32_t *key);

#endif
