/* double_stream.c - streams: a thread each, which runs what is issued in its order. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda_double/double_internal.h"

enum { LOOK_AGAIN_US = 20 };

static struct CUstream_st *all_streams;
static struct CUstream_st *default_stream;

/* Its item stays the first until it has run, so that an empty stream is an idle one. */
static void *run_stream(void *argument)
{
	struct CUstream_st *stream = argument;
	struct double_item *item;

	double_lock();
	for (;;) {
		while (!stream->first && !stream->is_destroyed)
			double_await(&stream->has_work);
		item = stream->first;
		if (!item)
			break;
		double_unlock();
		item->run(item->payload);
		double_lock();
		stream->first = item->next;
		free(item);
		double_tell_change();
	}
	double_unlock();
	return NULL;
}

static struct CUstream_st *new_stream(void)
{
	struct CUstream_st *stream = calloc(1, sizeof(*stream));
	pthread_t thread;

	if (!stream || pthread_cond_init(&stream->has_work, NULL) != 0 ||
	    pthread_create(&thread, NULL, run_stream, stream) != 0)
		double_violation("there is no thread for a stream");
	(void)pthread_detach(thread);
	stream->next = all_streams;
	all_streams = stream;
	return stream;
}

static struct CUstream_st *find_stream(cudaStream_t stream)
{
	if (!stream && !default_stream)
		default_stream = new_stream();
	if (!stream)
		return default_stream;
	if (stream->is_destroyed)
		double_violation("a stream is used after its destruction");
	return stream;
}

void double_issue_locked(cudaStream_t stream, double_run *run, const void *payload, size_t n_bytes)
{
	struct CUstream_st *own = find_stream(stream);
	struct double_item *item = malloc(sizeof(*item) + n_bytes);

	if (!item)
		double_violation("out of memory");
	if (own->is_promised)
		double_violation("work is issued to a stream before the group of NCCL is there "
		                 "that comes first");
	item->next = NULL;
	item->run = run;
	memcpy(item->payload, payload, n_bytes);
	if (own->first)
		own->last->next = item;
	else
		own->first = item;
	own->last = item;
	(void)pthread_cond_signal(&own->has_work);
}

void double_promise(cudaStream_t stream, bool is_promised)
{
	find_stream(stream)->is_promised = is_promised;
}

void double_issue(cudaStream_t stream, double_run *run, const void *payload, size_t n_bytes)
{
	double_lock();
	double_issue_locked(stream, run, payload, n_bytes);
	double_unlock();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	if (flags != cudaStreamNonBlocking)
		double_violation("a stream that waits for the default stream");
	double_lock();
	*out = new_stream();
	double_unlock();
	return cudaSuccess;
}

/* What was issued still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	cudaError_t status = double_enter(__func__);

	double_lock();
	find_stream(stream)->is_destroyed = true;
	(void)pthread_cond_signal(&stream->has_work);
	double_unlock();
	return status;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	double_lock();
	status = find_stream(stream)->first ? cudaErrorNotReady : cudaSuccess;
	double_unlock();
	return status;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	cudaError_t status = double_enter(__func__);

	double_lock();
	while (find_stream(stream)->first)
		double_await_change();
	double_unlock();
	return status;
}

struct host_function {
	cudaHostFn_t function;
	void *argument;
};

/* One after the other, whatever their streams are, as the driver may do it. */
static void run_host_function(void *payload)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	const struct host_function *call = payload;

	(void)pthread_mutex_lock(&one_at_a_time);
	double_enter_host_function();
	call->function(call->argument);
	double_leave_host_function();
	(void)pthread_mutex_unlock(&one_at_a_time);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
	const struct host_function call = {function, argument};
	cudaError_t status = double_enter(__func__);

	if (status == cudaSuccess)
		double_issue(stream, run_host_function, &call, sizeof(call));
	return status;
}

struct value_wait {
	const cuuint32_t *at;
	cuuint32_t wanted;
	bool is_least;
};

static bool is_met(const struct value_wait *wait, cuuint32_t found)
{
	return wait->is_least ? (int32_t)(found - wait->wanted) >= 0 : found == wait->wanted;
}

static void run_value_wait(void *payload)
{
	const struct value_wait *wait = payload;

	while (!is_met(wait, __atomic_load_n(wait->at, __ATOMIC_ACQUIRE)))
		(void)usleep(LOOK_AGAIN_US);
}

static CUresult wait_value(CUstream stream, CUdeviceptr at, cuuint32_t wanted, unsigned int flags)
{
	const struct value_wait wait = {(const cuuint32_t *)(uintptr_t)at, wanted,
	                                flags == CU_STREAM_WAIT_VALUE_GEQ};

	if (double_enter("cuStreamWaitValue32") != cudaSuccess)
		return CUDA_ERROR_LAUNCH_FAILED;
	if (flags != CU_STREAM_WAIT_VALUE_EQ && flags != CU_STREAM_WAIT_VALUE_GEQ)
		double_violation("cuStreamWaitValue32 with flags %u", flags);
	double_issue(stream, run_value_wait, &wait, sizeof(wait));
	return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned int version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found_out)
{
	CUresult (*entry)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) = wait_value;
	cudaError_t status = double_enter(__func__);

	(void)version;
	(void)flags;
	*found_out = cudaDriverEntryPointSymbolNotFound;
	if (status != cudaSuccess || strcmp(symbol, "cuStreamWaitValue32") != 0)
		return status;
	memcpy(out, &entry, sizeof(entry));
	*found_out = cudaDriverEntryPointSuccess;
	return cudaSuccess;
}
