/* double_event.c - events; one that is recorded again is another one for who waited before. */
#include <stdlib.h>
#include <time.h>

#include "tests/cuda_double/double_internal.h"

static void release(struct double_mark *mark)
{
	if (mark && --mark->n_users == 0)
		free(mark);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	if (flags & cudaEventDisableTiming)
		double_violation("an event without a time");
	*out = calloc(1, sizeof(**out));
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	cudaError_t status = double_enter(__func__);

	double_lock();
	release(event->mark);
	double_unlock();
	free(event);
	return status;
}

static void run_record(void *payload)
{
	struct double_mark *mark = *(struct double_mark **)payload;

	double_lock();
	(void)clock_gettime(CLOCK_MONOTONIC, &mark->at);
	mark->is_done = true;
	release(mark);
	double_tell_change();
	double_unlock();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	struct double_mark *mark;
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	mark = calloc(1, sizeof(*mark));
	if (!mark)
		return cudaErrorMemoryAllocation;
	mark->n_users = 2;
	double_lock();
	release(event->mark);
	event->mark = mark;
	double_issue_locked(stream, run_record, &mark, sizeof(mark));
	double_unlock();
	return cudaSuccess;
}

static void run_wait(void *payload)
{
	struct double_mark *mark = *(struct double_mark **)payload;

	double_lock();
	while (!mark->is_done)
		double_await_change();
	release(mark);
	double_unlock();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	cudaError_t status = double_enter(__func__);

	(void)flags;
	if (status != cudaSuccess)
		return status;
	double_lock();
	if (event->mark) {
		event->mark->n_users++;
		double_issue_locked(stream, run_wait, &event->mark, sizeof(event->mark));
	}
	double_unlock();
	return cudaSuccess;
}

static bool is_done(cudaEvent_t event)
{
	return !event->mark || event->mark->is_done;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	double_lock();
	status = is_done(event) ? cudaSuccess : cudaErrorNotReady;
	double_unlock();
	return status;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	cudaError_t status = double_enter(__func__);

	double_lock();
	while (!is_done(event))
		double_await_change();
	double_unlock();
	return status;
}

static double ms_of(const struct timespec *at)
{
	return (double)at->tv_sec * 1e3 + (double)at->tv_nsec / 1e6;
}

cudaError_t cudaEventElapsedTime(float *ms_out, cudaEvent_t from, cudaEvent_t to)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	double_lock();
	if (!from->mark || !to->mark || !is_done(from) || !is_done(to))
		double_violation("an event is read before it has ended");
	*ms_out = (float)(ms_of(&to->mark->at) - ms_of(&from->mark->at));
	double_unlock();
	return cudaSuccess;
}
