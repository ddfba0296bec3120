/* netlink.c - requests to the kernel's routing tables, each answered within a time limit.
 *
 * libnl builds, sends and receives; its receive loop is not used, since it neither ends by itself
 * nor hands out the kernel's sentence. An answer that comes after its request was given up is known
 * by its sequence number and skipped. */
#include "injectors/netlink.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "injectors/namespace.h"

enum {
	COMPLAINT_BYTES = 256,
	DUMP_TRIES = 5,
	/* Silence of a kernel that has a request. What it waits for itself, a lock of all network
	 * namespaces, it waits for inside of the calls that send and receive, on a busy machine at
	 * which many namespaces end for half a minute; that is not silence. */
	TIMEOUT_S = 20,
};

struct netlink {
	struct nl_sock *socket;
	int64_t timeout_ns;
	char complaint[COMPLAINT_BYTES];
};

/* One request under way. */
struct exchange {
	uint32_t sequence;
	int64_t deadline_ns;
	struct netlink_answer answer;
	size_t capacity;
	bool is_done;
	bool is_torn; /* the tables changed during the dump */
};

static int set_up(struct nl_sock *socket, int fd, uint32_t peer_port)
{
	static const int on = 1;

	if (nl_socket_set_fd(socket, NETLINK_ROUTE, fd) < 0)
		return -EINVAL;
	nl_socket_set_peer_port(socket, peer_port);
	if (nl_socket_set_nonblocking(socket) < 0)
		return -EINVAL;
	/* Kernels before 4.12 have no sentences; there the number has to do. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	/* The request is not repeated behind its error: what is behind it are the sentences. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return 0;
}

int netlink_adopt(int socket, uint32_t peer_port, int64_t timeout_ns, struct netlink **out,
                  struct err *err)
{
	struct netlink *netlink = calloc(1, sizeof(*netlink));
	int rc;

	if (!netlink || !(netlink->socket = nl_socket_alloc())) {
		free(netlink);
		close(socket);
		return err_set(err, -ENOMEM, "out of memory for a netlink socket");
	}
	netlink->timeout_ns = timeout_ns;
	rc = set_up(netlink->socket, socket, peer_port);
	if (rc) {
		if (nl_socket_get_fd(netlink->socket) < 0)
			close(socket);
		netlink_close(netlink);
		return err_set(err, rc, "file descriptor %d is not a bound netlink socket", socket);
	}
	*out = netlink;
	return 0;
}

int netlink_open(int namespace_fd, struct netlink **out, struct err *err)
{
	int fd = -1;
	int rc = namespace_socket(namespace_fd, NETLINK_ROUTE, &fd, err);

	if (rc)
		return rc;
	return netlink_adopt(fd, 0, (int64_t)TIMEOUT_S * NS_PER_S, out, err);
}

void netlink_close(struct netlink *netlink)
{
	if (!netlink)
		return;
	nl_socket_free(netlink->socket);
	free(netlink);
}

const char *netlink_complaint(const struct netlink *netlink)
{
	return netlink->complaint;
}

int netlink_fd(const struct netlink *netlink)
{
	return nl_socket_get_fd(netlink->socket);
}

void netlink_answer_fini(struct netlink_answer *answer)
{
	free(answer->bytes);
	*answer = (struct netlink_answer){0};
}

const struct nlmsghdr *netlink_next(const struct netlink_answer *answer,
                                    const struct nlmsghdr *previous)
{
	const char *at = answer->bytes;

	if (previous)
		at = (const char *)previous + NLMSG_ALIGN(previous->nlmsg_len);
	return at < answer->bytes + answer->n_bytes ? (const struct nlmsghdr *)at : NULL;
}

/* Each message starts aligned, so that the next one is found by its length. */
static int keep(struct exchange *exchange, const struct nlmsghdr *head)
{
	size_t n_bytes = NLMSG_ALIGN(head->nlmsg_len), end = exchange->answer.n_bytes + n_bytes;
	char *grown;

	if (end > exchange->capacity) {
		grown = array_grow(exchange->answer.bytes, &exchange->capacity, end, 1);
		if (!grown)
			return -ENOMEM;
		exchange->answer.bytes = grown;
	}
	memset(exchange->answer.bytes + end - n_bytes, 0, n_bytes);
	memcpy(exchange->answer.bytes + end - n_bytes, head, head->nlmsg_len);
	exchange->answer.n_bytes = end;
	return 0;
}

/* Only what comes before the padding's end counts; the kernel's sentence has its NUL. */
static void read_complaint(struct netlink *netlink, const struct nlmsghdr *head)
{
	struct nlattr *sentence;
	int offset = (int)sizeof(struct nlmsgerr);

	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(head->nlmsg_flags & NLM_F_CAPPED)) {
		const struct nlmsgerr *error = nlmsg_data(head);

		if (error->msg.nlmsg_len < sizeof(struct nlmsghdr) ||
		    error->msg.nlmsg_len > head->nlmsg_len)
			return;
		offset += (int)(error->msg.nlmsg_len - sizeof(struct nlmsghdr));
	}
	sentence = nlmsg_find_attr((struct nlmsghdr *)head, offset, NLMSGERR_ATTR_MSG);
	if (sentence)
		nla_strlcpy(netlink->complaint, sentence, sizeof(netlink->complaint));
}

/* An acknowledgement, or the end of a dump: 0 or the kernel's -errno. */
static int read_end(struct netlink *netlink, const struct nlmsghdr *head, struct exchange *exchange)
{
	int code;

	if (nlmsg_datalen(head) < (int)sizeof(code))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR && nlmsg_datalen(head) < (int)sizeof(struct nlmsgerr))
		return -EPROTO;
	memcpy(&code, nlmsg_data(head), sizeof(code));
	if (head->nlmsg_type == NLMSG_ERROR)
		read_complaint(netlink, head);
	exchange->is_done = true;
	return code <= 0 ? code : -EPROTO;
}

static int read_message(struct netlink *netlink, const struct nlmsghdr *head,
                        struct exchange *exchange)
{
	if (head->nlmsg_seq != exchange->sequence || exchange->is_done)
		return 0;
	if (head->nlmsg_flags & NLM_F_DUMP_INTR)
		exchange->is_torn = true;
	if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE)
		return read_end(netlink, head, exchange);
	if (head->nlmsg_type < NLMSG_MIN_TYPE)
		return 0;
	return keep(exchange, head);
}

static int read_datagram(struct netlink *netlink, struct exchange *exchange)
{
	struct sockaddr_nl from;
	unsigned char *bytes = NULL;
	struct nlmsghdr *head;
	int rc = 0, n = nl_recv(netlink->socket, &from, &bytes, NULL);

	/* Nothing after all: the kernel dropped it for its checksum, or there was a signal. */
	if (n == 0 || n == -NLE_AGAIN || n == -NLE_INTR)
		return 0;
	/* The kernel had no room: an answer is lost. */
	if (n < 0)
		return -ENOBUFS;
	head = (struct nlmsghdr *)bytes;
	if (from.nl_pid == nl_socket_get_peer_port(netlink->socket)) {
		for (; !rc && nlmsg_ok(head, n); head = nlmsg_next(head, &n))
			rc = read_message(netlink, head, exchange);
	}
	free(bytes);
	return rc;
}

/* An answer that is there is taken, however late it is. */
static int wait_for_datagram(struct netlink *netlink, const struct exchange *exchange)
{
	struct pollfd fd = {.fd = netlink_fd(netlink), .events = POLLIN};
	int64_t left_ns = exchange->deadline_ns - clock_monotonic_ns();
	int n = poll(&fd, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);

	if (n < 0 && errno != EINTR)
		return -errno;
	return n <= 0 && left_ns < 0 ? -ETIMEDOUT : 0;
}

static void set_deadline(const struct netlink *netlink, struct exchange *exchange)
{
	exchange->deadline_ns = clock_monotonic_ns() + netlink->timeout_ns;
}

static int run_exchange(struct netlink *netlink, struct nl_msg *message, struct exchange *exchange)
{
	int rc = 0;

	netlink->complaint[0] = '\0';
	*exchange = (struct exchange){0};
	/* 0 asks libnl for the next number. */
	nlmsg_hdr(message)->nlmsg_seq = NL_AUTO_SEQ;
	if (nl_send_auto(netlink->socket, message) < 0)
		return -ECOMM;
	exchange->sequence = nlmsg_hdr(message)->nlmsg_seq;
	set_deadline(netlink, exchange);
	while (!rc && !exchange->is_done) {
		rc = wait_for_datagram(netlink, exchange);
		if (!rc)
			rc = read_datagram(netlink, exchange);
	}
	return rc;
}

static const char *sentence_for(const struct netlink *netlink, int code)
{
	switch (code) {
	case -ETIMEDOUT:
		return "the kernel did not answer in time";
	case -EPROTO:
		return "the answer is not one of the kernel's";
	case -EPERM:
		return "no permission (CAP_NET_ADMIN in that namespace is needed)";
	default:
		return netlink->complaint[0] ? netlink->complaint : strerror(-code);
	}
}

int netlink_request(struct netlink *netlink, struct nl_msg *message,
                    struct netlink_answer *answer_out, struct err *err)
{
	struct exchange exchange = {0};
	int rc, n_tries = 0;

	if (!message)
		return err_set(err, -ENOMEM, "out of memory for a netlink message");
	do {
		netlink_answer_fini(&exchange.answer);
		rc = run_exchange(netlink, message, &exchange);
	} while (!rc && exchange.is_torn && ++n_tries < DUMP_TRIES);
	nlmsg_free(message);
	if (!rc && exchange.is_torn)
		rc = -EAGAIN;
	if (rc || !answer_out)
		netlink_answer_fini(&exchange.answer);
	else
		*answer_out = exchange.answer;
	return rc ? err_set(err, rc, "netlink: %s", sentence_for(netlink, rc)) : 0;
}
