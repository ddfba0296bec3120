/* frame_internal.h - the bytes of a frame. */
#ifndef ENGINE_TRANSPORT_FRAME_INTERNAL_H
#define ENGINE_TRANSPORT_FRAME_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/transport/message.h"

/* A header; a message goes on with its payload and a trailer, the payload's digest. The digest
 * comes last so that each part is hashed just before it is written, while it is on its way through
 * the cache, and send() need not read 64 MiB before it returns. */
enum { FRAME_HEADER_BYTES = 96, FRAME_TRAILER_BYTES = 8, FRAME_MAGIC_BYTES = 4 };

/* Payloads are hashed in chunks, each with the digest of those before it as its seed. */
enum { FRAME_CHUNK_BYTES = 64 << 10 };

enum frame_type {
	FRAME_HELLO = 1, /* who wants to talk to whom, and the answer to it */
	FRAME_DATA,
	FRAME_ACK, /* of sequence number */
};

struct frame {
	enum frame_type type;
	uint64_t sequence;
	uint64_t clock_id;      /* of its sender; read in HELLO */
	struct message message; /* without done_ns and acked_ns, the sender's alone */
};

void frame_encode(const struct frame *frame, uint8_t *bytes);

/* -EBADMSG: no header of this version, err says why. *out is set only on success; its fields are in
 * the range of their types, kind is one that is sent, counts and moments are not negative. */
int frame_decode(const uint8_t *bytes, struct frame *out, struct err *err);

/* Can these first n bytes begin a header? */
bool frame_is_possible(const uint8_t *bytes, size_t n);

/* The digest of a payload whose earlier chunks have the digest so_far (0 at first). */
uint64_t frame_digest(uint64_t so_far, const void *chunk, size_t n_bytes);

void frame_put_u64(uint8_t *bytes, uint64_t value);
uint64_t frame_get_u64(const uint8_t *bytes);

#endif
