/* device_ops.h - what a kind of device can do; callers use device.h. */
#ifndef ENGINE_DEVICE_DEVICE_OPS_H
#define ENGINE_DEVICE_DEVICE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct device;
struct device_config;
struct device_event;
struct device_flag;
struct device_state;
struct device_stream;

/* A computation. A CPU device calls it in its turn, from device_progress(). A GPU calls it at once,
 * within device_launch(), for it to put its work on the stream, which argument has to tell. It
 * issues nothing else. Failing puts the device in error for good, as CUDA's errors do. */
typedef int device_kernel(void *argument, struct err *err);

/* How long a computation takes, by the profile. */
struct device_duration {
	int64_t ns;

	/* NULL: ns. Otherwise asked, once, when the scheduled start is known, with the kernel's
	 * argument: what slows the computation down may begin or end while it waits for its turn. A
	 * negative answer counts as 0. Called from device_progress(); on a GPU by a host function
	 * that stands in front of the kernel in stream order, so it issues nothing. */
	int64_t (*ask)(void *argument, int64_t start_ns);
};

/* A host function in stream order, called from device_progress(); on a GPU from a thread of the
 * driver, so what works everywhere neither issues work nor touches what another thread does. On a
 * CPU device it may issue work, which then counts as issued at the moment the stream had reached.
 * It may not call device_progress() (-EBUSY) or device_close(). */
typedef void device_callback(void *argument);

/* Every member is there in every backend. Whatever takes err returns the device's error once it
 * has one. Nothing blocks; the issuing members only queue. -ENOMEM from any of them. */
struct device_ops {
	const char *name;

	/* -EINVAL: a speed that is not positive, a negative number of issue queues. */
	int (*open)(const struct device_config *config, struct device **out, struct err *err);

	/* Waits for nothing: what has not begun never does. Frees the device's streams, events and
	 * memory. To get rid of holds it may set their flags. */
	void (*close)(struct device *device);

	/* The one allocator. memory NULL: n_bytes of zeroed memory, aligned to 64, that the device
	 * computes on, or, is_host, host memory that it copies from and to; NULL: out of memory.
	 * memory not NULL: it is freed, n_bytes is ignored, the result is NULL. */
	void *(*memory)(struct device *device, void *memory, size_t n_bytes, bool is_host);

	int (*stream_new)(struct device *device, struct device_stream **out, struct err *err);
	int (*event_new)(struct device *device, struct device_event **out, struct err *err);

	/* paced and null hold the stream for the duration divided by speed, others ignore it.
	 * -EINVAL: duration.ns is negative, or more than 36 years. */
	int (*launch)(struct device_stream *stream, device_kernel *kernel, void *argument,
	              struct device_duration duration, struct err *err);

	/* Either side may be memory of the device or host memory of its own. */
	int (*copy)(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
	            struct err *err);

	int (*call)(struct device_stream *stream, device_callback *callback, void *argument,
	            struct err *err);

	/* The stream stands still from here until the flag is set; what follows is not scheduled
	 * before flag->at_ns. flag lies in host memory of the device and stays as it is set until
	 * the stream has passed. */
	int (*hold)(struct device_stream *stream, const struct device_flag *flag, struct err *err);

	/* The event stands for all that was issued to the stream before; an earlier record is
	 * forgotten, but who waits for it goes on waiting for it. */
	int (*record)(struct device_event *event, struct device_stream *stream, struct err *err);

	/* The stream stands still until the latest record of the event, at the time of this call,
	 * has ended. An event that was never recorded is not waited for. */
	int (*wait)(struct device_stream *stream, struct device_event *event, struct err *err);

	/* 1: all that was issued before the latest record has ended (or there was none: both times
	 * are 0); 0: not yet; -errno: the device is in error. Outputs are set with 1, and may be
	 * NULL. scheduled: the device's own clock, which pacing keeps to; real: when its end was
	 * seen. They differ where durations are held. */
	int (*query)(struct device_event *event, int64_t *scheduled_ns_out, int64_t *real_ns_out,
	             struct err *err);

	/* Run what is due; at most one computation, and none unless may_compute. A copy of more
	 * than DEVICE_COPY_SMALL_BYTES is a computation here. Never sleeps. out is set on success
	 * only. */
	int (*progress)(struct device *device, bool may_compute, struct device_state *out,
	                struct err *err);
};

#endif
