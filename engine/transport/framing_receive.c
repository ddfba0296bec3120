/* framing_receive.c - the receiving half of a connection. */
#include <errno.h>
#include <string.h>

#include "engine/transport/framing_internal.h"

static int check_identity(const struct framing_host *host, const struct framing *framing,
                          const struct message *message, struct err *err)
{
	if (message->run != host->config.run)
		return err_set(err, -EBADMSG, "a frame of run %llx came, this is run %llx",
		               (unsigned long long)message->run,
		               (unsigned long long)host->config.run);
	if (message->from_stage != framing->peer || message->to_stage != framing->stage ||
	    message->rail != framing->rail || message->queue != framing->queue ||
	    message->replica != host->config.replica)
		return err_set(err, -EBADMSG,
		               "a frame from stage %d to stage %d, rail %d, queue %d, replica %d "
		               "came where stage %d sends to stage %d, rail %d, queue %d, replica "
		               "%d",
		               message->from_stage, message->to_stage, message->rail,
		               message->queue, message->replica, framing->peer, framing->stage,
		               framing->rail, framing->queue, host->config.replica);
	return 0;
}

static int begin_payload(struct framing_host *host, struct framing_receiver *in, struct err *err)
{
	if (in->frame.sequence != in->next)
		return err_set(err, -EBADMSG, "message %llu came where %llu was to come",
		               (unsigned long long)in->frame.sequence,
		               (unsigned long long)in->next);
	if (in->frame.message.n_bytes > host->config.max_bytes)
		return err_set(err, -EBADMSG,
		               "a message of %lld bytes came where at most %lld were agreed on",
		               (long long)in->frame.message.n_bytes,
		               (long long)host->config.max_bytes);
	in->payload = pool_take(&host->pool, in->frame.message.n_bytes);
	if (!in->payload)
		return err_set(err, -ENOMEM, "no memory for a message of %lld bytes",
		               (long long)in->frame.message.n_bytes);
	in->n_payload = in->n_digested = in->n_trailer = 0;
	in->digest = 0;
	return 0;
}

static int begin_frame(struct framing_host *host, struct framing *framing, struct err *err)
{
	struct framing_receiver *in = &framing->in;
	int rc = frame_decode(in->header, &in->frame, err);

	if (rc == 0)
		rc = check_identity(host, framing, &in->frame.message, err);
	if (rc)
		return rc;
	if ((in->frame.type == FRAME_HELLO) != framing->awaits_hello)
		return err_set(err, -EBADMSG, "a frame of type %d came out of turn",
		               (int)in->frame.type);
	switch (in->frame.type) {
	case FRAME_HELLO:
		in->n_header = 0;
		framing->awaits_hello = false;
		framing->is_clock_shared = in->frame.clock_id == host->clock_id;
		return 0;
	case FRAME_ACK:
		in->n_header = 0;
		return framing_acknowledged(host, framing, in->frame.sequence, err);
	case FRAME_DATA:
		break;
	}
	return begin_payload(host, in, err);
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
static void translate(const struct framing_host *host, const struct framing *framing,
                      struct message *message)
{
	if (framing->is_clock_shared)
		return;
	message->due_ns = translated_ns(message->due_ns, message->sent_ns, host->now_ns);
	message->sent_ns = host->now_ns;
}

static int finish_payload(struct framing_host *host, struct framing *framing, struct err *err)
{
	struct framing_receiver *in = &framing->in;
	struct transport_event event = {
		.kind = TRANSPORT_RECEIVED,
		.message = in->frame.message,
		.payload = in->payload,
		.arrived_ns = host->now_ns,
		.looked_ns = host->polled_before_ns,
	};

	if (frame_get_u64(in->trailer) != in->digest)
		return err_set(err, -EBADMSG, "a payload of %lld bytes came with a wrong checksum",
		               (long long)in->frame.message.n_bytes);
	translate(host, framing, &event.message);
	in->payload = NULL;
	in->n_header = 0;
	in->next++;
	if (inbox_add(&host->inbox, &event, event.message.due_ns, in->frame.sequence))
		framing_queue_control(host, framing, FRAME_ACK, in->frame.sequence);
	return 0;
}

/* Hash what is complete of the payload, chunk by chunk while it is in the cache. */
static void digest_payload(const struct framing_host *host, struct framing_receiver *in)
{
	size_t n_bytes = (size_t)in->frame.message.n_bytes;

	while (host->has_digests && in->n_digested < in->n_payload) {
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

/* Take some of it, for the part of a frame that is in hand. */
static int take_part(struct framing_host *host, struct framing *framing, const uint8_t *bytes,
                     size_t n_bytes, size_t *n_taken, struct err *err)
{
	struct framing_receiver *in = &framing->in;

	if (!in->payload) {
		*n_taken = fill(in->header, &in->n_header, FRAME_HEADER_BYTES, bytes, n_bytes);
		return in->n_header == FRAME_HEADER_BYTES ? begin_frame(host, framing, err) : 0;
	}
	if (in->n_payload < (size_t)in->frame.message.n_bytes) {
		*n_taken = fill(in->payload, &in->n_payload, (size_t)in->frame.message.n_bytes,
		                bytes, n_bytes);
		digest_payload(host, in);
		return 0;
	}
	*n_taken = fill(in->trailer, &in->n_trailer, FRAME_TRAILER_BYTES, bytes, n_bytes);
	return in->n_trailer == FRAME_TRAILER_BYTES ? finish_payload(host, framing, err) : 0;
}

int framing_take(struct framing_host *host, struct framing *framing, const uint8_t *bytes,
                 size_t n_bytes, size_t *n_taken, struct err *err)
{
	bool awaits_hello = framing->awaits_hello;
	int rc = 0;

	*n_taken = 0;
	framing->in.read_ns = host->now_ns;
	while (rc == 0 && *n_taken < n_bytes && framing->awaits_hello == awaits_hello) {
		size_t n;

		rc = take_part(host, framing, bytes + *n_taken, n_bytes - *n_taken, &n, err);
		*n_taken += n;
	}
	return rc;
}

size_t framing_aim(const struct framing *framing, void **to_out)
{
	const struct framing_receiver *in = &framing->in;

	if (!in->payload)
		return 0;
	*to_out = in->payload + in->n_payload;
	return (size_t)in->frame.message.n_bytes - in->n_payload;
}

void framing_take_aimed(const struct framing_host *host, struct framing *framing, size_t n_bytes)
{
	framing->in.read_ns = host->now_ns;
	framing->in.n_payload += n_bytes;
	digest_payload(host, &framing->in);
}
