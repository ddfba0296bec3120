/* kineto_launches.c - ops of ranges that only the host has: from the first to the last of the
 * kernels that were launched inside.
 *
 * The range itself says how long launching took, which is another thing altogether. */
#include <stdlib.h>
#include <string.h>

#include "engine/format/kineto_internal.h"

static int compare_launches(const void *a, const void *b)
{
	const struct kineto_launch *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct kineto_kernel *x = a, *y = b;

	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static int compare_kernel_starts(const void *a, const void *b)
{
	const struct kineto_kernel *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first launch of the lane that is not before start_ns. */
static size_t first_launch(const struct kineto_table *launches, uint64_t lane, int64_t start_ns)
{
	struct kineto_launch wanted = {.lane = lane, .start_ns = start_ns};
	const struct kineto_launch *items = launches->items;
	size_t low = 0, high = launches->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_launches(&items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t first_kernel(const struct kineto_table *kernels, uint32_t correlation)
{
	const struct kineto_kernel *items = kernels->items;
	size_t low = 0, high = kernels->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The range's kernels, copied to *found. */
static int find_kernels(struct kineto_trace *trace, const struct kineto_range *range,
                        struct kineto_table *found, struct err *err)
{
	const struct kineto_launch *launches = trace->launches.items;
	const struct kineto_kernel *kernels = trace->kernels.items;
	size_t at = first_launch(&trace->launches, range->lane, range->start_ns);
	int rc = 0;

	found->n = 0;
	for (; at < trace->launches.n && launches[at].lane == range->lane &&
	       launches[at].start_ns <= range->end_ns;
	     at++) {
		/* A launched graph is many kernels with one correlation. */
		for (size_t i = first_kernel(&trace->kernels, launches[at].correlation);
		     i < trace->kernels.n && kernels[i].correlation == launches[at].correlation;
		     i++) {
			rc = kineto_table_add(trace, found, &kernels[i], sizeof(*kernels), err);
			if (rc < 0)
				return rc;
		}
	}
	return rc;
}

static struct observed_op op_of(const struct kineto_trace *trace, const struct kineto_range *range,
                                struct kineto_kernel *kernels, size_t n)
{
	int64_t end_ns = kernels[0].start_ns, busy_ns = 0;
	struct observed_op op;

	qsort(kernels, n, sizeof(*kernels), compare_kernel_starts);
	end_ns = kernels[0].start_ns;
	for (size_t i = 0; i < n; i++) {
		int64_t start_ns = kernels[i].start_ns;
		int64_t this_end_ns = start_ns + kernels[i].duration_ns;

		if (this_end_ns <= end_ns)
			continue;
		busy_ns += this_end_ns - (start_ns > end_ns ? start_ns : end_ns);
		end_ns = this_end_ns;
	}
	op = kineto_op(trace, range, kernels[0].start_ns, end_ns);
	op.busy_ns = busy_ns;
	return op;
}

int kineto_add_launched(struct kineto_trace *trace, struct err *err)
{
	const struct kineto_range *ranges = trace->host_ranges.items;
	struct kineto_table found = {0};
	int rc = 0;

	if (trace->launches.n > 1)
		qsort(trace->launches.items, trace->launches.n, sizeof(struct kineto_launch),
		      compare_launches);
	if (trace->kernels.n > 1)
		qsort(trace->kernels.items, trace->kernels.n, sizeof(struct kineto_kernel),
		      compare_kernels);
	for (size_t i = 0; i < trace->host_ranges.n && rc == 0; i++) {
		rc = find_kernels(trace, &ranges[i], &found, err);
		if (rc == 0 && found.n == 0)
			observed_reject(trace->out, "range without kernels");
		else if (rc == 0)
			rc = observed_add(trace->out,
			                  op_of(trace, &ranges[i], found.items, found.n), err);
	}
	free(found.items);
	return rc;
}
