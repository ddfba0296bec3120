/* verbs_piece.c - what a device sends as one: copies in a slot, and bytes left where they lie. */
#include "engine/transport/verbs_piece_internal.h"

#include <stdbool.h>
#include <string.h>

size_t verbs_piece_add(struct verbs_piece *piece, const void *bytes, size_t n_bytes,
                       const uint32_t *key)
{
	struct verbs_part *part = &piece->parts[piece->n_parts - (piece->n_parts > 0)];
	const uint8_t *at = key ? bytes : piece->slot + piece->n_copied;
	uint32_t part_key = key ? *key : piece->slot_key;
	bool goes_on =
		piece->n_parts > 0 && part->key == part_key && part->at + part->n_bytes == at;

	if (n_bytes > piece->n_bytes_most - piece->n_bytes)
		n_bytes = piece->n_bytes_most - piece->n_bytes;
	if (n_bytes == 0 || (!goes_on && piece->n_parts == piece->n_parts_most))
		return 0;
	if (!goes_on) {
		part = &piece->parts[piece->n_parts++];
		*part = (struct verbs_part){.at = at, .key = part_key};
	}
	if (!key) {
		memcpy(piece->slot + piece->n_copied, bytes, n_bytes);
		piece->n_copied += n_bytes;
	}
	part->n_bytes += n_bytes;
	piece->n_bytes += n_bytes;
	return n_bytes;
}
