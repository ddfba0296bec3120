/* qdisc_messages.h - the netlink messages of qdisc.h, and what the kernel says about them. NULL:
 * out of memory; what is returned is the caller's, netlink_request() frees it. */
#ifndef INJECTORS_QDISC_MESSAGES_H
#define INJECTORS_QDISC_MESSAGES_H

#include <stdbool.h>

#include "injectors/qdisc.h"

/* is_new: made, and nothing else may be there; else one that is there is changed. */
struct nl_msg *qdisc_put_message(const struct qdisc_place *place,
                                 const struct qdisc_settings *settings, bool is_new);
struct nl_msg *qdisc_delete_message(const struct qdisc_place *place, enum qdisc_kind kind);
struct nl_msg *qdisc_get_message(const struct qdisc_place *place);

/* What the kernel told; ns_per_tick is the unit of the kernel's scheduler. -EPROTO: it is not about
 * a queueing discipline. */
int qdisc_parse(const struct nlmsghdr *head, int64_t ns_per_tick, struct qdisc *out);

/* A probability as the kernel has it: 1 is 2^32. */
uint32_t qdisc_probability(double ratio);

#endif
