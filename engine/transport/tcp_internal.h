/* tcp_internal.h - the parts of transport tcp.
 *
 * tcp.c: the table, polling, loss, silence · tcp_connect.c: listening, connecting ·
 * tcp_guest.c: who comes to a listener · tcp_stream.c: sockets written and read.
 * What the bytes mean is for framing.c and its halves.
 *
 * A stage's end of a rail to one neighbour has n_queues connections and is lost as a whole.
 * Everything is an array made at open(), so an index from a late epoll event is never a dangling
 * pointer: at worst the wrong socket is asked once and has nothing to say. */
#ifndef ENGINE_TRANSPORT_TCP_INTERNAL_H
#define ENGINE_TRANSPORT_TCP_INTERNAL_H

#include <netinet/in.h>

#include "engine/transport/tcp_connection_internal.h"
#include "engine/transport/transport_internal.h"

enum { TCP_GUESTS_MAX = 64, TCP_STAGING_BYTES = 128 << 10 };

/* Accepted, and has not said who it is, or has and waits for this side's connect(). */
struct tcp_guest {
	int fd; /* −1: free */
	int stage, rail;
	bool has_said;
	int64_t since_ns;
	uint8_t header[FRAME_HEADER_BYTES];
	size_t n_header;
};

struct tcp {
	struct transport base;
	struct framing_host host;
	bool *is_rail_up;                   /* [stage * n_rails + rail] */
	int *listeners;                     /* the same; −1: none */
	struct sockaddr_in *listened;       /* the same */
	struct framing_end *ends;           /* framing_end_of() */
	struct tcp_connection *connections; /* framing_connection_of() */
	int n_connections;
	int *dirty;
	int n_dirty;
	struct tcp_guest guests[TCP_GUESTS_MAX];
	int epoll_fd;
	int64_t next_check_ns;
	uint8_t *staging; /* what a read brought beyond the payload it was for */
	char stranger[FRAMING_SENTENCE_BYTES]; /* why the last guest was turned away */
	int n_strangers;
};

/* What an epoll event is about, above the index. */
enum tcp_source { TCP_CONNECTION, TCP_LISTENER, TCP_GUEST };

static inline struct tcp_connection *tcp_find(const struct tcp *tcp, int stage, int peer, int rail,
                                              int queue)
{
	return &tcp->connections[framing_connection_of(&tcp->host, stage, peer, rail, queue)];
}

static inline bool tcp_is_rail_up(const struct tcp *tcp, int stage, int peer, int rail)
{
	return tcp->is_rail_up[stage * tcp->host.config.n_rails + rail] &&
	       tcp->is_rail_up[peer * tcp->host.config.n_rails + rail];
}

/* tcp.c: the end of a rail breaks: its connections are closed, what they carried is dropped, and if
 * it was live there is a LOST event. */
void tcp_lose(struct tcp *tcp, int stage, int peer, int rail, int reason, const char *sentence);

/* tcp.c: something is wrong with a connection: its end is lost, or the attempt to make it. */
void tcp_break(struct tcp *tcp, struct tcp_connection *connection, int reason,
               const char *sentence);

void tcp_close_connection(struct tcp *tcp, struct tcp_connection *connection);

/* tcp.c: have epoll tell of a socket that it does not know yet. */
int tcp_watch(struct tcp *tcp, int fd, enum tcp_source source, int index, uint32_t interest);
void tcp_set_interest(struct tcp *tcp, struct tcp_connection *connection, uint32_t interest);
void tcp_progress(struct tcp *tcp);

/* tcp_connect.c */
int tcp_listen(struct tcp *tcp, const struct transport_address *listen,
               struct transport_address *addresses_out, struct err *err);
int tcp_connect(struct transport *transport, const struct transport_address *addresses,
                int64_t timeout_ns, struct err *err);

/* The socket of a connection in TCP_CONNECTING is ready, or cannot be. */
void tcp_finish_connecting(struct tcp *tcp, struct tcp_connection *connection);

/* tcp_connect.c: both sides know each other. */
void tcp_start_up(struct tcp *tcp, struct tcp_connection *connection);

/* tcp_guest.c: who comes to a listener, until it is let in. */
void tcp_accept(struct tcp *tcp, int listener);
void tcp_read_guest(struct tcp *tcp, struct tcp_guest *guest);
void tcp_admit_guests(
	struct tcp *tcp); /* those that have said who they are; from connect() alone */
void tcp_check_guests(struct tcp *tcp); /* send away those that have said nothing for long */
void tcp_close_guest(struct tcp_guest *guest);
int tcp_set_nodelay(int fd);

#endif
