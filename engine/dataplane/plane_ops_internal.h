/* plane_ops_internal.h - what tells the data planes apart: a table of each. */
#ifndef ENGINE_DATAPLANE_PLANE_OPS_INTERNAL_H
#define ENGINE_DATAPLANE_PLANE_OPS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/schedule/plan.h"

struct dataplane;
struct device_stream;
struct sending;

struct plane_ops {
	const char *name;
	bool holds_stream; /* the device's queue stands still until a message is done */

	/* stream has produced the output: issue what sends it. */
	int (*issue)(struct dataplane *plane, struct device_stream *stream, struct sending *sending,
	             struct err *err);

	/* Its producer has ended. */
	int (*request)(struct dataplane *plane, struct sending *sending, struct err *err);

	/* The transport took it. */
	int (*sent)(struct dataplane *plane, struct sending *sending, struct err *err);

	/* One of the peer's messages has come. */
	int (*came)(struct dataplane *plane, int peer, enum op_kind kind, int microbatch,
	            struct err *err);

	/* The rail in use to a peer is gone, and nobody said that it will be back. */
	int (*lost)(struct dataplane *plane, int peer, struct err *err);

	/* Start whatever may start now; *next_ns_out: when there will be more. */
	int (*pump)(struct dataplane *plane, int64_t now_ns, int64_t *next_ns_out, struct err *err);
};

extern const struct plane_ops stream_plane_ops;
extern const struct plane_ops exchange_plane_ops;
extern const struct plane_ops delegate_plane_ops;

#endif
