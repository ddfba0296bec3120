/* tcp_stream.c - sockets written and read.
 *
 * A read fills what is missing of the payload in hand and, behind it, a staging area that all
 * connections share: one system call brings a small message whole, and a large payload is never
 * copied but at its two ends. The staging area is empty between reads; what it held is then in the
 * connection. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/transport/tcp_internal.h"

static void mark_dirty(struct tcp *tcp, struct tcp_connection *connection)
{
	if (connection->is_dirty)
		return;
	connection->is_dirty = true;
	tcp->dirty[tcp->n_dirty++] = (int)(connection - tcp->connections);
}

void tcp_queue_control(struct tcp *tcp, struct tcp_connection *connection, enum frame_type type,
                       uint64_t sequence)
{
	framing_queue_control(&tcp->host, &connection->framing, type, sequence);
	mark_dirty(tcp, connection);
}

void tcp_flush(struct tcp *tcp, struct tcp_connection *connection)
{
	struct framing *framing = &connection->framing;
	size_t n_written = 0;

	while (n_written < TCP_BUDGET_BYTES) {
		struct iovec parts[FRAMING_PARTS_MAX];
		struct msghdr header = {.msg_iov = parts};
		size_t n_wanted = framing_gather(&tcp->host, framing, parts, &header.msg_iovlen);
		ssize_t n = n_wanted == 0 ? 0 : sendmsg(connection->fd, &header, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			tcp_break(tcp, connection, -errno, "the connection broke");
			return;
		}
		if (n > 0)
			framing_advance(&tcp->host, framing, (size_t)n);
		if (n_wanted == 0 || (size_t)(n < 0 ? 0 : n) < n_wanted) {
			tcp_set_interest(tcp, connection,
			                 n_wanted > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
			return;
		}
		n_written += (size_t)n;
	}
	mark_dirty(tcp, connection);
}

/* Where the next bytes go; returns how many are for the payload. */
static size_t aim(const struct tcp *tcp, const struct framing *framing, struct iovec *parts,
                  int *n_parts)
{
	void *to = NULL;
	size_t n_missing = framing_aim(framing, &to);

	*n_parts = 0;
	if (n_missing > 0) {
		size_t n = n_missing < FRAMING_PIECE_BYTES ? n_missing : FRAMING_PIECE_BYTES;

		parts[(*n_parts)++] = (struct iovec){to, n};
		if (n < n_missing)
			return n;
	}
	parts[(*n_parts)++] = (struct iovec){tcp->staging, TCP_STAGING_BYTES};
	return n_missing;
}

/* Take what came behind the payload in hand. */
static int take_staged(struct tcp *tcp, struct tcp_connection *connection, size_t n_bytes,
                       struct err *err)
{
	struct framing *framing = &connection->framing;
	size_t n_all = 0, n;
	int rc = 0;

	while (rc == 0 && n_all < n_bytes) {
		rc = framing_take(&tcp->host, framing, tcp->staging + n_all, n_bytes - n_all, &n,
		                  err);
		n_all += n;
		if (rc == 0 && connection->state == TCP_GREETING && !framing->awaits_hello)
			tcp_start_up(tcp, connection);
	}
	if (framing_has_control(framing))
		mark_dirty(tcp, connection);
	return rc;
}

static int take(struct tcp *tcp, struct tcp_connection *connection, size_t n_direct, size_t n_bytes,
                struct err *err)
{
	tcp->host.now_ns = transport_now_ns(&tcp->host.config);
	if (n_direct > n_bytes)
		n_direct = n_bytes;
	if (n_direct > 0)
		framing_take_aimed(&tcp->host, &connection->framing, n_direct);
	return take_staged(tcp, connection, n_bytes - n_direct, err);
}

void tcp_read(struct tcp *tcp, struct tcp_connection *connection)
{
	struct err err = {0};
	size_t n_read = 0;

	while (n_read < TCP_BUDGET_BYTES && connection->fd >= 0) {
		struct iovec parts[2];
		int n_parts;
		size_t n_direct = aim(tcp, &connection->framing, parts, &n_parts), n_wanted = 0;
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
