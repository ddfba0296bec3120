/* egress.h - what leaves interfaces, each destination in a queueing discipline of its own.
 *
 * A host of a lab has one interface a rail, over which it talks with all others, while a fault is
 * of one direction between two of them. So the packets of an interface are sorted by destination;
 * those of a destination without a fault pass untouched. All of a run's injectors share one egress,
 * and what one of them uses is refused to the others. It belongs to one thread, and what its ports
 * are made of has to outlive it. */
#ifndef INJECTORS_EGRESS_H
#define INJECTORS_EGRESS_H

#include <stdbool.h>

#include "injectors/journal.h"

/* Where packets leave: an interface in a namespace, and whom they are for. */
struct egress_port {
	struct netlink *netlink; /* of that namespace; stays the owner's */
	struct namespace_id where;
	int namespace_fd; /* that namespace, or NAMESPACE_OWN; stays the owner's */
	char interface[INTERFACE_NAME_BYTES];
	uint32_t destination; /* an address in host byte order; 0: all that leaves */
	int mtu_bytes;        /* of the interface */
	bool is_allowed;      /* the run made it, or the user named it */
};

/* The port's interface as it is now. -EPERM: it is not allowed; -ENODEV: it is gone. */
int egress_find_interface(const struct egress_port *port, struct interface *out, struct err *err);

struct egress;

/* journal stays the caller's and open until egress_close(). */
int egress_open(struct journal *journal, struct egress **out, struct err *err);

/* Send the port's packets from now on through this, in place of what owner has there already;
 * packets under way stay in it. owner: whoever may change it later. -EBUSY: another owner's is
 * there, or one of another kind was and packets still wait in it; -EEXIST: a queueing discipline
 * that is not of this run; -EPERM: it is not allowed; -ENOTSUP: not in this kernel. */
int egress_put(struct egress *egress, const void *owner, const struct egress_port *port,
               const struct qdisc_settings *settings, struct err *err);

/* Lead the port's packets to another interface of the same namespace from now on, in place of what
 * owner has there; index 0: let them pass untouched, which is what has to be done before that
 * interface goes. -EINVAL: a port for all that leaves; else as egress_put(). */
int egress_redirect(struct egress *egress, const void *owner, const struct egress_port *port,
                    int interface_index, struct err *err);

/* Packets from now on pass as fast as the interface takes them, behind those that still wait: none
 * is dropped or overtaken. Those that are led elsewhere still are. The port is free for other
 * owners then. Success when owner has nothing there, or it is gone. */
int egress_release(struct egress *egress, const void *owner, const struct egress_port *port,
                   struct err *err);

/* Of the port, or if it is NULL of all ports, where owner put something, released ones included,
 * since then. What is led elsewhere is not counted here. */
struct egress_counts {
	int64_t sent_packets;
	int64_t dropped_packets; /* losses that were asked for included */
	int64_t waiting_packets;
};
int egress_count(struct egress *egress, const void *owner, const struct egress_port *port,
                 struct egress_counts *out, struct err *err);

/* Remove everything, packets that wait too. NULL is nothing. The first error is returned, what it
 * was about stays in the journal. */
int egress_close(struct egress *egress, struct err *err);

#endif
