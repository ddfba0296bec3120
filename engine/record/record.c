/* record.c - the names of what a record holds, and the sink that keeps nothing. */
#include "engine/record/record.h"

const char *decision_kind_name(enum decision_kind kind)
{
	switch (kind) {
	case DECISION_REPLAN:
		return "replan";
	case DECISION_SWITCH_PLANE:
		return "switch_plane";
	case DECISION_RESTART:
		return "restart";
	case DECISION_FAILOVER:
		return "failover";
	case DECISION_RECOVER:
		return "recover";
	}
	return "unknown";
}

const char *record_timer_name(enum record_timer timer)
{
	switch (timer) {
	case TIMER_VIRTUAL:
		return "virtual";
	case TIMER_HOST:
		return "host";
	case TIMER_CUDA_EVENT:
		return "cuda_event";
	}
	return "unknown";
}

static int null_iteration(struct record_sink *sink, const struct record_iteration *iteration,
                          struct err *err)
{
	(void)sink, (void)iteration, (void)err;
	return 0;
}

static int null_fault(struct record_sink *sink, const struct record_fault *fault, struct err *err)
{
	(void)sink, (void)fault, (void)err;
	return 0;
}

static int null_decision(struct record_sink *sink, const struct record_decision *decision,
                         struct err *err)
{
	(void)sink, (void)decision, (void)err;
	return 0;
}

static const struct record_sink_ops null_ops = {
	.iteration = null_iteration,
	.fault = null_fault,
	.decision = null_decision,
};

struct record_sink record_null_sink(void)
{
	return (struct record_sink){.ops = &null_ops, .wants_ops = false};
}
