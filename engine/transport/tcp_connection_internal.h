/* tcp_connection_internal.h - one connection of transport tcp and its two halves. */
#ifndef ENGINE_TRANSPORT_TCP_CONNECTION_INTERNAL_H
#define ENGINE_TRANSPORT_TCP_CONNECTION_INTERNAL_H

#include "engine/transport/tcp_frame_internal.h"
#include "engine/transport/transport_internal.h"

struct tcp;

/* Of one connection and poll: a large message must not keep the others waiting. */
enum { TCP_BUDGET_BYTES = 1 << 20 };

enum tcp_state {
	TCP_CLOSED,
	TCP_CONNECTING, /* connect() is under way */
	TCP_GREETING,   /* our hello is sent, the answer is not there */
	TCP_UP,
};

/* A message between send() and its acknowledgement. */
struct tcp_sending {
	struct message message;
	const void *payload;
	int64_t written_ns;
	bool is_acked;
};

/* Sequence numbers: first ≤ written ≤ next; [first, written) wait for their acknowledgements. The
 * frame of `written` may be partly on the wire: offset counts its bytes that are. */
struct tcp_sender {
	struct tcp_sending *ring; /* index: sequence number modulo capacity */
	size_t capacity;
	uint64_t first, written, next;
	bool is_encoded;
	uint8_t header[FRAME_HEADER_BYTES];
	uint8_t trailer[FRAME_TRAILER_BYTES];
	size_t offset;
	size_t n_digested;
	uint64_t digest;
	uint8_t *control; /* hellos and acknowledgements to be written between messages */
	size_t control_capacity, n_control, control_offset;
	int64_t wrote_ns; /* when bytes last went out */
	int queued_bytes; /* in the socket when silence was last suspected */
};

struct tcp_receiver {
	uint8_t header[FRAME_HEADER_BYTES];
	size_t n_header;
	struct frame frame;
	uint8_t *payload; /* NULL: no message is half here */
	size_t n_payload, n_digested;
	uint64_t digest;
	uint8_t trailer[FRAME_TRAILER_BYTES];
	size_t n_trailer;
	uint64_t next; /* sequence number */
	int64_t read_ns;
};

struct tcp_connection {
	enum tcp_state state;
	int fd; /* −1: none */
	int stage, peer, rail, queue;
	uint32_t interest; /* what epoll watches */
	bool is_dirty;     /* on the list of those to be flushed by the next poll */
	bool is_clock_shared;
	int last_errno;      /* why the last attempt to connect failed */
	int64_t retry_ns;    /* not before then, */
	int64_t patience_ns; /* which was this long after the last attempt */
	struct tcp_sender out;
	struct tcp_receiver in;
};

/* tcp_send.c: the sending half. What is queued goes out with tcp_flush(), as far as the socket and
 * the budget allow. */
int tcp_queue_message(struct tcp *tcp, struct tcp_connection *connection,
                      const struct message *message, const void *payload, struct err *err);
void tcp_queue_control(struct tcp *tcp, struct tcp_connection *connection, enum frame_type type,
                       uint64_t sequence);
void tcp_flush(struct tcp *tcp, struct tcp_connection *connection);
void tcp_mark_dirty(struct tcp *tcp, struct tcp_connection *connection);
int tcp_acknowledged(struct tcp *tcp, struct tcp_connection *connection, uint64_t sequence,
                     struct err *err);
void tcp_reset_sender(struct tcp_sender *sender);
void tcp_free_sender(struct tcp_sender *sender);

/* tcp_receive.c: the receiving half. */
void tcp_read(struct tcp *tcp, struct tcp_connection *connection);
void tcp_reset_receiver(struct tcp *tcp, struct tcp_receiver *receiver);

#endif
