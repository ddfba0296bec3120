/* cuda_ops_internal.h - the members of device_ops that the CUDA devices share. */
#ifndef ENGINE_DEVICE_CUDA_OPS_INTERNAL_H
#define ENGINE_DEVICE_CUDA_OPS_INTERNAL_H

#include "engine/device/cuda_internal.h"

/* cuda.c: opening, closing, memory, streams, events. */
int cuda_open(const struct cuda_kind *kind, const struct device_config *config, struct device **out,
              struct err *err);
void cuda_close(struct device *device);
void *cuda_memory(struct device *device, void *memory, size_t n_bytes, bool is_host);
int cuda_stream_new(struct device *device, struct device_stream **out, struct err *err);
int cuda_event_new(struct device *device, struct device_event **out, struct err *err);

/* cuda_issue.c: the queue that is issued to next, unless the device is in error. */
int cuda_begin_issue(const struct device_stream *stream, struct cuda_queue **out, struct err *err);

/* cuda_issue.c: issuing, and asking what has ended. */
int cuda_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                struct device_duration duration, struct err *err);
int cuda_copy(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
              struct err *err);
int cuda_call(struct device_stream *stream, device_callback *callback, void *argument,
              struct err *err);
int cuda_hold(struct device_stream *stream, const struct device_flag *flag, struct err *err);
int cuda_record(struct device_event *event, struct device_stream *stream, struct err *err);
int cuda_wait(struct device_stream *stream, struct device_event *event, struct err *err);
int cuda_query(struct device_event *event, int64_t *scheduled_ns_out, int64_t *real_ns_out,
               struct err *err);
int cuda_progress(struct device *device, bool may_compute, struct device_state *out,
                  struct err *err);

#endif
