/* cuda_stream.c - hands out what is below the CUDA devices. */
#include "engine/device/cuda_stream.h"

#include "engine/device/cuda_ops_internal.h"
#include "engine/device/kinds_internal.h"

bool cuda_stream_is_below(const struct device *device)
{
	return device->ops == &cuda_ops || device->ops == &paced_cuda_ops;
}

int cuda_stream_choose(struct device *device, struct err *err)
{
	struct cuda *cuda = (struct cuda *)device;

	return cuda_check(cuda, cudaSetDevice(cuda->gpu), "be chosen", err);
}

int cuda_stream_gpu(const struct device *device)
{
	return ((const struct cuda *)device)->gpu;
}

int cuda_stream_issue(struct device_stream *stream, cudaStream_t *out, struct err *err)
{
	struct cuda_queue *queue;
	int rc = cuda_stream_choose(stream->device, err);

	rc = rc ? rc : cuda_begin_issue(stream, &queue, err);
	if (rc)
		return rc;
	queue->has_copied = true;
	*out = queue->stream;
	return 0;
}

int cuda_stream_check(struct device *device, cudaError_t status, const char *cannot,
                      struct err *err)
{
	return cuda_check((struct cuda *)device, status, cannot, err);
}
