/* stream_plane.h - what carries the stream plane's tensors in live runs, and who holds messages. */
#ifndef ENGINE_CLI_STREAM_PLANE_H
#define ENGINE_CLI_STREAM_PLANE_H

#include "engine/cli/backend.h"

/* Is it a name of an exchange, not of a transport? */
bool stream_plane_is_exchange(const char *transport);

/* Try the device, and choose between an exchange, where there is one, and the transport; how, and
 * why, is in backend->stream_text, where the device is a GPU. The injector is chosen then, too:
 * what exchanges carry is held in its stream. Everything else of backend has been chosen.
 * -ENOTSUP, -ENODEV: an exchange was named that cannot be used here, or injector stream, which
 * cannot do what the scenario asks. */
int stream_plane_choose(const struct options *options, const struct scenario *scenario,
                        struct backend *backend, struct err *err);

#endif
