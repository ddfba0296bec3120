/* device_calls.h - the one-line callers of device_ops; the end of device.h. */
#ifndef ENGINE_DEVICE_DEVICE_CALLS_H
#define ENGINE_DEVICE_DEVICE_CALLS_H

#include "engine/device/device.h"

static inline int device_stream_new(struct device *device, struct device_stream **out,
                                    struct err *err)
{
	return device->ops->stream_new(device, out, err);
}

static inline int device_event_new(struct device *device, struct device_event **out,
                                   struct err *err)
{
	return device->ops->event_new(device, out, err);
}

static inline int device_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                                int64_t duration_ns, struct err *err)
{
	const struct device_duration duration = {.ns = duration_ns};

	return stream->device->ops->launch(stream, kernel, argument, duration, err);
}

/* The same, but the duration is asked for when it starts. */
static inline int device_launch_asking(struct device_stream *stream, device_kernel *kernel,
                                       void *argument,
                                       int64_t (*ask)(void *argument, int64_t start_ns),
                                       struct err *err)
{
	const struct device_duration duration = {.ask = ask};

	return stream->device->ops->launch(stream, kernel, argument, duration, err);
}

static inline int device_copy(struct device_stream *stream, void *to, const void *from,
                              size_t n_bytes, struct err *err)
{
	return stream->device->ops->copy(stream, to, from, n_bytes, err);
}

static inline int device_call(struct device_stream *stream, device_callback *callback,
                              void *argument, struct err *err)
{
	return stream->device->ops->call(stream, callback, argument, err);
}

static inline int device_hold(struct device_stream *stream, const struct device_flag *flag,
                              struct err *err)
{
	return stream->device->ops->hold(stream, flag, err);
}

static inline int device_record(struct device_event *event, struct device_stream *stream,
                                struct err *err)
{
	return stream->device->ops->record(event, stream, err);
}

static inline int device_wait(struct device_stream *stream, struct device_event *event,
                              struct err *err)
{
	return stream->device->ops->wait(stream, event, err);
}

static inline int device_query(struct device_event *event, int64_t *scheduled_ns_out,
                               int64_t *real_ns_out, struct err *err)
{
	return event->device->ops->query(event, scheduled_ns_out, real_ns_out, err);
}

static inline int device_progress(struct device *device, bool may_compute, struct device_state *out,
                                  struct err *err)
{
	return device->ops->progress(device, may_compute, out, err);
}

/* Scheduled time between two recorded events: 1 and *elapsed_ns_out; 0: one has not ended. */
static inline int device_elapsed(struct device_event *from, struct device_event *to,
                                 int64_t *elapsed_ns_out, struct err *err)
{
	int64_t from_ns = 0, to_ns = 0;
	int rc = device_query(from, &from_ns, NULL, err);

	if (rc == 1)
		rc = device_query(to, &to_ns, NULL, err);
	if (rc == 1)
		*elapsed_ns_out = to_ns - from_ns;
	return rc;
}

#endif
