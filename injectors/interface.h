/* interface.h - network interfaces: looked up, made, changed and removed, over netlink.
 *
 * All of it happens in the namespace that the netlink connection was opened in, and blocks until
 * the kernel has answered. Errors are the kernel's, err has its sentence. */
#ifndef INJECTORS_INTERFACE_H
#define INJECTORS_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injectors/netlink.h"

enum { INTERFACE_NAME_BYTES = 16 };

struct interface {
	int index; /* above 0; unique in its namespace */
	char name[INTERFACE_NAME_BYTES];
	char kind[INTERFACE_NAME_BYTES]; /* "veth", "bridge", …; "" for hardware and loopback */
	bool is_up;                      /* as somebody asked */
	bool has_carrier;                /* the other end is there and up as well */
	int mtu_bytes;
	int bridge_index;        /* the bridge it is a port of; 0: none */
	int lower_index;         /* what it is on top of, or its peer, in this namespace; 0: none */
	int64_t dropped_packets; /* that it could not take, on sending */
};

/* Two interfaces joined by a virtual wire: what leaves one arrives at the other. Both are down. */
struct interface_pair {
	const char *name;
	const char *peer_name;
	int peer_namespace_fd; /* where the peer goes */
	int bridge_index;      /* what name becomes a port of; 0: nothing */
	int mtu_bytes;         /* of both */
};

/* -ENODEV: there is none of that name. */
int interface_find(struct netlink *netlink, const char *name, struct interface *out,
                   struct err *err);

/* *out is the caller's to free; ordered by index. */
int interface_list(struct netlink *netlink, struct interface **out, size_t *n_out, struct err *err);

/* -EEXIST: the name is taken, nothing was made. */
int interface_add_pair(struct netlink *netlink, const struct interface_pair *pair, struct err *err);
int interface_add_bridge(struct netlink *netlink, const char *name, struct err *err);

/* Success also when it is so already. */
int interface_set_up(struct netlink *netlink, int index, bool is_up, struct err *err);
int interface_set_mtu(struct netlink *netlink, int index, int mtu_bytes, struct err *err);

/* How many packets wait for whoever takes them from the interface. */
int interface_set_queue(struct netlink *netlink, int index, int n_packets, struct err *err);

/* address is in host byte order; it and the route to its network come and go with "up".
 * -EEXIST: it has that address already. */
int interface_add_address(struct netlink *netlink, int index, uint32_t address, int prefix_bits,
                          struct err *err);

/* Connections over the route to the network of an address that the interface has begin with a
 * window of so many packets, in place of one that opens by and by. The route is another one once
 * the interface was down. */
int interface_set_window(struct netlink *netlink, int index, uint32_t address, int prefix_bits,
                         uint32_t n_packets, struct err *err);

/* Whose an IPv4 address is, is asked again every interval_ms until there is an answer, n_times at
 * most; by itself the kernel asks three times, a second apart. */
int interface_set_questions(struct netlink *netlink, int index, int interval_ms, int n_times,
                            struct err *err);

/* One packet of the wire is one packet of every queue: nobody puts segments together, neither TCP
 * on sending nor the interface on receiving. */
int interface_set_whole_packets(struct netlink *netlink, const struct interface *interface,
                                struct err *err);

/* No address of its own for IPv6, and so none of the packets that come with one. Call it before the
 * interface is up; success where the kernel has no IPv6. */
int interface_set_quiet(struct netlink *netlink, int index, struct err *err);

/* The peer of a pair goes as well. -ENODEV: it is gone. */
int interface_delete(struct netlink *netlink, int index, struct err *err);

#endif
