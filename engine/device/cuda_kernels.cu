/* cuda_kernels.cu - runs work on a GPU; the bodies are those of the host (work_run.h). */
#include <cuda_runtime.h>

#include "engine/device/cuda_kernels.h"
#include "engine/model/work_run.h"

enum { THREADS_PER_BLOCK = 128 };

static __global__ void run(const struct work work)
{
	const size_t item = (size_t)blockIdx.x * THREADS_PER_BLOCK + threadIdx.x;

	if (item < work.n_items)
		work_run(&work, item, 1);
}

cudaError_t cuda_kernels_run(const struct work *work, cudaStream_t stream)
{
	const size_t n_blocks = (work->n_items + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK;

	if (n_blocks == 0)
		return cudaSuccess;
	run<<<(unsigned int)n_blocks, THREADS_PER_BLOCK, 0, stream>>>(*work);
	return cudaGetLastError();
}

cudaError_t cuda_kernels_check(void)
{
	struct cudaFuncAttributes attributes;

	return cudaFuncGetAttributes(&attributes, run);
}
