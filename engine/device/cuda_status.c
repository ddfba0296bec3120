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

static int refuse_driver(struct err *err)
{
	int version = 0;

	if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0)
		return err_set(err, -ENODEV, "there is no NVIDIA driver here; use another device");
	return err_set(err, -ENODEV,
	               "the NVIDIA driver is for CUDA %d.%d and this program for %d.%d; update the "
	               "driver, or build with an older CUDA toolkit",
	               version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
	               CUDART_VERSION % 1000 / 10);
}

/* What may be the reason, and what helps. */
static const char *advice(cudaError_t status)
{
	static const struct {
		cudaError_t status;
		const char *text;
	} known[] = {
		{cudaErrorNoDevice, "CUDA_VISIBLE_DEVICES may hide it, or this user may not open "
	                            "/dev/nvidia*"},
		{cudaErrorOperatingSystem, "this user or container may not open /dev/nvidia*"},
		{cudaErrorNotPermitted, "this user or container may not open /dev/nvidia*"},
		{cudaErrorDevicesUnavailable, "another process has it alone: workers share it in "
	                                      "compute mode DEFAULT, nvidia-smi -c DEFAULT"},
		{cudaErrorSystemDriverMismatch, "the driver was updated while it was running: "
	                                        "load it again, or restart the machine"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == status)
			return known[i].text;
	return "use another device";
}

int cuda_check_driver(cudaError_t status, struct err *err)
{
	if (status == cudaSuccess)
		return 0;
	(void)cudaGetLastError();
	if (status == cudaErrorInsufficientDriver)
		return refuse_driver(err);
	return err_set(err, -ENODEV, "no GPU can be used: %s (%s); %s", cudaGetErrorString(status),
	               cudaGetErrorName(status), advice(status));
}
