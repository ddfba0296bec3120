/* tcp_receive.c - the receiving half of a connection.
 *
 * A read fills what is missing of the payload in hand and, behind it, a staging area that all
 * connections share: one system call brings a small message whole, and a large payload is never
 * copied but at its two ends. The staging area is empty between reads; what it held is then in the
 * connection. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/transport/tcp_internal.h"

enum { READ_BYTES = 4 * FRAME_CHUNK_BYTES };

void tcp_reset_receiver(struct tcp *tcp, struct tcp_receiver *receiver)
{
	pool_give(&tcp->pool, receiver->payload);
	*receiver = (struct tcp_receiver){0};
}

static int check_identity(const struct tcp *tcp, const struct tcp_connection *connection,
                          const struct message *message, struct err *err)
{
	if (message->run != tcp->config.run)
		return err_set(err, -EBADMSG, "a frame of run %llx came, this is run %llx",
		               (unsigned long long)message->run,
		               (unsigned long long)tcp->config.run);
	if (message->from_stage != connection->peer || message->to_stage != connection->stage ||
	    message->rail != connection->rail || message->queue != connection->queue ||
	    message->replica != tcp->config.replica)
		return err_set(err, -EBADMSG,
		               "a frame from stage %d to stage %d, rail %d, queue %d, replica %d "
		               "came where stage %d sends to stage %d, rail %d, queue %d, replica "
		               "%d",
		               message->from_stage, message->to_stage, message->rail,
		               message->queue, message->replica, connection->peer,
		               connection->stage, connection->rail, connection->queue,
		               tcp->config.replica);
	return 0;
}

static int begin_payload(struct tcp *tcp, struct tcp_receiver *in, struct err *err)
{
	if (in->frame.sequence != in->next)
		return err_set(err, -EBADMSG, "message %llu came where %llu was to come",
		               (unsigned long long)in->frame.sequence,
		               (unsigned long long)in->next);
	if (in->frame.message.n_bytes > tcp->config.max_bytes)
		return err_set(err, -EBADMSG,
		               "a message of %lld bytes came where at most %lld were agreed on",
		               (long long)in->frame.message.n_bytes,
		               (long long)tcp->config.max_bytes);
	in->payload = pool_take(&tcp->pool, in->frame.message.n_bytes);
	if (!in->payload)
		return err_set(err, -ENOMEM, "no memory for a message of %lld bytes",
		               (long long)in->frame.message.n_bytes);
	in->n_payload = in->n_digested = in->n_trailer = 0;
	in->digest = 0;
	return 0;
}

static int begin_frame(struct tcp *tcp, struct tcp_connection *connection, struct err *err)
{
	struct tcp_receiver *in = &connection->in;
	int rc = frame_decode(in->header, &in->frame, err);

	if (rc == 0)
		rc = check_identity(tcp, connection, &in->frame.message, err);
	if (rc)
		return rc;
	if ((in->frame.type == FRAME_HELLO) != (connection->state == TCP_GREETING))
		return err_set(err, -EBADMSG, "a frame of type %d came out of turn",
		               (int)in->frame.type);
	switch (in->frame.type) {
	case FRAME_HELLO:
		in->n_header = 0;
		tcp_start_up(tcp, connection, in->frame.clock_id);
		return 0;
	case FRAME_ACK:
		in->n_header = 0;
		return tcp_acknowledged(tcp, connection, in->frame.sequence, err);
	case FRAME_DATA:
		break;
	}
	return begin_payload(tcp, in, err);
}

/* A moment of the sender's, as long after now as it was after it sent. */
static int64_t translated_ns(int64_t moment_ns, int64_t sent_ns, int64_t now_ns)
{
	int64_t ns;

	if (moment_ns == 0)
		return 0;
	return __builtin_add_overflow(moment_ns - sent_ns, now_ns, &ns) ? INT64_MAX : ns;
}

/* Put the sender's moments on this worker's clock. */
static void translate(const struct tcp *tcp, const struct tcp_connection *connection,
                      struct message *message)
{
	if (connection->is_clock_shared)
		return;
	message->due_ns = translated_ns(message->due_ns, message->sent_ns, tcp->now_ns);
	message->done_ns = translated_ns(message->done_ns, message->sent_ns, tcp->now_ns);
	message->sent_ns = tcp->now_ns;
}

static int finish_payload(struct tcp *tcp, struct tcp_connection *connection, struct err *err)
{
	struct tcp_receiver *in = &connection->in;
	struct transport_event event = {
		.kind = TRANSPORT_RECEIVED,
		.message = in->frame.message,
		.payload = in->payload,
		.arrived_ns = tcp->now_ns,
	};

	if (frame_get_u64(in->trailer) != in->digest)
		return err_set(err, -EBADMSG, "a payload of %lld bytes came with a wrong checksum",
		               (long long)in->frame.message.n_bytes);
	translate(tcp, connection, &event.message);
	in->payload = NULL;
	in->n_header = 0;
	in->next++;
	if (inbox_add(&tcp->inbox, &event, event.message.due_ns, in->frame.sequence))
		tcp_queue_control(tcp, connection, FRAME_ACK, in->frame.sequence);
	return 0;
}

/* Hash what is complete of the payload, chunk by chunk while it is in the cache. */
static void digest_payload(struct tcp_receiver *in)
{
	size_t n_bytes = (size_t)in->frame.message.n_bytes;

	while (in->n_digested < in->n_payload) {
		size_t n = in->n_payload - in->n_digested;

		if (n > FRAME_CHUNK_BYTES)
			n = FRAME_CHUNK_BYTES;
		if (n < FRAME_CHUNK_BYTES && in->n_payload < n_bytes)
			return;
		in->digest = frame_digest(in->digest, in->payload + in->n_digested, n);
		in->n_digested += n;
	}
}

static size_t fill(uint8_t *to, size_t *n_filled, size_t n_whole, const uint8_t *bytes,
                   size_t n_bytes)
{
	size_t n = n_whole - *n_filled;

	if (n > n_bytes)
		n = n_bytes;
	memcpy(to + *n_filled, bytes, n);
	*n_filled += n;
	return n;
}

/* Take what came behind the payload in hand. */
static int take_staged(struct tcp *tcp, struct tcp_connection *connection, const uint8_t *bytes,
                       size_t n_bytes, struct err *err)
{
	struct tcp_receiver *in = &connection->in;
	int rc = 0;

	while (rc == 0 && n_bytes > 0) {
		size_t n;

		if (!in->payload) {
			n = fill(in->header, &in->n_header, FRAME_HEADER_BYTES, bytes, n_bytes);
			if (in->n_header == FRAME_HEADER_BYTES)
				rc = begin_frame(tcp, connection, err);
		} else if (in->n_payload < (size_t)in->frame.message.n_bytes) {
			n = fill(in->payload, &in->n_payload, (size_t)in->frame.message.n_bytes,
			         bytes, n_bytes);
			digest_payload(in);
		} else {
			n = fill(in->trailer, &in->n_trailer, FRAME_TRAILER_BYTES, bytes, n_bytes);
			if (in->n_trailer == FRAME_TRAILER_BYTES)
				rc = finish_payload(tcp, connection, err);
		}
		bytes += n;
		n_bytes -= n;
	}
	return rc;
}

/* Where the next bytes go; returns how many are for the payload. */
static size_t aim(const struct tcp *tcp, const struct tcp_receiver *in, struct iovec *parts,
                  int *n_parts)
{
	size_t n_missing = in->payload ? (size_t)in->frame.message.n_bytes - in->n_payload : 0;

	*n_parts = 0;
	if (n_missing > 0) {
		size_t n = n_missing < READ_BYTES ? n_missing : READ_BYTES;

		parts[(*n_parts)++] = (struct iovec){in->payload + in->n_payload, n};
		if (n < n_missing)
			return n;
	}
	parts[(*n_parts)++] = (struct iovec){tcp->staging, TCP_STAGING_BYTES};
	return n_missing;
}

static int take(struct tcp *tcp, struct tcp_connection *connection, size_t n_direct, size_t n_bytes,
                struct err *err)
{
	struct tcp_receiver *in = &connection->in;

	tcp->now_ns = transport_now_ns(&tcp->config);
	in->read_ns = tcp->now_ns;
	if (n_direct > n_bytes)
		n_direct = n_bytes;
	if (n_direct > 0) {
		in->n_payload += n_direct;
		digest_payload(in);
	}
	return take_staged(tcp, connection, tcp->staging, n_bytes - n_direct, err);
}

void tcp_read(struct tcp *tcp, struct tcp_connection *connection)
{
	struct err err = {0};
	size_t n_read = 0;

	while (n_read < TCP_BUDGET_BYTES && connection->fd >= 0) {
		struct iovec parts[2];
		int n_parts;
		size_t n_direct = aim(tcp, &connection->in, parts, &n_parts), n_wanted = 0;
		ssize_t n = readv(connection->fd, parts, n_parts);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			tcp_break(tcp, connection, n == 0 ? -ECONNRESET : -errno,
			          n == 0 ? "the other side closed the connection"
			                 : "the connection broke");
			return;
		}
		if (take(tcp, connection, n_direct, (size_t)n, &err)) {
			tcp_break(tcp, connection, err.code, err.text);
			return;
		}
		for (int i = 0; i < n_parts; i++)
			n_wanted += parts[i].iov_len;
		if ((size_t)n < n_wanted)
			return;
		n_read += (size_t)n;
	}
}
