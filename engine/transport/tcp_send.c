/* tcp_send.c - the sending half of a connection.
 *
 * Messages go out in the order of send(); acknowledgements and hellos go between them. A write
 * takes a few chunks at a time, hashed just before, so that a large payload passes through the
 * cache once and a poll never takes long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "engine/base/array.h"
#include "engine/transport/tcp_internal.h"

enum { WRITE_BYTES = 4 * FRAME_CHUNK_BYTES, PARTS_MAX = 4, RING_AT_FIRST = 16 };

static struct tcp_sending *sending_at(const struct tcp_sender *out, uint64_t sequence)
{
	return &out->ring[sequence & (out->capacity - 1)];
}

static bool grow_ring(struct tcp_sender *out)
{
	size_t capacity = out->capacity ? out->capacity * 2 : RING_AT_FIRST;
	struct tcp_sending *ring = array_new(capacity, sizeof(*ring));

	if (!ring)
		return false;
	for (uint64_t i = out->first; i < out->next; i++)
		ring[i & (capacity - 1)] = *sending_at(out, i);
	free(out->ring);
	out->ring = ring;
	out->capacity = capacity;
	return true;
}

int tcp_queue_message(struct tcp *tcp, struct tcp_connection *connection,
                      const struct message *message, const void *payload, struct err *err)
{
	struct tcp_sender *out = &connection->out;
	struct tcp_sending *sending;

	if (out->next - out->first == out->capacity && !grow_ring(out))
		return err_set(err, -ENOMEM, "no memory for a message to stage %d",
		               connection->peer);
	sending = sending_at(out, out->next);
	*sending = (struct tcp_sending){.message = *message, .payload = payload};
	if (message->sent_ns == 0)
		sending->message.sent_ns = tcp->now_ns;
	if (out->written == out->next)
		out->wrote_ns = tcp->now_ns;
	out->next++;
	return 0;
}

void tcp_queue_control(struct tcp *tcp, struct tcp_connection *connection, enum frame_type type,
                       uint64_t sequence)
{
	struct tcp_sender *out = &connection->out;
	struct frame frame = {
		.type = type,
		.sequence = sequence,
		.clock_id = tcp->clock_id,
		.message =
			{
				.run = tcp->config.run,
				.replica = tcp->config.replica,
				.from_stage = connection->stage,
				.to_stage = connection->peer,
				.rail = connection->rail,
				.queue = connection->queue,
			},
	};
	uint8_t *control = array_grow(out->control, &out->control_capacity,
	                              out->n_control + FRAME_HEADER_BYTES, 1);

	if (!control) {
		tcp->inbox.is_failed = true;
		return;
	}
	out->control = control;
	frame_encode(&frame, control + out->n_control);
	out->n_control += FRAME_HEADER_BYTES;
	tcp_mark_dirty(tcp, connection);
}

void tcp_mark_dirty(struct tcp *tcp, struct tcp_connection *connection)
{
	if (connection->is_dirty)
		return;
	connection->is_dirty = true;
	tcp->dirty[tcp->n_dirty++] = (int)(connection - tcp->connections);
}

static void encode_next(struct tcp *tcp, struct tcp_connection *connection)
{
	struct tcp_sender *out = &connection->out;
	struct frame frame = {
		.type = FRAME_DATA,
		.sequence = out->written,
		.clock_id = tcp->clock_id,
		.message = sending_at(out, out->written)->message,
	};

	frame_encode(&frame, out->header);
	out->is_encoded = true;
	out->offset = 0;
	out->n_digested = 0;
	out->digest = 0;
}

/* Hash on until the end of the chunks that this write takes; returns that end. */
static size_t digest_ahead(struct tcp_sender *out, const uint8_t *payload, size_t n_bytes,
                           size_t at)
{
	size_t end = at - at % FRAME_CHUNK_BYTES + WRITE_BYTES;

	if (end > n_bytes)
		end = n_bytes;
	while (out->n_digested < end) {
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
static size_t gather(struct tcp *tcp, struct tcp_connection *connection, struct iovec *parts,
                     size_t *n_parts)
{
	struct tcp_sender *out = &connection->out;
	size_t n = 0, n_payload, at, end;
	const uint8_t *payload;

	*n_parts = 0;
	if (!out->is_encoded && out->written < out->next)
		encode_next(tcp, connection);
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
		end = digest_ahead(out, payload, n_payload, at);
		n += add_part(parts, n_parts, payload + at, end - at);
		at = end;
		if (end < n_payload)
			return n;
	}
	frame_put_u64(out->trailer, out->digest);
	return n + add_part(parts, n_parts, out->trailer + (at - n_payload),
	                    FRAME_TRAILER_BYTES - (at - n_payload));
}

static void finish_message(struct tcp *tcp, struct tcp_sender *out)
{
	struct tcp_sending *sending = sending_at(out, out->written);
	struct transport_event event = {
		.kind = TRANSPORT_SENT,
		.message = sending->message,
		.arrived_ns = tcp->now_ns,
	};

	sending->written_ns = tcp->now_ns;
	out->written++;
	out->is_encoded = false;
	(void)inbox_add(&tcp->inbox, &event, sending->message.done_ns, 0);
}

static void advance(struct tcp *tcp, struct tcp_connection *connection, size_t n_bytes)
{
	struct tcp_sender *out = &connection->out;
	size_t n_control = 0, n_frame;

	if (!out->is_encoded || out->offset == 0) {
		n_control = out->n_control - out->control_offset;
		if (n_control > n_bytes)
			n_control = n_bytes;
		out->control_offset += n_control;
		if (out->control_offset == out->n_control)
			out->control_offset = out->n_control = 0;
	}
	out->wrote_ns = tcp->now_ns;
	if (!out->is_encoded)
		return;
	out->offset += n_bytes - n_control;
	n_frame = FRAME_HEADER_BYTES + FRAME_TRAILER_BYTES +
	          (size_t)sending_at(out, out->written)->message.n_bytes;
	if (out->offset == n_frame)
		finish_message(tcp, out);
}

void tcp_flush(struct tcp *tcp, struct tcp_connection *connection)
{
	size_t n_written = 0;

	while (n_written < TCP_BUDGET_BYTES) {
		struct iovec parts[PARTS_MAX];
		struct msghdr header = {.msg_iov = parts};
		size_t n_wanted = gather(tcp, connection, parts, &header.msg_iovlen);
		ssize_t n = n_wanted == 0 ? 0 : sendmsg(connection->fd, &header, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			tcp_break(tcp, connection, -errno, "the connection broke");
			return;
		}
		if (n > 0)
			advance(tcp, connection, (size_t)n);
		if (n_wanted == 0 || (size_t)(n < 0 ? 0 : n) < n_wanted) {
			tcp_set_interest(tcp, connection,
			                 n_wanted > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
			return;
		}
		n_written += (size_t)n;
	}
	tcp_mark_dirty(tcp, connection);
}

int tcp_acknowledged(struct tcp *tcp, struct tcp_connection *connection, uint64_t sequence,
                     struct err *err)
{
	struct tcp_sender *out = &connection->out;
	struct transport_event event = {.kind = TRANSPORT_ACKED, .arrived_ns = tcp->now_ns};
	const struct message *message;

	if (sequence < out->first || sequence >= out->written ||
	    sending_at(out, sequence)->is_acked)
		return err_set(err, -EBADMSG,
		               "message %llu was acknowledged, which was not under way",
		               (unsigned long long)sequence);
	message = &sending_at(out, sequence)->message;
	event.message = *message;
	sending_at(out, sequence)->is_acked = true;
	(void)inbox_add(&tcp->inbox, &event,
	                message->acked_ns > message->done_ns ? message->acked_ns : message->done_ns,
	                0);
	while (out->first < out->written && sending_at(out, out->first)->is_acked)
		out->first++;
	return 0;
}

void tcp_reset_sender(struct tcp_sender *sender)
{
	sender->first = sender->written = sender->next = 0;
	sender->is_encoded = false;
	sender->n_control = sender->control_offset = 0;
	sender->queued_bytes = 0;
}

void tcp_free_sender(struct tcp_sender *sender)
{
	free(sender->ring);
	free(sender->control);
}
