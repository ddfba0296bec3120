/* lab.h - hosts of their own on one machine: network namespaces, joined by virtual wires.
 *
 * Every host is a namespace with its loopback interface and one interface a rail, "rail0", "rail1",
 * …, with address 10.RAIL.x.y. The other end of each wire is a port of the rail's bridge, in one
 * more namespace, so the machine's own interfaces are neither used nor seen. A packet of the wire
 * is a packet of every queue on its way, and TCP does not begin anew after a pause.
 *
 * Nothing of it has a name outside of the process: the namespaces live as long as this process
 * or one that entered them, so nothing stays when all are killed. The journal has everything all
 * the same, for an orphan may be left that keeps a namespace alive. */
#ifndef INJECTORS_LAB_H
#define INJECTORS_LAB_H

#include <stdint.h>

#include "injectors/journal.h"

enum { LAB_HOSTS_MAX = 1000, LAB_RAILS_MAX = 16, LAB_ADDRESS_BYTES = 16 };

struct lab_config {
	int n_hosts; /* those of every replica; the caller numbers them */
	int n_rails;
	int mtu_bytes; /* 576 to 65535 */
};

struct lab;

/* Blocks until all wires carry. journal stays the caller's and has to stay open until lab_close();
 * after an error nothing is left. -EPERM: namespaces are not allowed to this user here; -EINVAL:
 * more hosts or rails than there can be, or no such MTU; -EINTR: the user interrupted. */
int lab_open(const struct lab_config *config, struct journal *journal, struct lab **out,
             struct err *err);

/* For workers, between fork() and their first socket: move the calling process, which should have
 * one thread, into the namespace of host for good. The lab is freed in this process, also on
 * failure, so that it holds no other namespace; nothing is undone. */
int lab_enter(struct lab *lab, int host, struct err *err);

/* For changes in the namespace of host; the lab's. */
struct netlink *lab_netlink(const struct lab *lab, int host);
const struct namespace_id *lab_namespace(const struct lab *lab, int host);
int lab_namespace_fd(const struct lab *lab, int host);
const struct lab_config *lab_config(const struct lab *lab);

/* The rail of host was down and is up again: connections over it begin as before. */
int lab_restore_rail(const struct lab *lab, int host, int rail, struct err *err);

/* In host byte order, and as text: out holds LAB_ADDRESS_BYTES. */
uint32_t lab_address(int host, int rail);
char *lab_address_text(int host, int rail, char *out);

/* out holds INTERFACE_NAME_BYTES. */
char *lab_rail_name(int rail, char *out);

/* Remove all of it, whoever is still inside, and undo whatever else is pending in the journal. What
 * could not be undone stays in the journal, and the first such thing is the error; the lab is freed
 * all the same. NULL is nothing. */
int lab_close(struct lab *lab, struct err *err);

#endif
