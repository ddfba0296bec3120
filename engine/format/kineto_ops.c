/* kineto_ops.c - makes ops of what was kept of a trace.
 *
 * A range's iteration is that of the profiler step around it on the host, where it was launched:
 * the device may still be busy with it when the next step has begun. Ranges of the device are
 * therefore matched with the host's, the k-th of an action on a stream with the k-th. An action
 * whose kernels went to several streams has a range on each: together they are one op. */
#include <stdlib.h>

#include "engine/format/kineto_internal.h"

/* The profiler makes a range a nanosecond longer at either end, so that it is drawn above its
 * kernels. */
enum { RANGE_EXCESS_NS = 1 };

static int compare_action(const struct action_name *a, const struct action_name *b)
{
	if (a->stage != b->stage)
		return a->stage < b->stage ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->microbatch < b->microbatch ? -1 : a->microbatch > b->microbatch;
}

static int compare_starts_of(const struct kineto_range *x, const struct kineto_range *y)
{
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int compare_host(const void *a, const void *b)
{
	const struct kineto_range *x = a, *y = b;
	int order = compare_action(&x->action, &y->action);

	return order != 0 ? order : compare_starts_of(x, y);
}

static int compare_device(const void *a, const void *b)
{
	const struct kineto_range *x = a, *y = b;
	int order = compare_action(&x->action, &y->action);

	if (order == 0)
		order = x->lane < y->lane ? -1 : x->lane > y->lane;
	return order != 0 ? order : compare_starts_of(x, y);
}

static int compare_occurrences(const void *a, const void *b)
{
	const struct kineto_range *x = a, *y = b;
	int order = compare_action(&x->action, &y->action);

	if (order == 0)
		order = x->occurrence < y->occurrence ? -1 : x->occurrence > y->occurrence;
	return order != 0 ? order : compare_starts_of(x, y);
}

static int compare_steps(const void *a, const void *b)
{
	const struct kineto_step *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void sort(struct kineto_table *table, size_t item_bytes,
                 int (*compare)(const void *a, const void *b))
{
	if (table->n > 1)
		qsort(table->items, table->n, item_bytes, compare);
}

/* The step in which now_ns lies, or the last that began before; −1: none did. */
static int32_t step_at(const struct kineto_table *steps, int64_t now_ns)
{
	const struct kineto_step *items = steps->items;
	size_t low = 0, high = steps->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].start_ns <= now_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? items[low - 1].iteration : -1;
}

/* How many of the ranges from at on are of one action, and of one lane where that matters. */
static size_t run_of(const struct kineto_table *ranges, size_t at, bool is_of_lane)
{
	const struct kineto_range *items = ranges->items;
	size_t n = 1;

	while (at + n < ranges->n &&
	       compare_action(&items[at].action, &items[at + n].action) == 0 &&
	       (!is_of_lane || items[at].lane == items[at + n].lane))
		n++;
	return n;
}

/* Without steps the k-th time that an action is met is its k-th iteration. Ranges are sorted. */
static void set_iterations(const struct kineto_trace *trace, struct kineto_table *ranges,
                           bool is_of_lane)
{
	struct kineto_range *items = ranges->items;
	size_t n;

	for (size_t at = 0; at < ranges->n; at += n) {
		n = run_of(ranges, at, is_of_lane);
		for (size_t k = 0; k < n; k++)
			items[at + k].iteration =
				trace->steps.n > 0 ? step_at(&trace->steps, items[at + k].start_ns)
						   : (int32_t)k;
	}
}

/* Both are sorted by action. Where their numbers differ the device's own time has to do. */
static void match_occurrences(const struct kineto_trace *trace)
{
	const struct kineto_range *host = trace->host_ranges.items;
	struct kineto_range *device = trace->device_ranges.items;
	size_t at = 0, n;

	for (size_t i = 0; i < trace->device_ranges.n; i += n) {
		n = run_of(&trace->device_ranges, i, true);
		while (at < trace->host_ranges.n &&
		       compare_action(&host[at].action, &device[i].action) < 0)
			at++;
		if (at == trace->host_ranges.n ||
		    compare_action(&host[at].action, &device[i].action) != 0 ||
		    run_of(&trace->host_ranges, at, false) != n)
			continue;
		for (size_t k = 0; k < n; k++) {
			device[i + k].iteration = host[at + k].iteration;
			device[i + k].occurrence = (int32_t)k;
		}
	}
}

/* Ranges of one occurrence become one, from the first start to the last end. */
static void merge_occurrences(struct kineto_table *ranges)
{
	struct kineto_range *items = ranges->items;
	size_t n_kept = 0;

	for (size_t i = 0; i < ranges->n; i++) {
		struct kineto_range *last = n_kept > 0 ? &items[n_kept - 1] : NULL;

		if (last != NULL && items[i].occurrence >= 0 &&
		    items[i].occurrence == last->occurrence &&
		    compare_action(&items[i].action, &last->action) == 0) {
			if (items[i].end_ns > last->end_ns)
				last->end_ns = items[i].end_ns;
		} else {
			items[n_kept++] = items[i];
		}
	}
	ranges->n = n_kept;
}

struct observed_op kineto_op(const struct kineto_trace *trace, const struct kineto_range *range,
                             int64_t start_ns, int64_t end_ns)
{
	struct observed_op op = observed_op_of(range->action.kind);

	op.start_ns = start_ns + trace->base_ns;
	op.end_ns = end_ns + trace->base_ns;
	op.place = range->place;
	op.iteration = range->iteration;
	op.microbatch = range->action.microbatch;
	op.stage = (int16_t)(range->action.stage >= 0 ? range->action.stage : trace->rank);
	op.rank = (int16_t)trace->rank;
	op.clock = CLOCK_DEVICE;
	return op;
}

static int add_device_ranges(struct kineto_trace *trace, struct err *err)
{
	const struct kineto_range *items = trace->device_ranges.items;
	int rc = 0;

	for (size_t i = 0; i < trace->device_ranges.n && rc == 0; i++) {
		bool has_excess = items[i].end_ns - items[i].start_ns >= 2 * RANGE_EXCESS_NS;
		int64_t excess_ns = has_excess ? RANGE_EXCESS_NS : 0;

		rc = observed_add(trace->out,
		                  kineto_op(trace, &items[i], items[i].start_ns + excess_ns,
		                            items[i].end_ns - excess_ns),
		                  err);
	}
	return rc;
}

static int compare_starts(const void *a, const void *b)
{
	const struct observed_op *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The transfer among ops[0 … n), sorted by start, that has the kernel inside; NULL: none has. */
static struct observed_op *transfer_around(struct observed_op *ops, size_t n,
                                           const struct observed_op *kernel)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ops[middle].start_ns <= kernel->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* Sends and receives overlap, a few at a time. */
	for (size_t i = low; i > 0 && low - i < 8; i--)
		if (ops[i - 1].kind == kernel->kind && ops[i - 1].end_ns >= kernel->end_ns &&
		    ops[i - 1].bytes < 0)
			return &ops[i - 1];
	return NULL;
}

/* NCCL's kernels: what they know goes to the range around them; without one they are ops. */
static int add_messages(struct kineto_trace *trace, size_t first_op, struct err *err)
{
	struct observed_op *kernels = trace->messages.items;
	size_t n_ops = trace->out->n_ops - first_op;
	int rc = 0;

	if (n_ops > 1)
		qsort(trace->out->ops + first_op, n_ops, sizeof(*kernels), compare_starts);
	for (size_t i = 0; i < trace->messages.n && rc == 0; i++) {
		struct observed_op *kernel = &kernels[i], *around;

		/* Steps are on the host; a kernel runs at most a little later. */
		kernel->iteration = step_at(&trace->steps, kernel->start_ns);
		kernel->start_ns += trace->base_ns;
		kernel->end_ns += trace->base_ns;
		kernel->rank = (int16_t)trace->rank;
		kernel->stage = (int16_t)trace->rank;
		kernel->clock = CLOCK_DEVICE;
		around = n_ops == 0 ? NULL
		                    : transfer_around(trace->out->ops + first_op, n_ops, kernel);
		if (around != NULL) {
			around->bytes = kernel->bytes;
			around->peer = kernel->peer;
		} else {
			rc = observed_add(trace->out, *kernel, err);
		}
	}
	return rc;
}

int kineto_add_ops(struct kineto_trace *trace, struct err *err)
{
	size_t first_op = trace->out->n_ops;
	int rc;

	sort(&trace->steps, sizeof(struct kineto_step), compare_steps);
	sort(&trace->host_ranges, sizeof(struct kineto_range), compare_host);
	sort(&trace->device_ranges, sizeof(struct kineto_range), compare_device);
	set_iterations(trace, &trace->host_ranges, false);
	set_iterations(trace, &trace->device_ranges, true);
	match_occurrences(trace);
	sort(&trace->device_ranges, sizeof(struct kineto_range), compare_occurrences);
	merge_occurrences(&trace->device_ranges);
	rc = trace->device_ranges.n > 0 ? add_device_ranges(trace, err)
	                                : kineto_add_launched(trace, err);
	if (rc == 0)
		rc = add_messages(trace, first_op, err);
	return rc;
}
