/* cuda_paced.c - a GPU that computes, and holds each op to its profiled time.
 *
 * Host functions in stream order keep the device clock of device.h, which no event can tell: an
 * op's start and end, the moments of holds and waits, the time of a record. The one behind an op
 * has a gate opened at the op's deadline, at which the stream stands until then. A kernel that
 * spins would be time-sliced against those of other workers on the same GPU, and a host function
 * that sleeps keep those of other streams waiting (cuda_pacer.c). */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/device/checks_internal.h"
#include "engine/device/cuda_ops_internal.h"
#include "engine/device/cuda_pacer.h"
#include "engine/device/kinds_internal.h"

enum step_kind { STEP_BEGIN, STEP_END, STEP_PASS, STEP_HOLD, STEP_WAIT, STEP_RECORD };

/* What a host function is given; it frees it. */
struct step {
	enum step_kind kind;
	struct cuda *cuda;
	struct cuda_queue *queue;
	int64_t issued_ns;
	uint32_t number;     /* of the gate at which the op ends */
	bool is_behind_copy; /* whose own time is part of the schedule */
	const struct device_flag *flag;
	struct cuda_event *event;
	struct device_duration duration;
	void *argument;
};

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool is_closing(const struct cuda *cuda)
{
	return __atomic_load_n(&cuda->is_closing, __ATOMIC_ACQUIRE) != 0;
}

static void begin_op(const struct step *step, int64_t start_ns)
{
	struct cuda_queue *queue = step->queue;
	int64_t ns = step->duration.ns;

	if (step->duration.ask)
		ns = step->duration.ask(step->argument, start_ns);
	queue->held_ns = device_scaled_ns(step->cuda->config.speed, ns);
	queue->reached_ns = start_ns;
	queue->began_ns = clock_monotonic_ns();
}

/* As on a CPU: an op that itself takes longer than its duration ends when it really ends. */
static void end_op(const struct step *step)
{
	struct device_stats *stats = &step->cuda->base.stats;
	struct cuda_queue *queue = step->queue;
	int64_t now_ns = clock_monotonic_ns(), took_ns = now_ns - queue->began_ns;

	if (took_ns > queue->held_ns) {
		stats->n_overruns += queue->held_ns > 0;
		stats->overrun_ns_sum += queue->held_ns > 0 ? took_ns - queue->held_ns : 0;
		queue->reached_ns = now_ns;
	} else {
		queue->reached_ns += queue->held_ns;
	}
	cuda_pacer_open(step->cuda->pacer, queue->gate, step->number, queue->reached_ns);
}

/* Behind the gate. */
static void pass_op(const struct step *step)
{
	struct device_stats *stats = &step->cuda->base.stats;
	const struct cuda_queue *queue = step->queue;
	int64_t now_ns = clock_monotonic_ns();

	stats->n_ops++;
	stats->late_ns_sum += now_ns - queue->reached_ns;
	stats->late_ns_max = later_of(stats->late_ns_max, now_ns - queue->reached_ns);
}

static void take_step(const struct step *step)
{
	struct cuda_queue *queue = step->queue;
	int64_t start_ns = later_of(queue->reached_ns, step->issued_ns);

	switch (step->kind) {
	case STEP_BEGIN:
		begin_op(step, start_ns);
		break;
	case STEP_END:
		end_op(step);
		break;
	case STEP_PASS:
		pass_op(step);
		break;
	case STEP_HOLD:
		queue->reached_ns = later_of(start_ns, step->flag->at_ns);
		break;
	case STEP_WAIT:
		queue->reached_ns = later_of(start_ns, step->event->paced_ns);
		break;
	case STEP_RECORD:
		queue->reached_ns = step->is_behind_copy ? clock_monotonic_ns() : start_ns;
		step->event->paced_ns = queue->reached_ns;
		break;
	}
}

/* In a thread of the driver. */
static void CUDART_CB run_step(void *argument)
{
	struct step *step = argument;

	if (!is_closing(step->cuda))
		take_step(step);
	free(step);
}

static int issue(const struct device_stream *stream, const struct step *like, struct err *err)
{
	struct cuda *cuda = (struct cuda *)stream->device;
	struct cuda_queue *queue = ((const struct cuda_stream *)stream)->queue;
	struct step *step = malloc(sizeof(*step));
	int rc;

	if (!step)
		return err_set(err, -ENOMEM, "out of memory for a step of the device's clock");
	*step = *like;
	step->cuda = cuda;
	step->queue = queue;
	step->issued_ns = cuda->base.issued_as_of == DEVICE_AS_OF_CALL ? clock_monotonic_ns()
	                                                               : cuda->base.issued_as_of;
	queue->is_busy = true;
	queue->n_issued++;
	rc = cuda_check(cuda, cudaLaunchHostFunc(queue->stream, run_step, step),
	                "call a function of the host", err);
	if (rc)
		free(step);
	return rc;
}

static int stand_at_gate(const struct device_stream *stream, uint32_t number, struct err *err)
{
	struct cuda *cuda = (struct cuda *)stream->device;
	struct cuda_queue *queue = ((const struct cuda_stream *)stream)->queue;

	queue->n_issued++;
	if (cuda->wait_value(queue->stream, (CUdeviceptr)(uintptr_t)queue->gate, number,
	                     CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS)
		return 0;
	return cuda_check(cuda, cudaErrorUnknown, "wait for the end of an op", err);
}

static int paced_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                        struct device_duration duration, struct err *err)
{
	const struct step begin = {.kind = STEP_BEGIN, .duration = duration, .argument = argument};
	const struct cuda *cuda = (struct cuda *)stream->device;
	struct cuda_queue *queue = ((struct cuda_stream *)stream)->queue;
	const struct step end = {.kind = STEP_END, .number = queue->n_gated + 1};
	const struct step pass = {.kind = STEP_PASS};
	int rc = device_check_duration(cuda->config.speed, duration.ns, err);

	rc = rc ? rc : cuda_report(cuda, err);
	rc = rc ? rc : issue(stream, &begin, err);
	rc = rc ? rc : cuda_launch(stream, kernel, argument, duration, err);
	rc = rc ? rc : issue(stream, &end, err);
	if (rc)
		return rc;
	rc = stand_at_gate(stream, ++queue->n_gated, err);
	return rc ? rc : issue(stream, &pass, err);
}

static int paced_copy(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
                      struct err *err)
{
	((struct cuda_stream *)stream)->queue->has_copied = true;
	return cuda_copy(stream, to, from, n_bytes, err);
}

static int paced_hold(struct device_stream *stream, const struct device_flag *flag, struct err *err)
{
	const struct step step = {.kind = STEP_HOLD, .flag = flag};
	int rc = cuda_hold(stream, flag, err);

	return rc ? rc : issue(stream, &step, err);
}

static int paced_record(struct device_event *event, struct device_stream *stream, struct err *err)
{
	struct cuda_queue *queue = ((struct cuda_stream *)stream)->queue;
	const struct step step = {.kind = STEP_RECORD,
	                          .event = (struct cuda_event *)event,
	                          .is_behind_copy = queue->has_copied};
	int rc = device_check_same(event, stream, err);

	rc = rc ? rc : cuda_report((struct cuda *)stream->device, err);
	rc = rc ? rc : issue(stream, &step, err);
	queue->has_copied = false;
	return rc ? rc : cuda_record(event, stream, err);
}

static int paced_wait(struct device_stream *stream, struct device_event *event, struct err *err)
{
	struct cuda_event *own = (struct cuda_event *)event;
	const struct step step = {.kind = STEP_WAIT, .event = own};
	int rc = cuda_wait(stream, event, err);

	return rc || !own->is_recorded ? rc : issue(stream, &step, err);
}

static const struct cuda_kind kind = {
	.ops = &paced_cuda_ops, .timer = "host", .holds_durations = true};

static int paced_open(const struct device_config *config, struct device **out, struct err *err)
{
	struct device *device = NULL;
	int rc = cuda_open(&kind, config, &device, err);

	if (rc)
		return rc;
	rc = cuda_pacer_new(&((struct cuda *)device)->pacer, err);
	if (rc)
		cuda_close(device);
	else
		*out = device;
	return rc;
}

/* Gates are opened for what has been issued: host functions do nothing any more, so that those
 * behind which nobody has come yet would stay closed. */
static void paced_close(struct device *device)
{
	struct cuda *cuda = (struct cuda *)device;
	struct cuda_pacer *pacer = cuda->pacer;

	__atomic_store_n(&cuda->is_closing, 1, __ATOMIC_RELEASE);
	cuda_pacer_stop(pacer);
	for (size_t i = 0; i < cuda->n_queues; i++)
		if (cuda->queues[i]->gate)
			cuda_pacer_open(pacer, cuda->queues[i]->gate, cuda->queues[i]->n_gated, 0);
	cuda_close(device);
	cuda_pacer_free(pacer);
}

static int paced_stream_new(struct device *device, struct device_stream **out, struct err *err)
{
	struct device_stream *stream = NULL;
	struct cuda_queue *queue;
	int rc = cuda_stream_new(device, &stream, err);

	if (rc)
		return rc;
	queue = ((struct cuda_stream *)stream)->queue;
	if (!queue->gate)
		queue->gate = cuda_memory(device, NULL, sizeof(*queue->gate), true);
	if (!queue->gate)
		return err_set(err, -ENOMEM, "no pinned memory for a stream");
	*out = stream;
	return 0;
}

const struct device_ops paced_cuda_ops = {
	.name = "paced-cuda",
	.open = paced_open,
	.close = paced_close,
	.memory = cuda_memory,
	.stream_new = paced_stream_new,
	.event_new = cuda_event_new,
	.launch = paced_launch,
	.copy = paced_copy,
	.call = cuda_call,
	.hold = paced_hold,
	.record = paced_record,
	.wait = paced_wait,
	.query = cuda_query,
	.progress = cuda_progress,
};
