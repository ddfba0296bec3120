/* tap.h - interfaces whose packets a process takes, and packets that a process sends.
 *
 * Both are file descriptors of one namespace, the caller's to close; a packet is a whole Ethernet
 * frame, one read() or one write(). */
#ifndef INJECTORS_TAP_H
#define INJECTORS_TAP_H

#include "engine/base/err.h"

/* Make an interface of that name: what is sent over it can be read from *fd_out. It is down, and
 * goes when the descriptor and its copies are closed. -ENOENT: no /dev/net/tun here; -EBUSY: the
 * name is taken; -EPERM: not allowed. */
int tap_open(int namespace_fd, const char *name, int *fd_out, struct err *err);

/* What is written to *fd_out leaves the interface at once, past all its queueing disciplines. */
int tap_open_sender(int namespace_fd, int interface_index, int *fd_out, struct err *err);

#endif
