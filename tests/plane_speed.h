/* plane_speed.h - how fast delegates copy between a device and the host, beside plain copies. */
#ifndef TESTS_PLANE_SPEED_H
#define TESTS_PLANE_SPEED_H

#include <stddef.h>

#include "engine/base/err.h"

/* Bytes per ns, which is GB/s; the best of some rounds that take turns. */
struct plane_speed {
	double to_host, plain_to_host;     /* until all messages are told of */
	double to_device, plain_to_device; /* from what has been received, until ops could begin */
};

/* Of tensors of n_bytes, a multiple of 8, as two stages of a worker of four would copy them. What
 * the transport itself does is left out. */
int plane_speed_measure(const char *device, size_t n_bytes, struct plane_speed *out,
                        struct err *err);

#endif
