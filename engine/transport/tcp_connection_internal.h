/* tcp_connection_internal.h - one connection of transport tcp. */
#ifndef ENGINE_TRANSPORT_TCP_CONNECTION_INTERNAL_H
#define ENGINE_TRANSPORT_TCP_CONNECTION_INTERNAL_H

#include "engine/transport/framing_internal.h"

struct tcp;

/* Of one connection and poll: a large message must not keep the others waiting. */
enum { TCP_BUDGET_BYTES = 1 << 20 };

enum tcp_state {
	TCP_CLOSED,
	TCP_CONNECTING, /* connect() is under way */
	TCP_GREETING,   /* our hello is sent, the answer is not there */
	TCP_UP,
};

struct tcp_connection {
	struct framing framing;
	enum tcp_state state;
	int fd;              /* −1: none */
	uint32_t interest;   /* what epoll watches */
	bool is_dirty;       /* on the list of those to be flushed by the next poll */
	int queued_bytes;    /* in the socket when silence was last suspected */
	int64_t n_resent;    /* segments that its sockets sent again, those before fd's */
	int last_errno;      /* why the last attempt to connect failed */
	int64_t retry_ns;    /* not before then, */
	int64_t patience_ns; /* which was this long after the last attempt */
};

/* tcp_stream.c: hellos and acknowledgements go out with the next poll. */
void tcp_queue_control(struct tcp *tcp, struct tcp_connection *connection, enum frame_type type,
                       uint64_t sequence);

/* tcp_stream.c: as far as the socket and the budget allow. */
void tcp_flush(struct tcp *tcp, struct tcp_connection *connection);
void tcp_read(struct tcp *tcp, struct tcp_connection *connection);

#endif
