/* cuda_stream.h - what is below the CUDA devices, for libraries that put work on a GPU themselves.
 */
#ifndef ENGINE_DEVICE_CUDA_STREAM_H
#define ENGINE_DEVICE_CUDA_STREAM_H

#include <cuda_runtime_api.h>

#include "engine/device/device.h"

/* Whether it is one of them; what follows is only for those. */
bool cuda_stream_is_below(const struct device *device);

/* Make the device's GPU the one that this thread's calls are for. */
int cuda_stream_choose(struct device *device, struct err *err);

/* The number of that GPU. */
int cuda_stream_gpu(const struct device *device);

/* The stream to put something on at once, with the GPU chosen. The device counts it as issued to
 * it, of no known duration, like a copy: it ends when it really ends. Fails once the device is in
 * error. */
int cuda_stream_issue(struct device_stream *stream, cudaStream_t *out, struct err *err);

/* 0, or the device is in error from now on: what the GPU cannot, and CUDA's reason. */
int cuda_stream_check(struct device *device, cudaError_t status, const char *cannot,
                      struct err *err);

#endif
