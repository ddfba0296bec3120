/* backend_internal.h - what backend.c (running) and backend_choice.c and backend_transport.c
 * (choosing) share. */
#ifndef ENGINE_CLI_BACKEND_INTERNAL_H
#define ENGINE_CLI_BACKEND_INTERNAL_H

#include "engine/cli/backend.h"

/* backend_transport.c: the transport, and of RDMA the RNICs. -EINVAL: not for this scenario;
 * -ENOENT: there is none of that name; -ENOTSUP: not in this build, or not on this machine. */
int backend_choose_transport(const struct options *options, const struct scenario *scenario,
                             struct backend *out, struct err *err);

/* backend.c: make the lab, and undo it; what was done only on paper is in backend->timeline. */
int backend_open_site(struct backend *backend, const struct scenario *scenario, struct err *err);
int backend_close_site(struct backend *backend, struct err *err);

#endif
