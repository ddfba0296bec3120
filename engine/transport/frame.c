/* frame.c - the bytes of a frame, little-endian at fixed places:
 *
 * 0 magic · 4 version (2) · 6 type (2) · 8 run · 16 sequence · 24 n_bytes · 32 sent_ns · 40 due_ns
 * · 48 clock_id · 56 attempt (4) · 60 iteration (4) · 64 microbatch (4) · 68 replica (4)
 * · 72 from_stage (4) · 76 to_stage (4) · 80 kind (2) · 82 rail (2) · 84 queue (2) · 86 zero (2)
 * · 88 XXH3 of bytes 0 to 87; 8 bytes where nothing is said. */
#include "engine/transport/frame_internal.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>
/* The library's own choice of vector instructions at run time: 58 against 17 GB/s where measured.
 */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

enum { VERSION = 2, DIGEST_AT = 88 };

static const uint8_t magic[FRAME_MAGIC_BYTES] = {'A', 'D', 'B', 'T'};

static void put_u16(uint8_t *bytes, int value)
{
	uint16_t little = htole16((uint16_t)value);

	memcpy(bytes, &little, sizeof(little));
}

static void put_u32(uint8_t *bytes, int value)
{
	uint32_t little = htole32((uint32_t)value);

	memcpy(bytes, &little, sizeof(little));
}

void frame_put_u64(uint8_t *bytes, uint64_t value)
{
	uint64_t little = htole64(value);

	memcpy(bytes, &little, sizeof(little));
}

static int get_u16(const uint8_t *bytes)
{
	uint16_t little;

	memcpy(&little, bytes, sizeof(little));
	return le16toh(little);
}

static int get_i32(const uint8_t *bytes)
{
	uint32_t little;

	memcpy(&little, bytes, sizeof(little));
	return (int)le32toh(little);
}

uint64_t frame_get_u64(const uint8_t *bytes)
{
	uint64_t little;

	memcpy(&little, bytes, sizeof(little));
	return le64toh(little);
}

uint64_t frame_digest(uint64_t so_far, const void *chunk, size_t n_bytes)
{
	return XXH3_64bits_withSeed(chunk, n_bytes, so_far);
}

bool frame_is_possible(const uint8_t *bytes, size_t n)
{
	return memcmp(bytes, magic, n < sizeof(magic) ? n : sizeof(magic)) == 0;
}

void frame_encode(const struct frame *frame, uint8_t *bytes)
{
	const struct message *message = &frame->message;

	memcpy(bytes, magic, sizeof(magic));
	put_u16(bytes + 4, VERSION);
	put_u16(bytes + 6, (int)frame->type);
	frame_put_u64(bytes + 8, message->run);
	frame_put_u64(bytes + 16, frame->sequence);
	frame_put_u64(bytes + 24, (uint64_t)message->n_bytes);
	frame_put_u64(bytes + 32, (uint64_t)message->sent_ns);
	frame_put_u64(bytes + 40, (uint64_t)message->due_ns);
	frame_put_u64(bytes + 48, frame->clock_id);
	put_u32(bytes + 56, message->attempt);
	put_u32(bytes + 60, message->iteration);
	put_u32(bytes + 64, message->microbatch);
	put_u32(bytes + 68, message->replica);
	put_u32(bytes + 72, message->from_stage);
	put_u32(bytes + 76, message->to_stage);
	put_u16(bytes + 80, (int)message->kind);
	put_u16(bytes + 82, message->rail);
	put_u16(bytes + 84, message->queue);
	put_u16(bytes + 86, 0);
	frame_put_u64(bytes + DIGEST_AT, frame_digest(0, bytes, DIGEST_AT));
}

static int check_header(const uint8_t *bytes, struct err *err)
{
	int version = get_u16(bytes + 4), type = get_u16(bytes + 6);

	if (!frame_is_possible(bytes, sizeof(magic)))
		return err_set(err, -EBADMSG, "what came does not begin like a frame");
	if (version != VERSION)
		return err_set(err, -EBADMSG, "a frame of version %d came, this is version %d",
		               version, VERSION);
	if (frame_get_u64(bytes + DIGEST_AT) != frame_digest(0, bytes, DIGEST_AT))
		return err_set(err, -EBADMSG, "a header came with a wrong checksum");
	if (type < FRAME_HELLO || type > FRAME_ACK)
		return err_set(err, -EBADMSG, "a frame of the unknown type %d came", type);
	if (get_u16(bytes + 80) >= OP_KINDS)
		return err_set(err, -EBADMSG, "a message of the unknown kind %d came",
		               get_u16(bytes + 80));
	return 0;
}

int frame_decode(const uint8_t *bytes, struct frame *out, struct err *err)
{
	struct frame frame = {0};
	struct message *message = &frame.message;
	int rc = check_header(bytes, err);

	if (rc)
		return rc;
	frame.type = (enum frame_type)get_u16(bytes + 6);
	frame.sequence = frame_get_u64(bytes + 16);
	frame.clock_id = frame_get_u64(bytes + 48);
	message->run = frame_get_u64(bytes + 8);
	message->n_bytes = (int64_t)frame_get_u64(bytes + 24);
	message->sent_ns = (int64_t)frame_get_u64(bytes + 32);
	message->due_ns = (int64_t)frame_get_u64(bytes + 40);
	message->attempt = get_i32(bytes + 56);
	message->iteration = get_i32(bytes + 60);
	message->microbatch = get_i32(bytes + 64);
	message->replica = get_i32(bytes + 68);
	message->from_stage = get_i32(bytes + 72);
	message->to_stage = get_i32(bytes + 76);
	message->kind = (enum op_kind)get_u16(bytes + 80);
	message->rail = get_u16(bytes + 82);
	message->queue = get_u16(bytes + 84);
	if (message->n_bytes < 0 || message->sent_ns < 0 || message->due_ns < 0)
		return err_set(err, -EBADMSG, "a header came whose size or moments are negative");
	if (frame.type != FRAME_DATA && message->n_bytes > 0)
		return err_set(err, -EBADMSG, "a frame of type %d came with a payload",
		               (int)frame.type);
	*out = frame;
	return 0;
}
