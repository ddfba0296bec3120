/* tcp.c - transport over TCP sockets; one instance serves all stages of a worker.
 *
 * One epoll instance, asked and never waited for after connect(): an idle poll() is one system
 * call. Epoll is level-triggered, and a connection that has had its budget waits for the next
 * poll(), so no peer can keep the others waiting. */
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/transport/tcp_internal.h"

enum { EVENTS_PER_POLL = 64, CHECKS_PER_SILENCE = 8, CHECK_NS_MAX = 1000000000 };

int tcp_watch(struct tcp *tcp, int fd, enum tcp_source source, int index, uint32_t interest)
{
	struct epoll_event event = {.events = interest};

	event.data.u64 = (uint64_t)source << 32 | (uint64_t)index;
	return epoll_ctl(tcp->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void tcp_set_interest(struct tcp *tcp, struct tcp_connection *connection, uint32_t interest)
{
	struct epoll_event event = {.events = interest};

	if (connection->interest == interest)
		return;
	event.data.u64 = (uint64_t)TCP_CONNECTION << 32 | (uint64_t)(connection - tcp->connections);
	if (epoll_ctl(tcp->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event))
		tcp_break(tcp, connection, -errno, "the socket cannot be watched");
	else
		connection->interest = interest;
}

/* Since the connection's socket was made; -1: the kernel does not say. */
static int64_t count_socket(const struct tcp_connection *connection)
{
	struct tcp_info info = {0};
	socklen_t n_bytes = sizeof(info);

	if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &n_bytes))
		return -1;
	return info.tcpi_total_retrans;
}

/* A reset and not an orderly end: what lies in the socket is lost with the rail, and the other side
 * learns of it at once. */
void tcp_close_connection(struct tcp *tcp, struct tcp_connection *connection)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (connection->fd >= 0) {
		int64_t n_resent = count_socket(connection);

		connection->n_resent += n_resent > 0 ? n_resent : 0;
		(void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		(void)close(connection->fd);
	}
	connection->fd = -1;
	connection->state = TCP_CLOSED;
	connection->interest = 0;
	connection->queued_bytes = 0;
	framing_reset(&tcp->host, &connection->framing);
}

/* Make ready what is due, and acknowledge what is thereby received. */
static void show_due(struct tcp *tcp)
{
	struct inbox_item item;

	while (inbox_pop_due(&tcp->host.inbox, tcp->host.now_ns, &item)) {
		const struct message *message = &item.event.message;

		if (item.event.kind == TRANSPORT_RECEIVED)
			tcp_queue_control(tcp,
			                  tcp_find(tcp, message->to_stage, message->from_stage,
			                           message->rail, message->queue),
			                  FRAME_ACK, item.token);
	}
}

void tcp_lose(struct tcp *tcp, int stage, int peer, int rail, int reason, const char *sentence)
{
	struct framing_end *end = &tcp->ends[framing_end_of(&tcp->host, stage, peer, rail)];

	show_due(tcp);
	for (int queue = 0; queue < tcp->host.config.n_queues; queue++)
		tcp_close_connection(tcp, tcp_find(tcp, stage, peer, rail, queue));
	framing_lose(&tcp->host, end, &tcp_find(tcp, stage, peer, rail, 0)->framing, reason,
	             sentence);
}

void tcp_drop(struct transport *tcp, int stage, int peer, int rail)
{
	tcp_lose((struct tcp *)tcp, stage, peer, rail, -ECONNRESET, "it was taken down here");
}

void tcp_break(struct tcp *tcp, struct tcp_connection *connection, int reason, const char *sentence)
{
	if (connection->state == TCP_UP) {
		tcp_lose(tcp, connection->framing.stage, connection->framing.peer,
		         connection->framing.rail, reason, sentence);
		return;
	}
	connection->last_errno = -reason;
	tcp_close_connection(tcp, connection);
}

static void handle_connection(struct tcp *tcp, struct tcp_connection *connection, uint32_t events)
{
	if (connection->state == TCP_CONNECTING) {
		tcp_finish_connecting(tcp, connection);
		return;
	}
	/* Errors and hang-ups are found by reading, behind what came before them. */
	if (connection->fd >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		tcp_read(tcp, connection);
	if (connection->fd >= 0 && (events & EPOLLOUT) && connection->state != TCP_CONNECTING)
		tcp_flush(tcp, connection);
}

static void handle(struct tcp *tcp, const struct epoll_event *event)
{
	int index = (int)(event->data.u64 & UINT32_MAX);

	switch ((enum tcp_source)(event->data.u64 >> 32)) {
	case TCP_CONNECTION:
		handle_connection(tcp, &tcp->connections[index], event->events);
		break;
	case TCP_LISTENER:
		tcp_accept(tcp, index);
		break;
	case TCP_GUEST:
		tcp_read_guest(tcp, &tcp->guests[index]);
		break;
	}
}

/* Flush who has something to say. A flush that runs out of budget puts its connection on the list
 * again, for the next poll. */
static void flush_dirty(struct tcp *tcp)
{
	int n = tcp->n_dirty;

	for (int i = 0; i < n; i++) {
		struct tcp_connection *connection = &tcp->connections[tcp->dirty[i]];

		connection->is_dirty = false;
		if (connection->fd >= 0 && connection->state != TCP_CONNECTING)
			tcp_flush(tcp, connection);
	}
	memmove(tcp->dirty, tcp->dirty + n, (size_t)(tcp->n_dirty - n) * sizeof(*tcp->dirty));
	tcp->n_dirty -= n;
}

/* A slow link still drains the socket; that is not silence. */
static bool is_draining(struct tcp_connection *connection)
{
	int queued_bytes = 0;

	if (ioctl(connection->fd, SIOCOUTQ, &queued_bytes) || queued_bytes == 0 ||
	    queued_bytes == connection->queued_bytes)
		return false;
	connection->queued_bytes = queued_bytes;
	return true;
}

static void check_silence(struct tcp *tcp)
{
	int64_t limit_ns = tcp->host.now_ns - tcp->host.config.silence_ns;

	for (int i = 0; tcp->host.config.silence_ns > 0 && i < tcp->n_connections; i++) {
		struct tcp_connection *connection = &tcp->connections[i];

		if (connection->state != TCP_UP)
			continue;
		if (framing_is_cut_off(&connection->framing, limit_ns))
			tcp_break(tcp, connection, -ETIMEDOUT, "half a message came and no more");
		else if (framing_is_unanswered(&connection->framing, limit_ns) &&
		         !is_draining(connection))
			tcp_break(tcp, connection, -ETIMEDOUT,
			          "a message was not acknowledged in time");
	}
}

static void check_time(struct tcp *tcp)
{
	int64_t every_ns = tcp->host.config.silence_ns / CHECKS_PER_SILENCE;

	if (tcp->host.now_ns < tcp->next_check_ns)
		return;
	if (every_ns == 0 || every_ns > CHECK_NS_MAX)
		every_ns = CHECK_NS_MAX;
	tcp->next_check_ns = tcp->host.now_ns + every_ns;
	check_silence(tcp);
	tcp_check_guests(tcp);
}

void tcp_progress(struct tcp *tcp)
{
	struct epoll_event events[EVENTS_PER_POLL];
	int n;

	framing_begin_poll(&tcp->host);
	n = epoll_wait(tcp->epoll_fd, events, EVENTS_PER_POLL, 0);
	tcp->host.now_ns = transport_now_ns(&tcp->host.config);
	for (int i = 0; i < n; i++)
		handle(tcp, &events[i]);
	check_time(tcp);
	show_due(tcp);
	if (tcp->n_dirty > 0)
		flush_dirty(tcp);
}

/* Silence ends in a LOST without anything that arrives. */
static void set_next(struct tcp *tcp)
{
	int64_t next_ns = tcp->n_dirty > 0 ? 0 : inbox_next_ns(&tcp->host.inbox);

	if (tcp->host.config.silence_ns > 0 && tcp->next_check_ns < next_ns)
		next_ns = tcp->next_check_ns;
	tcp->base.next_ns = next_ns;
}

static int tcp_poll(struct transport *transport, struct transport_event *events, size_t n,
                    size_t *n_out, struct err *err)
{
	struct tcp *tcp = (struct tcp *)transport;

	if (tcp->host.inbox.n_ready < n || n == 0)
		tcp_progress(tcp);
	if (tcp->host.inbox.is_failed)
		return err_set(err, -ENOMEM, "no memory for messages under way");
	*n_out = inbox_take(&tcp->host.inbox, events, n);
	set_next(tcp);
	return 0;
}

static int tcp_send(struct transport *transport, const struct message *message, const void *payload,
                    struct err *err)
{
	struct tcp *tcp = (struct tcp *)transport;
	int rc = transport_check_message(&tcp->host.config, message, payload, err);
	struct tcp_connection *connection;

	if (rc)
		return rc;
	connection = tcp_find(tcp, message->from_stage, message->to_stage, message->rail,
	                      message->queue);
	if (connection->state != TCP_UP)
		return err_set(err, -ENETDOWN,
		               "stage %d has no connection to stage %d on rail %d, queue %d",
		               message->from_stage, message->to_stage, message->rail,
		               message->queue);
	tcp->host.now_ns = transport_now_ns(&tcp->host.config);
	rc = framing_queue_message(&tcp->host, &connection->framing, message, payload, err);
	/* Behind a full socket or a large message it waits for its turn. */
	if (rc == 0 && !(connection->interest & EPOLLOUT) && !connection->is_dirty)
		tcp_flush(tcp, connection);
	set_next(tcp);
	return rc;
}

static void tcp_release(struct transport *transport, void *payload)
{
	pool_give(&((struct tcp *)transport)->host.pool, payload);
}

static void lose_local(struct tcp *tcp, int stage, int peer, int rail, int down)
{
	char sentence[FRAMING_SENTENCE_BYTES];

	(void)snprintf(sentence, sizeof(sentence), "the RNIC of stage %d went down", down);
	tcp_lose(tcp, stage, peer, rail, -ENETDOWN, sentence);
}

static int tcp_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                        struct err *err)
{
	struct tcp *tcp = (struct tcp *)transport;
	int rc = transport_check_rail(&tcp->host.config, stage, rail, err);

	if (rc)
		return rc;
	tcp->is_rail_up[stage * tcp->host.config.n_rails + rail] = is_up;
	tcp->host.now_ns = transport_now_ns(&tcp->host.config);
	for (int peer = stage - 1; !is_up && peer <= stage + 1; peer += 2) {
		if (peer < 0 || peer >= tcp->host.config.n_stages)
			continue;
		/* A neighbour in this worker finds out as any other does. */
		if (tcp->host.config.is_local[stage])
			lose_local(tcp, stage, peer, rail, stage);
		else if (tcp->host.config.is_local[peer])
			lose_local(tcp, peer, stage, rail, stage);
	}
	set_next(tcp);
	return 0;
}

static int64_t tcp_count_resent(struct transport *transport, int stage, int peer)
{
	struct tcp *tcp = (struct tcp *)transport;
	int n = tcp->host.config.n_rails * tcp->host.config.n_queues;
	const struct tcp_connection *connections = tcp_find(tcp, stage, peer, 0, 0);
	int64_t sum = 0;

	for (int i = 0; i < n; i++) {
		int64_t n_resent = connections[i].fd >= 0 ? count_socket(&connections[i]) : 0;

		if (n_resent < 0)
			return -1;
		sum += connections[i].n_resent + n_resent;
	}
	return sum;
}

static void tcp_close(struct transport *transport)
{
	struct tcp *tcp = (struct tcp *)transport;
	int n_listeners = tcp->host.config.n_stages * tcp->host.config.n_rails;

	for (int i = 0; tcp->connections && i < tcp->n_connections; i++) {
		/* In order here: the last acknowledgements still have to arrive. */
		if (tcp->connections[i].fd >= 0)
			(void)close(tcp->connections[i].fd);
		framing_fini(&tcp->connections[i].framing);
	}
	for (int i = 0; tcp->listeners && i < n_listeners; i++)
		if (tcp->listeners[i] >= 0)
			(void)close(tcp->listeners[i]);
	for (int i = 0; i < TCP_GUESTS_MAX; i++)
		tcp_close_guest(&tcp->guests[i]);
	if (tcp->epoll_fd >= 0)
		(void)close(tcp->epoll_fd);
	framing_fini_host(&tcp->host);
	free(tcp->is_rail_up);
	free(tcp->listeners);
	free(tcp->listened);
	free(tcp->ends);
	free(tcp->connections);
	free(tcp->dirty);
	free(tcp->staging);
	free(tcp);
}

static int allocate(struct tcp *tcp, const struct transport_config *config, struct err *err)
{
	size_t n = (size_t)config->n_stages * (size_t)config->n_rails;
	int rc = framing_init_host(&tcp->host, config, err);

	if (rc)
		return rc;
	tcp->n_connections = (int)n * 2 * config->n_queues;
	tcp->is_rail_up = array_new(n, sizeof(*tcp->is_rail_up));
	tcp->listeners = array_new(n, sizeof(*tcp->listeners));
	tcp->listened = array_new(n, sizeof(*tcp->listened));
	tcp->ends = array_new(n * 2, sizeof(*tcp->ends));
	tcp->connections = array_new((size_t)tcp->n_connections, sizeof(*tcp->connections));
	tcp->dirty = array_new((size_t)tcp->n_connections * 2, sizeof(*tcp->dirty));
	tcp->staging = array_new(TCP_STAGING_BYTES, 1);
	if (!tcp->is_rail_up || !tcp->listeners || !tcp->listened || !tcp->ends ||
	    !tcp->connections || !tcp->dirty || !tcp->staging)
		return err_set(err, -ENOMEM, "no memory for transport tcp");
	for (size_t i = 0; i < n; i++) {
		tcp->is_rail_up[i] = transport_has_rail(config, (int)i % config->n_rails);
		tcp->listeners[i] = -1;
	}
	for (int i = 0; i < tcp->n_connections; i++) {
		tcp->connections[i].fd = -1;
		framing_name(&tcp->host, i, &tcp->connections[i].framing);
	}
	return 0;
}

static int tcp_open(const struct transport_config *config, struct transport_address *addresses_out,
                    struct transport **out, struct err *err)
{
	int rc = transport_check_config(config, err);
	struct tcp *tcp;

	if (rc)
		return rc;
	tcp = array_new(1, sizeof(*tcp));
	if (!tcp)
		return err_set(err, -ENOMEM, "no memory for transport tcp");
	tcp->base.ops = &tcp_ops;
	tcp->base.next_ns = INT64_MAX;
	for (int i = 0; i < TCP_GUESTS_MAX; i++)
		tcp->guests[i].fd = -1;
	tcp->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	rc = tcp->epoll_fd < 0 ? err_set(err, -errno, "no epoll instance: %s", strerror(errno))
	                       : allocate(tcp, config, err);
	rc = rc ? rc : tcp_listen(tcp, config->listen, addresses_out, err);
	if (rc) {
		tcp_close(&tcp->base);
		return rc;
	}
	*out = &tcp->base;
	return 0;
}

const struct transport_ops tcp_ops = {
	.name = "tcp",
	.open = tcp_open,
	.connect = tcp_connect,
	.send = tcp_send,
	.poll = tcp_poll,
	.release = tcp_release,
	.set_rail = tcp_set_rail,
	.count_resent = tcp_count_resent,
	.close = tcp_close,
};
