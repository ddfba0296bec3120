/* list_ops.c - the ops at which faults of a scenario start or end. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/scenario/scenario.h"

static int order_of(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int scenario_compare_ops(const struct moment *a, const struct moment *b)
{
	int order = order_of(a->value, b->value);

	if (order == 0)
		order = order_of(a->stage, b->stage);
	if (order == 0)
		order = order_of((int64_t)a->op, (int64_t)b->op);
	if (order == 0)
		order = order_of(a->microbatch, b->microbatch);
	return order;
}

static int compare(const void *left, const void *right)
{
	return scenario_compare_ops(left, right);
}

int scenario_list_ops(const struct scenario *scenario, struct moment **out, size_t *n_out)
{
	size_t n = 0, n_different = 0;
	struct moment *ops;

	for (size_t i = 0; i < scenario->n_faults; i++)
		n += (size_t)(scenario->faults[i].start.kind == MOMENT_OP) +
		     (size_t)(scenario->faults[i].end.kind == MOMENT_OP);
	ops = array_new(n, sizeof(*ops));
	if (!ops)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (fault->start.kind == MOMENT_OP)
			ops[n++] = fault->start;
		if (fault->end.kind == MOMENT_OP)
			ops[n++] = fault->end;
	}
	qsort(ops, n, sizeof(*ops), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare(&ops[i], &ops[n_different - 1]) != 0)
			ops[n_different++] = ops[i];
	*out = ops;
	*n_out = n_different;
	return 0;
}
