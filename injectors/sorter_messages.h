/* sorter_messages.h - the netlink messages of a sorter: its classes, and the filters that send
 * packets into them by their destination. NULL: out of memory; what is returned is the caller's,
 * netlink_request() frees it. */
#ifndef INJECTORS_SORTER_MESSAGES_H
#define INJECTORS_SORTER_MESSAGES_H

#include "injectors/qdisc.h"

/* number is from 1 to 65535, of both: the class, and the filter in front of it. sorter is where the
 * QDISC_SORTER stands. */
struct nl_msg *sorter_class_message(const struct qdisc_place *sorter, int number);
struct nl_msg *sorter_filter_message(const struct qdisc_place *sorter, int number,
                                     uint32_t destination);

/* A filter that takes packets away to another interface of the namespace instead. */
struct nl_msg *sorter_redirect_message(const struct qdisc_place *sorter, int number,
                                       uint32_t destination, int interface_index);
struct nl_msg *sorter_unfilter_message(const struct qdisc_place *sorter, int number);

/* The class as the parent of another queueing discipline. */
uint32_t sorter_class(const struct qdisc_place *sorter, int number);

#endif
