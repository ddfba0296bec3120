/* cuda_kernels.h - the one door to what nvcc compiles: any kind of work, put on a stream. */
#ifndef ENGINE_DEVICE_CUDA_KERNELS_H
#define ENGINE_DEVICE_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "engine/model/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A thread for each item; items are independent, so there are no atomics, and the bits do not
 * depend on how they are dealt. work is copied. */
cudaError_t cuda_kernels_run(const struct work *work, cudaStream_t stream);

/* Has the current GPU machine code of them? cudaErrorNoKernelImageForDevice: none was built for its
 * architecture. */
cudaError_t cuda_kernels_check(void);

#ifdef __cplusplus
}
#endif

#endif
