/* cuda_status.c - turns what CUDA returns into sentences, and keeps the first as the device's. */
#include <errno.h>

#include "engine/device/cuda_internal.h"

int cuda_report(const struct cuda *cuda, struct err *err)
{
	if (!cuda->error.code)
		return 0;
	return err_set(err, cuda->error.code, "%s", cuda->error.text);
}

static int code_of(cudaError_t status)
{
	return status == cudaErrorMemoryAllocation ? -ENOMEM : -EIO;
}

int cuda_check(struct cuda *cuda, cudaError_t status, const char *cannot, struct err *err)
{
	if (status == cudaSuccess)
		return 0;
	if (!cuda->error.code)
		(void)err_set(&cuda->error, code_of(status), "the GPU cannot %s: %s (%s)", cannot,
		              cudaGetErrorString(status), cudaGetErrorName(status));
	/* Else the next call that succeeds could be taken for one that failed. */
	(void)cudaGetLastError();
	return cuda_report(cuda, err);
}

int cuda_check_driver(cudaError_t status, struct err *err)
{
	if (status == cudaSuccess)
		return 0;
	(void)cudaGetLastError();
	if (status == cudaErrorInsufficientDriver)
		return err_set(err, -ENODEV,
		               "there is no NVIDIA driver here, or one older than CUDA %d.%d; use "
		               "another device",
		               CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
	return err_set(err, -ENODEV, "no GPU can be used: %s (%s)", cudaGetErrorString(status),
	               cudaGetErrorName(status));
}
