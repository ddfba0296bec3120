/* tcp_guest.c - who comes to a listener, until it is let in.
 *
 * Anything can connect to a port. A guest is read up to the length of one hello and no further, and
 * is sent away at the first byte that no hello has; nothing is allocated for it. One that has said
 * the right thing waits until this side calls connect(), too: let in before, it would be lost again
 * by a side that has yet to take its old connection down, and sent away it would have to try again.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "engine/transport/tcp_internal.h"

enum { ACCEPTS_PER_POLL = 16 };

static const int64_t GUEST_NS = 5LL * NS_PER_S;

int tcp_set_nodelay(int fd)
{
	int on = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ? -errno : 0;
}

void tcp_close_guest(struct tcp_guest *guest)
{
	if (guest->fd >= 0)
		(void)close(guest->fd);
	guest->fd = -1;
}

static void send_away(struct tcp *tcp, struct tcp_guest *guest, const char *why)
{
	(void)snprintf(tcp->stranger, sizeof(tcp->stranger), "%.200s", why);
	tcp->n_strangers++;
	tcp_close_guest(guest);
}

/* Who has said nothing goes before who has, and who came first before who came later. */
static bool goes_before(const struct tcp_guest *a, const struct tcp_guest *b)
{
	return a->has_said != b->has_said ? b->has_said : a->since_ns < b->since_ns;
}

/* A free place, or that of the guest who has to go. */
static struct tcp_guest *place_for_guest(struct tcp *tcp)
{
	struct tcp_guest *oldest = &tcp->guests[0];

	for (int i = 0; i < TCP_GUESTS_MAX; i++) {
		if (tcp->guests[i].fd < 0)
			return &tcp->guests[i];
		if (goes_before(&tcp->guests[i], oldest))
			oldest = &tcp->guests[i];
	}
	send_away(tcp, oldest, "others wanted its place");
	return oldest;
}

static void welcome(struct tcp *tcp, int fd, int listener)
{
	struct tcp_guest *guest = place_for_guest(tcp);

	*guest = (struct tcp_guest){
		.fd = fd,
		.stage = listener / tcp->host.config.n_rails,
		.rail = listener % tcp->host.config.n_rails,
		.since_ns = tcp->host.now_ns,
	};
	if (tcp_set_nodelay(fd) ||
	    tcp_watch(tcp, fd, TCP_GUEST, (int)(guest - tcp->guests), EPOLLIN))
		send_away(tcp, guest, "its socket could not be watched");
}

void tcp_accept(struct tcp *tcp, int listener)
{
	for (int i = 0; i < ACCEPTS_PER_POLL; i++) {
		int fd =
			accept4(tcp->listeners[listener], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		/* EAGAIN: that was the last. Anything else is the guest's trouble, or passes. */
		if (fd < 0)
			return;
		welcome(tcp, fd, listener);
	}
}

static int check_hello(const struct tcp *tcp, const struct tcp_guest *guest,
                       const struct frame *frame, struct err *err)
{
	const struct message *message = &frame->message;

	if (message->run != tcp->host.config.run)
		return err_set(err, -EBADMSG, "it is of run %llx, this is run %llx",
		               (unsigned long long)message->run,
		               (unsigned long long)tcp->host.config.run);
	/* The lower stage connects to the higher one. */
	if (frame->type != FRAME_HELLO || message->to_stage != guest->stage ||
	    message->from_stage != guest->stage - 1 || message->rail != guest->rail ||
	    message->queue >= tcp->host.config.n_queues ||
	    message->replica != tcp->host.config.replica)
		return err_set(err, -EBADMSG,
		               "it is stage %d, replica %d, and wants stage %d, rail %d, queue %d",
		               message->from_stage, message->replica, message->to_stage,
		               message->rail, message->queue);
	return 0;
}

/* The guest is the other end of a connection. One that was there already is dead, whether we
 * knew or not: its maker would not make another. */
static void admit(struct tcp *tcp, struct tcp_guest *guest, const struct frame *frame)
{
	const struct message *hello = &frame->message;
	struct tcp_connection *connection =
		tcp_find(tcp, hello->to_stage, hello->from_stage, hello->rail, hello->queue);
	struct epoll_event event = {.events = EPOLLIN};

	if (connection->state == TCP_UP)
		tcp_lose(tcp, hello->to_stage, hello->from_stage, hello->rail, -ECONNRESET,
		         "the other side connected again");
	event.data.u64 = (uint64_t)TCP_CONNECTION << 32 | (uint64_t)(connection - tcp->connections);
	if (epoll_ctl(tcp->epoll_fd, EPOLL_CTL_MOD, guest->fd, &event)) {
		send_away(tcp, guest, "its socket could not be watched");
		return;
	}
	connection->fd = guest->fd;
	connection->interest = EPOLLIN;
	guest->fd = -1;
	connection->framing.is_clock_shared = frame->clock_id == tcp->host.clock_id;
	tcp_start_up(tcp, connection);
	tcp_queue_control(tcp, connection, FRAME_HELLO, 0);
}

/* It waits. Should it have gone, or say more than it was asked, it is sent away. */
static bool is_waiting(struct tcp *tcp, struct tcp_guest *guest)
{
	uint8_t byte;
	ssize_t n = recv(guest->fd, &byte, sizeof(byte), MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	send_away(tcp, guest,
	          n > 0 ? "it said more than its name" : "it went before it was let in");
	return false;
}

void tcp_admit_guests(struct tcp *tcp)
{
	for (int i = 0; i < TCP_GUESTS_MAX; i++) {
		struct tcp_guest *guest = &tcp->guests[i];
		struct frame frame;

		if (guest->fd >= 0 && guest->has_said &&
		    tcp_is_rail_up(tcp, guest->stage, guest->stage - 1, guest->rail) &&
		    is_waiting(tcp, guest) && frame_decode(guest->header, &frame, NULL) == 0)
			admit(tcp, guest, &frame);
	}
}

void tcp_read_guest(struct tcp *tcp, struct tcp_guest *guest)
{
	struct frame frame;
	struct err err = {0};
	ssize_t n;

	if (guest->fd < 0)
		return;
	if (guest->has_said) {
		(void)is_waiting(tcp, guest);
		return;
	}
	n = recv(guest->fd, guest->header + guest->n_header, FRAME_HEADER_BYTES - guest->n_header,
	         0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		send_away(tcp, guest, "it went without a word");
		return;
	}
	guest->n_header += (size_t)n;
	if (!frame_is_possible(guest->header, guest->n_header)) {
		send_away(tcp, guest, "it speaks another protocol");
		return;
	}
	if (guest->n_header < FRAME_HEADER_BYTES)
		return;
	if (frame_decode(guest->header, &frame, &err) || check_hello(tcp, guest, &frame, &err))
		send_away(tcp, guest, err.text);
	else
		guest->has_said = true;
}

void tcp_check_guests(struct tcp *tcp)
{
	for (int i = 0; i < TCP_GUESTS_MAX; i++)
		if (tcp->guests[i].fd >= 0 && !tcp->guests[i].has_said &&
		    tcp->host.now_ns - tcp->guests[i].since_ns > GUEST_NS)
			send_away(tcp, &tcp->guests[i], "it said nothing for too long");
}
