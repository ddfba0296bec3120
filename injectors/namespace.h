/* namespace.h - network namespaces: made, entered and found again.
 *
 * A namespace made here has no name in the file system. It lives as long as somebody holds its file
 * descriptor or is in it, so what a killed process leaves behind goes with the last process of its
 * run; no mount can keep it, and nothing that a crash could leave is made. The caller's own
 * namespace never changes, except by namespace_enter(): whatever has to be done inside another one
 * is done by a child process that hands its file descriptors back. */
#ifndef INJECTORS_NAMESPACE_H
#define INJECTORS_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"

enum { NAMESPACE_OWN = -1 }; /* in place of a file descriptor: the caller's */

/* Names one namespace until the machine restarts. The kernel uses an inode again once a namespace
 * is gone, a cookie never. */
struct namespace_id {
	uint64_t inode;
	uint64_t cookie;
};

bool namespace_is_same(const struct namespace_id *a, const struct namespace_id *b);

/* Make n namespaces, each with a loopback interface that is down; fds_out are the caller's to
 * close, closed on exec. Without the right to, a user namespace of the caller's own is made around
 * them. -EPERM: neither is allowed here, err says what would help. */
int namespace_make(int n, int *fds_out, struct err *err);

/* Get a file descriptor from inside the namespace fd, or NAMESPACE_OWN: fetch is called there, in a
 * child process or right here, makes system calls only, and returns one or -errno, which is
 * returned without a sentence. *fd_out is the caller's to close. */
int namespace_fetch(int fd, int (*fetch)(void *context), void *context, int *fd_out);

/* A bound netlink socket of that protocol inside the namespace fd; the caller's to close, closed on
 * exec. -EPERM: the namespace belongs to somebody else. */
int namespace_socket(int fd, int protocol, int *socket_out, struct err *err);

/* Write text into a file below /proc/sys/net as it is inside the namespace fd. -ENOENT: this kernel
 * does not have it there. */
int namespace_set(int fd, const char *path, const char *text, struct err *err);

/* Move the calling thread into fd; when the namespace belongs to a user namespace that the caller
 * is not in, the process has to have one thread only and moves into that as well. */
int namespace_enter(int fd, struct err *err);

/* -ENOTSUP: kernels before 5.14 do not tell namespaces apart. */
int namespace_identify(int fd, struct namespace_id *out, struct err *err);

/* Look through the caller's namespace and those that other processes are in or hold; *fd_out is the
 * caller's to close. -ENOENT: it is gone, or only processes hold it that may not be looked at. */
int namespace_find(const struct namespace_id *id, int *fd_out, struct err *err);

#endif
