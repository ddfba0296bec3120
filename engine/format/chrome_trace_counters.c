/* chrome_trace_counters.c - what every stage holds, as counters of a Chrome trace.
 *
 * A microbatch is in flight on a stage from the start of its F to the end of its B; its activation
 * is held until the end of its W. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/chrome_trace_internal.h"

struct change {
	int pid;
	int microbatches;
	int activations;
	int64_t at_ns;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static struct change change_of(const struct chrome_trace *trace, const struct record_op *op)
{
	struct change change = {
		.pid = trace_pid(trace, op->stage, op->replica),
		.at_ns = trace_time(op->kind == OP_F ? op->start_ns : op->end_ns),
	};

	switch (op->kind) {
	case OP_F:
		change.microbatches = change.activations = 1;
		break;
	case OP_B:
		change.microbatches = -1;
		break;
	case OP_W:
		change.activations = -1;
		break;
	}
	return change;
}

static void add_counter(struct chrome_trace *trace, const char *name, const char *series,
                        const struct change *at, int64_t value)
{
	event_open(trace, &(struct trace_event){"C", name, NULL, at->pid, -1, at->at_ns});
	json_open_object(&trace->json, "args");
	json_int(&trace->json, series, value);
	json_close(&trace->json);
	event_close(trace);
}

static int at_least_0(int n)
{
	return n > 0 ? n : 0;
}

/* level: what is held from its time on; only what changed is written. In an iteration that broke,
 * ops may be missing. */
static void add_level(struct chrome_trace *trace, const struct change *level,
                      const struct change *before)
{
	const int64_t *sizes = trace->run.activation_bytes;
	int64_t bytes = sizes ? sizes[level->pid % trace->run.n_stages] : 0;
	int microbatches = at_least_0(level->microbatches);
	int activations = at_least_0(level->activations);
	int64_t held_bytes;

	if (microbatches != at_least_0(before->microbatches))
		add_counter(trace, "in_flight_mb", "mb", level, microbatches);
	if (bytes <= 0 || activations == at_least_0(before->activations))
		return;
	if (__builtin_mul_overflow(bytes, activations, &held_bytes))
		held_bytes = INT64_MAX;
	add_counter(trace, "activation_bytes", "bytes", level, held_bytes);
}

/* The changes of one process, from the first to before end. What they leave over, because the
 * iteration broke, is gone at edge_ns. */
static int add_process(struct chrome_trace *trace, const struct change *first,
                       const struct change *end, int64_t edge_ns, struct err *err)
{
	struct change level = {.pid = first->pid}, before = level;
	int rc = 0;

	for (const struct change *at = first; at < end && !rc; before = level) {
		level.at_ns = at->at_ns;
		for (; at < end && at->at_ns == level.at_ns; at++) {
			level.microbatches += at->microbatches;
			level.activations += at->activations;
		}
		add_level(trace, &level, &before);
		rc = trace_flush_if_due(trace, err);
	}
	level = (struct change){
		.pid = first->pid,
		.at_ns = edge_ns > before.at_ns ? edge_ns : before.at_ns,
	};
	add_level(trace, &level, &before);
	return rc;
}

int counters_add(struct chrome_trace *trace, const struct record_iteration *iteration,
                 struct err *err)
{
	int64_t edge_ns = trace_time(iteration->start_ns) + trace_time(iteration->duration_ns);
	size_t n = iteration->n_ops;
	struct change *changes = array_new(n, sizeof(*changes));
	int rc = 0;

	if (!changes)
		return trace_fail_memory(err);
	for (size_t i = 0; i < n; i++)
		changes[i] = change_of(trace, &iteration->ops[i]);
	qsort(changes, n, sizeof(*changes), compare_changes);
	for (size_t first = 0, end; first < n && !rc; first = end) {
		for (end = first; end < n && changes[end].pid == changes[first].pid;)
			end++;
		rc = add_process(trace, &changes[first], &changes[end], edge_ns, err);
	}
	free(changes);
	return rc;
}
