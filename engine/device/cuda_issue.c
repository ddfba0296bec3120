/* cuda_issue.c - issuing to a GPU, and asking what has ended. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/device/checks_internal.h"
#include "engine/device/cuda_ops_internal.h"

static struct cuda *cuda_of(const struct device_stream *stream)
{
	return (struct cuda *)stream->device;
}

/* Whatever is issued to a stream goes to its queue, if nothing has failed yet. */
int cuda_begin_issue(const struct device_stream *stream, struct cuda_queue **out, struct err *err)
{
	int rc = cuda_report(cuda_of(stream), err);

	if (rc)
		return rc;
	*out = ((const struct cuda_stream *)stream)->queue;
	(*out)->is_busy = true;
	(*out)->n_issued++;
	return 0;
}

/* The kernel issues to this thread's current GPU. A failure of its own counts like one of CUDA. */
static int run_kernel(struct cuda *cuda, device_kernel *kernel, void *argument, struct err *err)
{
	struct err own = {0};
	int rc = cuda_check(cuda, cudaSetDevice(cuda->gpu), "be chosen", err);

	if (rc || !kernel)
		return rc;
	rc = kernel(argument, &own);
	if (rc == 0)
		return 0;
	if (!cuda->error.code && own.text[0])
		(void)err_set(&cuda->error, rc, "%s", own.text);
	else if (!cuda->error.code)
		(void)err_set(&cuda->error, rc, "a computation failed with code %d and no reason",
		              rc);
	return cuda_report(cuda, err);
}

int cuda_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                struct device_duration duration, struct err *err)
{
	struct cuda *cuda = cuda_of(stream);
	struct cuda_queue *queue;
	int rc = device_check_duration(cuda->config.speed, duration.ns, err);

	rc = rc ? rc : cuda_begin_issue(stream, &queue, err);
	rc = rc ? rc : run_kernel(cuda, kernel, argument, err);
	if (rc == 0 && !cuda->kind->holds_durations)
		cuda->base.stats.n_ops++;
	return rc;
}

int cuda_copy(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
              struct err *err)
{
	struct cuda_queue *queue;
	int rc = cuda_begin_issue(stream, &queue, err);

	if (rc || n_bytes == 0)
		return rc;
	return cuda_check(cuda_of(stream),
	                  cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDefault, queue->stream),
	                  "copy", err);
}

struct call {
	const struct cuda *cuda;
	device_callback *callback;
	void *argument;
};

/* In a thread of the driver. */
static void CUDART_CB run_call(void *argument)
{
	struct call *call = argument;

	if (!__atomic_load_n(&call->cuda->is_closing, __ATOMIC_ACQUIRE))
		call->callback(call->argument);
	free(call);
}

int cuda_call(struct device_stream *stream, device_callback *callback, void *argument,
              struct err *err)
{
	struct cuda_queue *queue;
	struct call *call;
	int rc = cuda_begin_issue(stream, &queue, err);

	if (rc)
		return rc;
	call = malloc(sizeof(*call));
	if (!call)
		return err_set(err, -ENOMEM, "out of memory for a call in stream order");
	*call = (struct call){cuda_of(stream), callback, argument};
	rc = cuda_check(cuda_of(stream), cudaLaunchHostFunc(queue->stream, run_call, call),
	                "call a function of the host", err);
	if (rc)
		free(call);
	return rc;
}

/* The GPU looks at the flag itself: a host function that waits would keep those of other streams
 * from running, among them the one that sets the flag. */
int cuda_hold(struct device_stream *stream, const struct device_flag *flag, struct err *err)
{
	const struct cuda *cuda = cuda_of(stream);
	const struct device_flag **holds;
	struct cuda_queue *queue;
	int rc = cuda_begin_issue(stream, &queue, err);

	if (rc)
		return rc;
	holds = array_grow(queue->holds, &queue->holds_capacity, queue->n_holds + 1,
	                   sizeof(*queue->holds));
	if (!holds)
		return err_set(err, -ENOMEM, "out of memory for a hold");
	queue->holds = holds;
	queue->holds[queue->n_holds++] = flag;
	if (cuda->wait_value(queue->stream, (CUdeviceptr)(uintptr_t)&flag->is_set, 1,
	                     CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS)
		return cuda_check(cuda_of(stream), cudaErrorUnknown, "wait for a flag", err);
	return 0;
}

int cuda_record(struct device_event *event, struct device_stream *stream, struct err *err)
{
	struct cuda_event *own = (struct cuda_event *)event;
	struct cuda *cuda = cuda_of(stream);
	struct cuda_queue *queue;
	int rc = device_check_same(event, stream, err);

	rc = rc ? rc : cuda_begin_issue(stream, &queue, err);
	rc = rc ? rc
	        : cuda_check(cuda, cudaEventRecord(own->event, queue->stream), "record an event",
	                     err);
	if (rc)
		return rc;
	own->is_recorded = true;
	own->recorded_in = cuda->n_looks;
	own->queue = queue;
	own->issue = queue->n_issued;
	own->is_done = false;
	return 0;
}

int cuda_wait(struct device_stream *stream, struct device_event *event, struct err *err)
{
	const struct cuda_event *own = (struct cuda_event *)event;
	struct cuda_queue *queue;
	int rc = device_check_same(event, stream, err);

	rc = rc ? rc : cuda_begin_issue(stream, &queue, err);
	if (rc || !own->is_recorded)
		return rc;
	return cuda_check(cuda_of(stream), cudaStreamWaitEvent(queue->stream, own->event, 0),
	                  "wait for an event", err);
}

static void note_idle(struct cuda_queue *queue)
{
	queue->is_busy = false;
	queue->n_holds = 0;
}

/* 1: it has ended, and both its times are known from now on. As on a CPU device nothing ends
 * before device_progress() is called, so that who asks twice in between is told the same. */
static int look_at_event(struct cuda *cuda, struct cuda_event *event, struct err *err)
{
	cudaError_t status;
	int rc;

	if (event->recorded_in == cuda->n_looks)
		return 0;
	status = cudaEventQuery(event->event);
	if (status == cudaErrorNotReady)
		return 0;
	rc = cuda_check(cuda, status, "say whether an event has ended", err);
	rc = rc ? rc : cuda_clock_moment(cuda, event->event, &event->scheduled_ns, err);
	if (rc)
		return rc;
	if (cuda->kind->holds_durations)
		event->scheduled_ns = event->paced_ns;
	event->real_ns = clock_monotonic_ns();
	event->is_done = true;
	if (event->issue == event->queue->n_issued)
		note_idle(event->queue);
	return 1;
}

int cuda_query(struct device_event *event, int64_t *scheduled_ns_out, int64_t *real_ns_out,
               struct err *err)
{
	struct cuda *cuda = (struct cuda *)event->device;
	struct cuda_event *own = (struct cuda_event *)event;
	int rc = cuda_report(cuda, err);

	if (rc == 0)
		rc = own->is_recorded && !own->is_done ? look_at_event(cuda, own, err) : 1;
	if (rc != 1)
		return rc;
	if (scheduled_ns_out)
		*scheduled_ns_out = own->scheduled_ns;
	if (real_ns_out)
		*real_ns_out = own->real_ns;
	return 1;
}

static int look_at_queue(struct cuda *cuda, struct cuda_queue *queue, struct err *err)
{
	cudaError_t status = cudaStreamQuery(queue->stream);

	if (status == cudaErrorNotReady)
		return 0;
	if (status == cudaSuccess)
		note_idle(queue);
	return cuda_check(cuda, status, "go on", err);
}

/* It runs by itself, so there is nothing to do but to see how far it is. */
int cuda_progress(struct device *device, bool may_compute, struct device_state *out,
                  struct err *err)
{
	struct cuda *cuda = (struct cuda *)device;
	bool is_idle = true;
	int rc = cuda_report(cuda, err);

	(void)may_compute;
	cuda->n_looks++;
	device->issued_as_of = DEVICE_AS_OF_CALL;
	for (size_t i = 0; rc == 0 && i < cuda->n_queues; i++) {
		if (cuda->queues[i]->is_busy)
			rc = look_at_queue(cuda, cuda->queues[i], err);
		is_idle &= !cuda->queues[i]->is_busy;
	}
	if (rc == 0 && is_idle && cuda->n_queues > 0)
		rc = cuda_clock_renew(cuda, cuda->queues[0]->stream, err);
	if (rc)
		return rc;
	*out = (struct device_state){
		.is_idle = is_idle,
		.ready_ns = INT64_MAX,
		.next_ns = is_idle ? INT64_MAX : clock_monotonic_ns(),
	};
	return 0;
}
