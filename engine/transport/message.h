/* message.h - a tensor on its way from stage to stage, and what a transport tells of it. */
#ifndef ENGINE_TRANSPORT_MESSAGE_H
#define ENGINE_TRANSPORT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/schedule/plan.h"

/* What a message is. Checksums and sequence numbers are the transport's own.
 *
 * Nothing is shown before its moment: RECEIVED (and with it the acknowledgement) before due_ns,
 * SENT before done_ns, ACKED before acked_ns; 0: at once. That is how shaped holds messages; others
 * leave them 0. They are of the sender's clock. In what a receiver gets sent_ns and due_ns are of
 * its own clock: the same values where both read one CLOCK_MONOTONIC (one boot, one time
 * namespace); elsewhere the moment of arrival stands for sent_ns, and due_ns keeps its distance.
 * done_ns and acked_ns concern the sender alone. */
struct message {
	uint64_t run;
	int attempt;
	int iteration;
	enum op_kind kind; /* OP_F: an activation; OP_B: a gradient */
	int microbatch;
	int replica;
	int from_stage;
	int to_stage;
	int rail;
	int queue;
	int64_t n_bytes;
	int64_t sent_ns; /* when it was handed over, or should have been; 0: send() fills it in */
	int64_t due_ns;
	int64_t done_ns;
	int64_t acked_ns;

	/* Of the sender alone, for shaped: it is sent again, and was held in its channel before;
	 * where done_ns is set, its sender was rid of it then. */
	bool was_held;
};

enum transport_event_kind {
	TRANSPORT_SENT,  /* the transport has taken all bytes; it needs the payload until ACKED */
	TRANSPORT_ACKED, /* the receiver has it: the payload is the caller's again */
	TRANSPORT_RECEIVED, /* payload is there, checked; valid until transport_release() */
	TRANSPORT_LOST,     /* a rail between two stages is gone for the local one, from_stage; once
	                       per local stage, whatever the number of queues. Messages sent on it
	                       and not ACKED may or may not have been received */
};

struct transport_event {
	enum transport_event_kind kind;
	int reason; /* LOST: −errno: -ECONNRESET, -ETIMEDOUT (silence), -ENETDOWN (set_rail
	               here), -EBADMSG (what came is no frame of this connection), … */
	struct message message; /* LOST: from_stage, to_stage and rail only */
	void *payload;          /* RECEIVED; not NULL even for 0 bytes */
	int64_t at_ns;          /* this worker's clock: when it happened, or the moment before which
	                           it was not to be shown, whichever is later */
	int64_t arrived_ns;     /* when it really happened, held or not */
	int64_t looked_ns;      /* RECEIVED: it had not arrived then, and nobody polled
	                           between that and arrived_ns */
	const char *sentence;   /* LOST: what was found; valid until connect() or close() */
};

#endif
