/* kineto_slices.c - ops of this project's own Chrome traces, which have Kineto's container.
 *
 * They say of each slice what it is: nothing has to be matched. Iterations that a restart repeated
 * are runs of their own, as in logs of restarted jobs. */
#include <string.h>

#include "engine/format/kineto_internal.h"

static const struct {
	const char *timer;
	enum observed_clock clock;
} timers[] = {
	{"virtual", CLOCK_SIMULATED},
	{"host", CLOCK_HOST_MONOTONIC},
	{"cuda_event", CLOCK_DEVICE},
};

/* Only computations say what timed them; their messages come behind them. */
static void set_clock(struct kineto_trace *trace, const struct kineto_event *event)
{
	for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++)
		if (strcmp(event->timer, timers[i].timer) == 0)
			trace->clock = timers[i].clock;
}

static int begin_attempt(struct kineto_trace *trace, int attempt, struct err *err)
{
	int rc = 0;

	if (attempt != trace->attempt)
		rc = observed_begin(trace->out, input_name(trace->input), attempt, -1, err);
	trace->attempt = attempt;
	return rc;
}

static void reject(struct kineto_trace *trace)
{
	observed_reject(trace->out, "slice without its iteration, attempt or action");
}

int kineto_collect_slice(struct kineto_trace *trace, const struct kineto_event *event,
                         struct err *err)
{
	struct action_name action;
	struct observed_op op;
	int rc;

	if (!action_name_parse(event->name, strlen(event->name), &action) || event->iteration < 0 ||
	    event->iteration > INT32_MAX || event->attempt < 0 || event->attempt > INT16_MAX) {
		reject(trace);
		return 0;
	}
	if (event->process != action.stage) {
		observed_skip(trace->out, "slice of another replica", 24);
		return 0;
	}
	rc = begin_attempt(trace, (int)event->attempt, err);
	if (rc < 0)
		return rc;
	set_clock(trace, event);
	op = observed_op_of(action.kind);
	op.start_ns = event->start_ns;
	op.end_ns = event->start_ns + event->duration_ns;
	op.place = trace->n_events;
	op.iteration = (int32_t)event->iteration;
	op.microbatch = action.microbatch;
	op.stage = op.rank = (int16_t)action.stage;
	op.clock = (uint8_t)trace->clock;
	op.bytes = event->bytes;
	op.wait_ns = event->wait_ns;
	if (event->peer >= 0 && event->peer <= INT16_MAX)
		op.peer = (int16_t)event->peer;
	return observed_add(trace->out, op, err);
}
