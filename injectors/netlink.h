/* netlink.h - requests to the kernel's routing tables, each answered within a time limit.
 *
 * A connection belongs to one thread and to the network namespace it was opened in, wherever its
 * owner goes. Messages are built with libnl (nlmsg_alloc_simple and so on); the kernel's own words
 * for what it refuses are in err. */
#ifndef INJECTORS_NETLINK_H
#define INJECTORS_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct netlink;
struct nl_msg;
struct nlmsghdr;

/* What came before the acknowledgement, or all of a dump. */
struct netlink_answer {
	char *bytes;
	size_t n_bytes;
};

/* Inside the namespace fd, or NAMESPACE_OWN; close with netlink_close(). -EPERM: the namespace
 * belongs to somebody else. */
int netlink_open(int namespace_fd, struct netlink **out, struct err *err);

/* Take over a bound netlink socket, also on failure; peer_port is who answers, 0 the kernel. Every
 * wait ends after timeout_ns, counted from when the request is sent; what the peer does inside of
 * that call, as the kernel does, takes as long as it takes. */
int netlink_adopt(int socket, uint32_t peer_port, int64_t timeout_ns, struct netlink **out,
                  struct err *err);
void netlink_close(struct netlink *netlink);

/* Send message, which is freed in any case (NULL: out of memory, -ENOMEM), and block until it is
 * acknowledged. With NLM_F_DUMP in its flags it is a dump, begun again when the tables changed
 * meanwhile. Any -errno of the kernel, err has its sentence; -ETIMEDOUT: no acknowledgement came,
 * so whether it was done is not known; -EPROTO: an answer that is none. answer_out may be NULL;
 * else free it with netlink_answer_fini(). */
int netlink_request(struct netlink *netlink, struct nl_msg *message,
                    struct netlink_answer *answer_out, struct err *err);

/* The message after previous, NULL after the last one; previous NULL: the first. */
const struct nlmsghdr *netlink_next(const struct netlink_answer *answer,
                                    const struct nlmsghdr *previous);
void netlink_answer_fini(struct netlink_answer *answer);

/* The kernel's sentence about the last request, "" if it had none. */
const char *netlink_complaint(const struct netlink *netlink);

/* For ioctl() in the same namespace. */
int netlink_fd(const struct netlink *netlink);

#endif
