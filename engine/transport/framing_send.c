/* framing_send.c - the sending half of a connection.
 *
 * Messages go out in the order of send(); acknowledgements and hellos go between them. A write
 * takes a few chunks at a time, hashed just before, so that a large payload passes through the
 * cache once and a poll never takes long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/framing_internal.h"

enum { RING_AT_FIRST = 16 };

static struct framing_sending *sending_at(const struct framing_sender *out, uint64_t sequence)
{
	return &out->ring[sequence & (out->capacity - 1)];
}

static bool grow_ring(struct framing_sender *out)
{
	size_t capacity = out->capacity ? out->capacity * 2 : RING_AT_FIRST;
	struct framing_sending *ring = array_new(capacity, sizeof(*ring));

	if (!ring)
		return false;
	for (uint64_t i = out->first; i < out->next; i++)
		ring[i & (capacity - 1)] = *sending_at(out, i);
	free(out->ring);
	out->ring = ring;
	out->capacity = capacity;
	return true;
}

int framing_queue_message(struct framing_host *host, struct framing *framing,
                          const struct message *message, const void *payload, struct err *err)
{
	struct framing_sender *out = &framing->out;
	struct framing_sending *sending;

	if (out->next - out->first == out->capacity && !grow_ring(out))
		return err_set(err, -ENOMEM, "no memory for a message to stage %d", framing->peer);
	sending = sending_at(out, out->next);
	*sending = (struct framing_sending){.message = *message, .payload = payload};
	if (message->sent_ns == 0)
		sending->message.sent_ns = host->now_ns;
	if (out->written == out->next)
		out->wrote_ns = host->now_ns;
	out->next++;
	return 0;
}

void framing_queue_control(struct framing_host *host, struct framing *framing, enum frame_type type,
                           uint64_t sequence)
{
	struct framing_sender *out = &framing->out;
	struct frame frame = {
		.type = type,
		.sequence = sequence,
		.clock_id = host->clock_id,
		.message =
			{
				.run = host->config.run,
				.replica = host->config.replica,
				.from_stage = framing->stage,
				.to_stage = framing->peer,
				.rail = framing->rail,
				.queue = framing->queue,
			},
	};
	uint8_t *control = array_grow(out->control, &out->control_capacity,
	                              out->n_control + FRAME_HEADER_BYTES, 1);

	if (!control) {
		host->inbox.is_failed = true;
		return;
	}
	out->control = control;
	frame_encode(&frame, control + out->n_control);
	out->n_control += FRAME_HEADER_BYTES;
}

bool framing_has_control(const struct framing *framing)
{
	return framing->out.n_control > framing->out.control_offset;
}

static void encode_next(struct framing_host *host, struct framing *framing)
{
	struct framing_sender *out = &framing->out;
	struct frame frame = {
		.type = FRAME_DATA,
		.sequence = out->written,
		.clock_id = host->clock_id,
		.message = sending_at(out, out->written)->message,
	};

	frame_encode(&frame, out->header);
	out->is_encoded = true;
	out->offset = 0;
	out->n_digested = 0;
	out->digest = 0;
}

/* Hash on until the end of the chunks that this write takes; returns that end. */
static size_t digest_ahead(const struct framing_host *host, struct framing_sender *out,
                           const uint8_t *payload, size_t n_bytes, size_t at)
{
	size_t end = at - at % FRAME_CHUNK_BYTES + FRAMING_PIECE_BYTES;

	if (end > n_bytes)
		end = n_bytes;
	while (host->has_digests && out->n_digested < end) {
		size_t n = end - out->n_digested;

		if (n > FRAME_CHUNK_BYTES)
			n = FRAME_CHUNK_BYTES;
		out->digest = frame_digest(out->digest, payload + out->n_digested, n);
		out->n_digested += n;
	}
	return end;
}

static size_t add_part(struct iovec *parts, size_t *n_parts, const void *bytes, size_t n_bytes)
{
	if (n_bytes > 0)
		parts[(*n_parts)++] = (struct iovec){(void *)bytes, n_bytes};
	return n_bytes;
}

/* What is next to be written; returns the number of bytes. */
size_t framing_gather(struct framing_host *host, struct framing *framing, struct iovec *parts,
                      size_t *n_parts)
{
	struct framing_sender *out = &framing->out;
	size_t n = 0, n_payload, at, end;
	const uint8_t *payload;

	*n_parts = 0;
	if (!out->is_encoded && out->written < out->next)
		encode_next(host, framing);
	if (!out->is_encoded || out->offset == 0)
		n += add_part(parts, n_parts, out->control + out->control_offset,
		              out->n_control - out->control_offset);
	if (!out->is_encoded)
		return n;
	payload = sending_at(out, out->written)->payload;
	n_payload = (size_t)sending_at(out, out->written)->message.n_bytes;
	if (out->offset < FRAME_HEADER_BYTES)
		n += add_part(parts, n_parts, out->header + out->offset,
		              FRAME_HEADER_BYTES - out->offset);
	at = out->offset < FRAME_HEADER_BYTES ? 0 : out->offset - FRAME_HEADER_BYTES;
	if (at < n_payload) {
		end = digest_ahead(host, out, payload, n_payload, at);
		n += add_part(parts, n_parts, payload + at, end - at);
		at = end;
		if (end < n_payload)
			return n;
	}
	frame_put_u64(out->trailer, out->digest);
	return n + add_part(parts, n_parts, out->trailer + (at - n_payload),
	                    FRAME_TRAILER_BYTES - (at - n_payload));
}

static void finish_message(struct framing_host *host, struct framing_sender *out)
{
	struct framing_sending *sending = sending_at(out, out->written);
	struct transport_event event = {
		.kind = TRANSPORT_SENT,
		.message = sending->message,
		.arrived_ns = host->now_ns,
	};

	sending->written_ns = host->now_ns;
	out->written++;
	out->is_encoded = false;
	(void)inbox_add(&host->inbox, &event, sending->message.done_ns, 0);
}

void framing_advance(struct framing_host *host, struct framing *framing, size_t n_bytes)
{
	struct framing_sender *out = &framing->out;
	size_t n_control = 0, n_frame;

	if (!out->is_encoded || out->offset == 0) {
		n_control = out->n_control - out->control_offset;
		if (n_control > n_bytes)
			n_control = n_bytes;
		out->control_offset += n_control;
		if (out->control_offset == out->n_control)
			out->control_offset = out->n_control = 0;
	}
	out->wrote_ns = host->now_ns;
	if (!out->is_encoded)
		return;
	out->offset += n_bytes - n_control;
	n_frame = FRAME_HEADER_BYTES + FRAME_TRAILER_BYTES +
	          (size_t)sending_at(out, out->written)->message.n_bytes;
	if (out->offset == n_frame)
		finish_message(host, out);
}

int framing_acknowledged(struct framing_host *host, struct framing *framing, uint64_t sequence,
                         struct err *err)
{
	struct framing_sender *out = &framing->out;
	struct transport_event event = {.kind = TRANSPORT_ACKED, .arrived_ns = host->now_ns};
	const struct message *message;

	if (sequence < out->first || sequence >= out->written ||
	    sending_at(out, sequence)->is_acked)
		return err_set(err, -EBADMSG,
		               "message %llu was acknowledged, which was not under way",
		               (unsigned long long)sequence);
	message = &sending_at(out, sequence)->message;
	event.message = *message;
	sending_at(out, sequence)->is_acked = true;
	(void)inbox_add(&host->inbox, &event,
	                message->acked_ns > message->done_ns ? message->acked_ns : message->done_ns,
	                0);
	while (out->first < out->written && sending_at(out, out->first)->is_acked)
		out->first++;
	return 0;
}
