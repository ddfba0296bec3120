/* tcp_connect.c - listening, and making the connections before iteration 0.
 *
 * All workers listen before any connects, so a connect() never waits for its peer's accept(), and
 * the global order (link, rail, queue) cannot deadlock. The lower stage of a link connects and says
 * hello; the higher one answers once it has called connect(), too. Attempts that fail are repeated
 * until the time is over, soon at first and then more and more seldom: a rail that is up again may
 * be up here a moment earlier than there. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "engine/transport/tcp_internal.h"

enum { BACKLOG = 1024, PORT_MAX = 65535 };

static const int64_t RETRY_FIRST_NS = 200 * NS_PER_US, RETRY_MOST_NS = 20 * NS_PER_MS;
static const int64_t WAIT_NS = 5 * NS_PER_MS;

/* "ADDRESS:PORT"; IPv4 only. */
static int parse_address(const char *text, struct sockaddr_in *out, struct err *err)
{
	char host[TRANSPORT_ADDRESS_BYTES];
	const char *colon = memchr(text, ':', strnlen(text, TRANSPORT_ADDRESS_BYTES));
	struct sockaddr_in address = {.sin_family = AF_INET};
	char *end;
	long port;

	if (!colon)
		return err_set(err, -EINVAL, "'%.64s' is no address; write 127.0.0.1:0 or the like",
		               text);
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	port = strtol(colon + 1, &end, 10);
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1 || end == colon + 1 || *end ||
	    port < 0 || port > PORT_MAX)
		return err_set(err, -EINVAL, "'%.64s' is no IPv4 address with a port", text);
	address.sin_port = htons((uint16_t)port);
	*out = address;
	return 0;
}

static int format_address(const struct sockaddr_in *address, char *text)
{
	char host[INET_ADDRSTRLEN];

	if (!inet_ntop(AF_INET, &address->sin_addr, host, sizeof(host)))
		return -errno;
	(void)snprintf(text, TRANSPORT_ADDRESS_BYTES, "%s:%d", host, ntohs(address->sin_port));
	return 0;
}

static int listen_at(struct tcp *tcp, int listener, const char *text, char *text_out,
                     struct err *err)
{
	struct sockaddr_in address;
	socklen_t length = sizeof(address);
	int rc = parse_address(text[0] ? text : "127.0.0.1:0", &address, err), fd;

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, -errno, "no socket: %s", strerror(errno));
	tcp->listeners[listener] = fd;
	if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		return err_set(err, -errno, "cannot listen on %s: %s", text[0] ? text : "127.0.0.1",
		               strerror(errno));
	tcp->listened[listener] = address;
	rc = format_address(&address, text_out);
	if (rc == 0)
		rc = tcp_watch(tcp, fd, TCP_LISTENER, listener, EPOLLIN);
	return rc ? err_set(err, rc, "cannot watch a listener: %s", strerror(-rc)) : 0;
}

int tcp_listen(struct tcp *tcp, const struct transport_address *listen,
               struct transport_address *addresses_out, struct err *err)
{
	int n_rails = tcp->host.config.n_rails;

	for (int stage = 0; stage < tcp->host.config.n_stages; stage++)
		for (int rail = 0; tcp->host.config.is_local[stage] && rail < n_rails; rail++) {
			int rc = 0;

			if (transport_has_rail(&tcp->host.config, rail))
				rc = listen_at(tcp, stage * n_rails + rail,
				               listen ? listen[stage].text[rail] : "",
				               addresses_out[stage].text[rail], err);
			if (rc) {
				err_wrap(err, "stage %d, rail %d", stage, rail);
				return rc;
			}
		}
	return 0;
}

void tcp_start_up(struct tcp *tcp, struct tcp_connection *connection)
{
	const struct framing *framing = &connection->framing;

	connection->state = TCP_UP;
	connection->framing.in.read_ns = connection->framing.out.wrote_ns = tcp->host.now_ns;
	tcp->ends[framing_end_of(&tcp->host, framing->stage, framing->peer, framing->rail)]
		.is_live = true;
}

/* Leave from where the stage listens, so that a rail's traffic is on that rail in both directions.
 */
static int open_socket(const struct tcp *tcp, const struct tcp_connection *connection)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), rc;
	struct sockaddr_in source =
		tcp->listened[connection->framing.stage * tcp->host.config.n_rails +
	                      connection->framing.rail];

	if (fd < 0)
		return -errno;
	source.sin_port = 0;
	rc = tcp_set_nodelay(fd);
	if (rc == 0 && setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)))
		rc = -errno;
	if (rc == 0 && bind(fd, (struct sockaddr *)&source, sizeof(source)))
		rc = -errno;
	if (rc == 0)
		return fd;
	(void)close(fd);
	return rc;
}

static void start_connecting(struct tcp *tcp, struct tcp_connection *connection,
                             const struct sockaddr_in *address)
{
	int fd = open_socket(tcp, connection), rc;

	connection->retry_ns = clock_monotonic_ns() + connection->patience_ns;
	connection->patience_ns *= 2;
	if (connection->patience_ns > RETRY_MOST_NS)
		connection->patience_ns = RETRY_MOST_NS;
	if (fd < 0) {
		connection->last_errno = -fd;
		return;
	}
	rc = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	if (rc && errno != EINPROGRESS) {
		connection->last_errno = errno;
		(void)close(fd);
		return;
	}
	connection->fd = fd;
	connection->state = TCP_CONNECTING;
	connection->interest = EPOLLOUT;
	rc = tcp_watch(tcp, fd, TCP_CONNECTION, (int)(connection - tcp->connections), EPOLLOUT);
	if (rc)
		tcp_break(tcp, connection, rc, "the socket cannot be watched");
}

void tcp_finish_connecting(struct tcp *tcp, struct tcp_connection *connection)
{
	int problem = 0;
	socklen_t length = sizeof(problem);

	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &problem, &length))
		problem = errno;
	if (problem) {
		tcp_break(tcp, connection, -problem, "the connection was not made");
		return;
	}
	connection->state = TCP_GREETING;
	connection->framing.awaits_hello = true;
	tcp_queue_control(tcp, connection, FRAME_HELLO, 0);
	tcp_set_interest(tcp, connection, EPOLLIN);
}

/* Its stage is local, and nothing is known that stands in its way. */
static bool is_wanted(const struct tcp *tcp, const struct tcp_connection *connection)
{
	const struct framing *framing = &connection->framing;

	return framing_is_ours(&tcp->host, framing) &&
	       tcp_is_rail_up(tcp, framing->stage, framing->peer, framing->rail);
}

/* The first connection, in the global order, that is wanted and missing, after the one given. */
static struct tcp_connection *next_missing(const struct tcp *tcp,
                                           const struct tcp_connection *after)
{
	int i = after ? (int)(after - tcp->connections) + 1 : 0;

	for (; i < tcp->n_connections; i++)
		if (tcp->connections[i].state != TCP_UP && is_wanted(tcp, &tcp->connections[i]))
			return &tcp->connections[i];
	return NULL;
}

/* Parse once what is to be connected to, so that a bad address fails at once. */
static int parse_peers(const struct tcp *tcp, const struct transport_address *addresses,
                       struct sockaddr_in *peers, struct err *err)
{
	int n_rails = tcp->host.config.n_rails;

	for (int stage = 1; stage < tcp->host.config.n_stages; stage++)
		for (int rail = 0; tcp->host.config.is_local[stage - 1] && rail < n_rails; rail++) {
			int rc = 0;

			if (transport_has_rail(&tcp->host.config, rail))
				rc = parse_address(addresses[stage].text[rail],
				                   &peers[stage * n_rails + rail], err);
			if (rc)
				return err_wrap(err, "stage %d, rail %d", stage, rail);
		}
	return 0;
}

/* Start what may be tried by now; returns how long there is nothing more to be tried. */
static int64_t try_missing(struct tcp *tcp, const struct sockaddr_in *peers)
{
	struct tcp_connection *connection = NULL;
	int64_t now_ns = clock_monotonic_ns(), wait_ns = WAIT_NS;

	while ((connection = next_missing(tcp, connection))) {
		if (connection->framing.peer < connection->framing.stage ||
		    connection->state != TCP_CLOSED)
			continue;
		if (connection->retry_ns <= now_ns)
			start_connecting(
				tcp, connection,
				&peers[connection->framing.peer * tcp->host.config.n_rails +
			               connection->framing.rail]);
		else if (connection->retry_ns - now_ns < wait_ns)
			wait_ns = connection->retry_ns - now_ns;
	}
	return wait_ns;
}

/* Sleep until a socket has something to tell, and not longer than that; epoll's own wait knows
 * nothing shorter than a millisecond. */
static void wait_for_sockets(const struct tcp *tcp, int64_t wait_ns)
{
	struct pollfd polled = {.fd = tcp->epoll_fd, .events = POLLIN};
	const struct timespec timeout = {.tv_nsec = wait_ns};

	(void)ppoll(&polled, 1, &timeout, NULL);
}

static int say_missing(const struct tcp *tcp, const struct tcp_connection *missing,
                       const struct transport_address *addresses, int64_t timeout_ns,
                       struct err *err)
{
	char span[UNITS_TEXT_BYTES];

	units_format_duration(timeout_ns, span);
	if (missing->framing.peer > missing->framing.stage)
		(void)err_set(err, -ETIMEDOUT,
		              "stage %d could not connect to stage %d at %.64s on rail %d, queue "
		              "%d within %s: %s",
		              missing->framing.stage, missing->framing.peer,
		              addresses[missing->framing.peer].text[missing->framing.rail],
		              missing->framing.rail, missing->framing.queue, span,
		              missing->last_errno ? strerror(missing->last_errno)
		                                  : "its worker did not answer");
	else
		(void)err_set(err, -ETIMEDOUT,
		              "stage %d did not connect to stage %d on rail %d, queue %d within "
		              "%s; is its worker running",
		              missing->framing.peer, missing->framing.stage, missing->framing.rail,
		              missing->framing.queue, span);
	if (tcp->n_strangers > 0)
		(void)err_set(err, -ETIMEDOUT,
		              "%.600s; %d others were sent away, the last because %s", err->text,
		              tcp->n_strangers, tcp->stranger);
	return -ETIMEDOUT;
}

/* Attempts that are half made would surprise the next connect(). */
static void give_up(struct tcp *tcp)
{
	for (int i = 0; i < tcp->n_connections; i++)
		if (tcp->connections[i].state != TCP_UP)
			tcp_close_connection(tcp, &tcp->connections[i]);
}

int tcp_connect(struct transport *transport, const struct transport_address *addresses,
                int64_t timeout_ns, struct err *err)
{
	struct tcp *tcp = (struct tcp *)transport;
	int64_t end_ns = clock_monotonic_ns() + timeout_ns;
	struct sockaddr_in *peers = calloc((size_t)tcp->host.config.n_stages,
	                                   (size_t)tcp->host.config.n_rails * sizeof(*peers));
	struct err nothing = {0};
	int rc;

	if (!err)
		err = &nothing;
	if (!peers)
		return err_set(err, -ENOMEM, "no memory for addresses");
	rc = parse_peers(tcp, addresses, peers, err);
	for (int i = 0; i < tcp->n_connections; i++) {
		tcp->connections[i].last_errno = 0;
		tcp->connections[i].retry_ns = 0;
		tcp->connections[i].patience_ns = RETRY_FIRST_NS;
	}
	tcp->host.now_ns = transport_now_ns(&tcp->host.config);
	tcp_admit_guests(tcp);
	while (rc == 0 && next_missing(tcp, NULL)) {
		if (clock_monotonic_ns() > end_ns) {
			rc = say_missing(tcp, next_missing(tcp, NULL), addresses, timeout_ns, err);
			break;
		}
		wait_for_sockets(tcp, try_missing(tcp, peers));
		tcp_progress(tcp);
		tcp_admit_guests(tcp);
	}
	/* The last answers to hellos: nobody may wait for our first poll(). */
	tcp_progress(tcp);
	free(peers);
	if (rc)
		give_up(tcp);
	transport->next_ns = 0;
	return rc;
}
