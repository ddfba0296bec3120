/* cuda.c - an NVIDIA GPU behind device.h: opening, closing, memory, streams, events.
 *
 * One context is shared by all devices that a process opens on a GPU. Streams do not synchronise
 * with the default stream, on which nothing is issued but what clears new memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/device/checks_internal.h"
#include "engine/device/cuda_kernels.h"
#include "engine/device/cuda_ops_internal.h"
#include "engine/device/kinds_internal.h"

/* The driver has one queue for every stream up to this many. */
static const char connections_variable[] = "CUDA_DEVICE_MAX_CONNECTIONS";

/* Of the process on one of n_gpus; 0: not known. */
static int streams_of_gpu(const struct device_config *config, int n_gpus)
{
	int n_sharing = config->n_devices > 1 ? (config->n_devices + n_gpus - 1) / n_gpus : 1;

	return config->n_streams > 0 ? 1 + n_sharing * config->n_streams : 0;
}

/* Read when the context is made, before which nobody knows how many GPUs there are. */
static void set_connections(const struct device_config *config)
{
	int n = streams_of_gpu(config, 1);
	char text[16];

	if (n == 0 || n > DEVICE_STREAMS_APART)
		n = DEVICE_STREAMS_APART;
	snprintf(text, sizeof(text), "%d", n);
	(void)setenv(connections_variable, text, 0);
}

/* Streams of one queue wait for each other: one that holds would keep back the copy that it waits
 * for. */
static int check_connections(const struct device_config *config, int n_gpus, struct err *err)
{
	int n = streams_of_gpu(config, n_gpus);

	if (n > DEVICE_STREAMS_APART)
		return err_set(err, -EINVAL,
		               "the stages of one worker want %d streams of a GPU, and its driver "
		               "keeps %d apart; use more hosts, so that a worker has fewer stages",
		               n, DEVICE_STREAMS_APART);
	if (atoi(getenv(connections_variable)) >= n)
		return 0;
	return err_set(err, -EINVAL,
	               "%s is %.16s, and a worker has %d streams of a GPU that must not wait for "
	               "each other; unset it",
	               connections_variable, getenv(connections_variable), n);
}

static int find_wait_value(struct cuda *cuda, struct err *err)
{
	enum cudaDriverEntryPointQueryResult found;
	void *entry = NULL;
	cudaError_t status;

#if CUDART_VERSION >= 12050
	status = cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &entry, 12000,
	                                          cudaEnableDefault, &found);
#else
	status = cudaGetDriverEntryPoint("cuStreamWaitValue32", &entry, cudaEnableDefault, &found);
#endif
	if (status != cudaSuccess || found != cudaDriverEntryPointSuccess || !entry)
		return err_set(err, -ENODEV,
		               "the NVIDIA driver has no cuStreamWaitValue32; update it");
	memcpy(&cuda->wait_value, &entry, sizeof(entry));
	return 0;
}

static int check_architecture(const struct cudaDeviceProp *properties, struct err *err)
{
	cudaError_t status = cuda_kernels_check();

	if (status != cudaErrorNoKernelImageForDevice)
		return cuda_check_driver(status, err);
	(void)cudaGetLastError();
	return err_set(err, -ENODEV,
	               "this program has no code for the GPU %.80s of compute capability %d.%d; "
	               "build it there with make NVCC_TARGETS=-arch=native",
	               properties->name, properties->major, properties->minor);
}

static int describe(struct cuda *cuda, int n_gpus, struct err *err)
{
	struct device_about *about = &cuda->base.about;
	struct cudaDeviceProp properties;
	size_t free_bytes = 0, all_bytes = 0;
	int driver = 0;
	int rc = cuda_check_driver(cudaGetDeviceProperties(&properties, cuda->gpu), err);

	rc = rc ? rc : cuda_check_driver(cudaDriverGetVersion(&driver), err);
	if (rc)
		return rc;
	rc = check_architecture(&properties, err);
	rc = rc ? rc : cuda_check_driver(cudaMemGetInfo(&free_bytes, &all_bytes), err);
	if (rc)
		return rc;
	about->n_units = n_gpus;
	about->memory_bytes = (int64_t)free_bytes;
	snprintf(about->text, sizeof(about->text),
	         "%.80s, compute capability %d.%d, %.1f GiB, driver for CUDA %d.%d, "
	         "CUDA_DEVICE_MAX_CONNECTIONS=%.8s",
	         properties.name, properties.major, properties.minor,
	         (double)properties.totalGlobalMem / (1 << 30), driver / 1000, driver % 1000 / 10,
	         getenv(connections_variable));
	return 0;
}

/* The GPU of this unit becomes the one that this thread's calls are for. */
static int choose_gpu(struct cuda *cuda, struct err *err)
{
	int n_gpus = 0;
	int rc = cuda_check_driver(cudaGetDeviceCount(&n_gpus), err);

	if (rc)
		return rc;
	if (n_gpus == 0)
		return cuda_check_driver(cudaErrorNoDevice, err);
	cuda->gpu = cuda->config.unit % n_gpus;
	rc = check_connections(&cuda->config, n_gpus, err);
	rc = rc ? rc : cuda_check_driver(cudaSetDevice(cuda->gpu), err);
	rc = rc ? rc : describe(cuda, n_gpus, err);
	rc = rc ? rc : find_wait_value(cuda, err);
	return rc ? rc : cuda_blas_find(&cuda->blas, err);
}

int cuda_open(const struct cuda_kind *kind, const struct device_config *config, struct device **out,
              struct err *err)
{
	struct cuda *cuda;
	int rc = device_check_config(config, err);

	if (rc)
		return rc;
	set_connections(config);
	cuda = array_new(1, sizeof(*cuda));
	if (!cuda)
		return err_set(err, -ENOMEM, "out of memory for a device");
	cuda->base = (struct device){.ops = kind->ops,
	                             .timer = kind->timer,
	                             .runs_kernels = true,
	                             .has_own_memory = true,
	                             .issued_as_of = DEVICE_AS_OF_CALL};
	cuda->kind = kind;
	cuda->config = *config;
	cuda->clock.host_ns = INT64_MIN;
	rc = choose_gpu(cuda, err);
	if (rc)
		free(cuda);
	else
		*out = &cuda->base;
	return rc;
}

/* What has not begun would begin now, so that host functions look at is_closing first. */
static void release_holds(struct cuda *cuda)
{
	__atomic_store_n(&cuda->is_closing, 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < cuda->n_queues; i++)
		for (size_t k = 0; k < cuda->queues[i]->n_holds; k++)
			device_flag_set((struct device_flag *)cuda->queues[i]->holds[k],
			                clock_monotonic_ns());
}

/* Nothing can be done about what fails here. */
static void close_streams(struct cuda *cuda)
{
	for (size_t i = 0; i < cuda->n_queues; i++)
		(void)cudaStreamSynchronize(cuda->queues[i]->stream);
	while (cuda->streams) {
		struct cuda_stream *stream = cuda->streams;

		cuda->streams = stream->next;
		cuda_arithmetic_fini(&stream->arithmetic);
		free(stream);
	}
	for (size_t i = 0; i < cuda->n_queues; i++) {
		(void)cudaStreamDestroy(cuda->queues[i]->stream);
		free(cuda->queues[i]->holds);
		free(cuda->queues[i]);
	}
	free(cuda->queues);
}

void cuda_close(struct device *device)
{
	struct cuda *cuda = (struct cuda *)device;

	(void)cudaSetDevice(cuda->gpu);
	release_holds(cuda);
	close_streams(cuda);
	while (cuda->events) {
		struct cuda_event *event = cuda->events;

		cuda->events = event->next;
		(void)cudaEventDestroy(event->event);
		free(event);
	}
	cuda_clock_close(&cuda->clock);
	for (int is_host = 0; is_host < 2; is_host++)
		while (cuda->blocks[is_host])
			(void)cuda_memory(device, cuda->blocks[is_host]->memory, 0, is_host != 0);
	free(cuda);
}

static void *take_memory(size_t n_bytes, bool is_host)
{
	size_t n = n_bytes ? n_bytes : 1;
	void *memory = NULL;

	if (is_host) {
		if (cudaHostAlloc(&memory, n, cudaHostAllocPortable) != cudaSuccess)
			return NULL;
		return memset(memory, 0, n);
	}
	if (cudaMalloc(&memory, n) != cudaSuccess)
		return NULL;
	if (cudaMemsetAsync(memory, 0, n, NULL) == cudaSuccess &&
	    cudaStreamSynchronize(NULL) == cudaSuccess)
		return memory;
	(void)cudaFree(memory);
	return NULL;
}

static void give_back(void *memory, bool is_host)
{
	(void)(is_host ? cudaFreeHost(memory) : cudaFree(memory));
}

static void *new_memory(struct cuda *cuda, size_t n_bytes, bool is_host)
{
	struct cuda_block *block = malloc(sizeof(*block));

	if (!block)
		return NULL;
	(void)cudaSetDevice(cuda->gpu);
	block->memory = take_memory(n_bytes, is_host);
	if (!block->memory) {
		(void)cudaGetLastError();
		free(block);
		return NULL;
	}
	block->next = cuda->blocks[is_host];
	cuda->blocks[is_host] = block;
	return block->memory;
}

void *cuda_memory(struct device *device, void *memory, size_t n_bytes, bool is_host)
{
	struct cuda *cuda = (struct cuda *)device;
	struct cuda_block **at = &cuda->blocks[is_host];
	struct cuda_block *block;

	if (!memory)
		return new_memory(cuda, n_bytes, is_host);
	while ((block = *at) && block->memory != memory)
		at = &block->next;
	if (!block)
		return NULL;
	*at = block->next;
	give_back(block->memory, is_host);
	free(block);
	return NULL;
}

static int open_queue(struct cuda *cuda, struct cuda_queue *queue, struct err *err)
{
	int rc = cuda_check(cuda, cudaSetDevice(cuda->gpu), "be chosen", err);

	rc = rc ? rc
	        : cuda_check(cuda, cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking),
	                     "make a stream", err);
	if (rc == 0 && cuda->clock.host_ns == INT64_MIN)
		rc = cuda_clock_set(cuda, queue->stream, err);
	return rc;
}

static int new_queue(struct cuda *cuda, struct cuda_queue **out, struct err *err)
{
	struct cuda_queue **queues = array_grow(cuda->queues, &cuda->queues_capacity,
	                                        cuda->n_queues + 1, sizeof(struct cuda_queue *));
	struct cuda_queue *queue;
	int rc;

	if (!queues)
		return err_set(err, -ENOMEM, "out of memory for a stream");
	cuda->queues = queues;
	queue = array_new(1, sizeof(*queue));
	if (!queue)
		return err_set(err, -ENOMEM, "out of memory for a stream");
	queue->reached_ns = INT64_MIN;
	rc = open_queue(cuda, queue, err);
	if (rc) {
		if (queue->stream)
			(void)cudaStreamDestroy(queue->stream);
		free(queue);
		return rc;
	}
	cuda->queues[cuda->n_queues++] = queue;
	*out = queue;
	return 0;
}

static int queue_of_next_stream(struct cuda *cuda, struct cuda_queue **out, struct err *err)
{
	size_t n_shared = (size_t)cuda->config.n_issue_queues;

	if (n_shared == 0 || cuda->n_streams < n_shared)
		return new_queue(cuda, out, err);
	*out = cuda->queues[cuda->n_streams % n_shared];
	return 0;
}

int cuda_stream_new(struct device *device, struct device_stream **out, struct err *err)
{
	struct cuda *cuda = (struct cuda *)device;
	struct cuda_stream *stream = array_new(1, sizeof(*stream));
	int rc;

	if (!stream)
		return err_set(err, -ENOMEM, "out of memory for a stream");
	rc = queue_of_next_stream(cuda, &stream->queue, err);
	if (rc) {
		free(stream);
		return rc;
	}
	cuda_arithmetic_init(&stream->arithmetic, cuda, stream->queue);
	stream->base = (struct device_stream){device, &stream->arithmetic.base};
	stream->next = cuda->streams;
	cuda->streams = stream;
	cuda->n_streams++;
	*out = &stream->base;
	return 0;
}

int cuda_event_new(struct device *device, struct device_event **out, struct err *err)
{
	struct cuda *cuda = (struct cuda *)device;
	struct cuda_event *event = array_new(1, sizeof(*event));
	int rc;

	if (!event)
		return err_set(err, -ENOMEM, "out of memory for an event");
	(void)cudaSetDevice(cuda->gpu);
	rc = cuda_check(cuda, cudaEventCreateWithFlags(&event->event, cudaEventBlockingSync),
	                "make an event", err);
	if (rc) {
		free(event);
		return rc;
	}
	event->base.device = device;
	event->next = cuda->events;
	cuda->events = event;
	*out = &event->base;
	return 0;
}

static const struct cuda_kind kind = {
	.ops = &cuda_ops, .timer = "cuda_event", .holds_durations = false};

static int open_unpaced(const struct device_config *config, struct device **out, struct err *err)
{
	return cuda_open(&kind, config, out, err);
}

const struct device_ops cuda_ops = {
	.name = "cuda",
	.open = open_unpaced,
	.close = cuda_close,
	.memory = cuda_memory,
	.stream_new = cuda_stream_new,
	.event_new = cuda_event_new,
	.launch = cuda_launch,
	.copy = cuda_copy,
	.call = cuda_call,
	.hold = cuda_hold,
	.record = cuda_record,
	.wait = cuda_wait,
	.query = cuda_query,
	.progress = cuda_progress,
};
