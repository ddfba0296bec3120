/* backend_internal.h - what backend.c has other files choose for it. */
#ifndef ENGINE_CLI_BACKEND_INTERNAL_H
#define ENGINE_CLI_BACKEND_INTERNAL_H

#include "engine/cli/backend.h"

/* backend_transport.c: the transport, and of RDMA the RNICs. -EINVAL: not for this scenario;
 * -ENOENT: there is none of that name; -ENOTSUP: not in this build, or not on this machine. */
int backend_choose_transport(const struct options *options, const struct scenario *scenario,
                             struct backend *out, struct err *err);

#endif
