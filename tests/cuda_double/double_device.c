/* double_device.c - the GPUs that there are, and the names of errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda_double/double_internal.h"

static _Thread_local int current_gpu;

static int n_gpus(void)
{
	const char *text = getenv("CUDA_DOUBLE_GPUS");

	return text ? atoi(text) : 1;
}

static int driver_version(void)
{
	const char *text = getenv("CUDA_DOUBLE_DRIVER");

	return text ? atoi(text) : CUDART_VERSION;
}

cudaError_t cudaGetDeviceCount(int *out)
{
	cudaError_t status = double_enter(__func__);

	if (status == cudaSuccess && driver_version() < CUDART_VERSION)
		status = cudaErrorInsufficientDriver;
	if (status != cudaSuccess)
		return status;
	*out = n_gpus();
	return *out > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int gpu)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	if (gpu < 0 || gpu >= n_gpus())
		return cudaErrorInvalidDevice;
	current_gpu = gpu;
	return cudaSuccess;
}

int double_gpu(void)
{
	return current_gpu;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int gpu)
{
	cudaError_t status = double_enter("cudaGetDeviceProperties");

	(void)gpu;
	if (status != cudaSuccess)
		return status;
	*out = (struct cudaDeviceProp){.major = 9, .totalGlobalMem = double_gpu_bytes()};
	snprintf(out->name, sizeof(out->name), "test double of a GPU");
	return cudaSuccess;
}

size_t double_gpu_bytes(void)
{
	const char *text = getenv("CUDA_DOUBLE_MEMORY");

	return text ? (size_t)strtoull(text, NULL, 10) : (size_t)1 << 34;
}

cudaError_t cudaDriverGetVersion(int *out)
{
	*out = driver_version();
	return double_enter(__func__);
}

cudaError_t cudaGetLastError(void)
{
	return double_enter(__func__);
}

const char *cudaGetErrorName(cudaError_t status)
{
	switch ((int)status) {
	case cudaErrorMemoryAllocation:
		return "cudaErrorMemoryAllocation";
	case cudaErrorInsufficientDriver:
		return "cudaErrorInsufficientDriver";
	case cudaErrorLaunchFailure:
		return "cudaErrorLaunchFailure";
	case cudaErrorNoDevice:
		return "cudaErrorNoDevice";
	case cudaErrorOperatingSystem:
		return "cudaErrorOperatingSystem";
	case cudaErrorDevicesUnavailable:
		return "cudaErrorDevicesUnavailable";
	}
	return "another error of CUDA";
}

const char *cudaGetErrorString(cudaError_t status)
{
	switch ((int)status) {
	case cudaErrorMemoryAllocation:
		return "out of memory";
	case cudaErrorInsufficientDriver:
		return "CUDA driver version is insufficient for CUDA runtime version";
	case cudaErrorLaunchFailure:
		return "unspecified launch failure";
	case cudaErrorNoDevice:
		return "no CUDA-capable device is detected";
	case cudaErrorOperatingSystem:
		return "OS call failed or operation not supported on this OS";
	case cudaErrorDevicesUnavailable:
		return "CUDA-capable device(s) is/are busy or unavailable";
	}
	return "unknown error";
}
