/* observed_order.c - the order in which stages ran their ops, as foreign files say.
 *
 * What was observed is written as PyTorch's CSV and read back, so that one reader judges every
 * order that comes from outside. */
#include "engine/format/observed_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/action_name.h"
#include "engine/format/observed_profile.h"
#include "engine/format/order_file.h"

/* Iterations that are tried: the last ones of a run are as good as the first, or as bad. */
enum { TRIES_MAX = 16 };

struct orderer {
	const struct observed *observed;
	const struct observed_op **ops; /* computations behind the warm-up, sorted */
	size_t n_ops;
};

static int segment_of(const struct observed *observed, const struct observed_op *op)
{
	return observed->sources[op->source].segment;
}

/* By the run in the file, iteration, stage and start; those that were timed together start apart.
 */
static int compare_ops(const void *a, const void *b, void *context)
{
	const struct observed_op *x = *(const struct observed_op *const *)a;
	const struct observed_op *y = *(const struct observed_op *const *)b;
	const struct observed *observed = context;
	int x_segment = segment_of(observed, x), y_segment = segment_of(observed, y);

	if (x_segment != y_segment)
		return x_segment < y_segment ? -1 : 1;
	if (x->iteration != y->iteration)
		return x->iteration < y->iteration ? -1 : 1;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool is_of_same(const struct orderer *orderer, size_t a, size_t b)
{
	const struct observed_op *x = orderer->ops[a], *y = orderer->ops[b];

	return x->iteration == y->iteration &&
	       segment_of(orderer->observed, x) == segment_of(orderer->observed, y);
}

/* The rows of one iteration, ops [first, first + n). */
static void add_rows(const struct orderer *orderer, size_t first, size_t n, struct strbuf *out)
{
	int stage = 0;

	for (size_t i = 0; i < n; i++) {
		const struct observed_op *op = orderer->ops[first + i];

		/* A stage without ops is an empty row, which the reader refuses by number. */
		while (stage < op->stage) {
			strbuf_add_char(out, '\n');
			stage++;
		}
		if (out->length > 0 && out->text[out->length - 1] != '\n')
			strbuf_add_char(out, ',');
		action_name_add((enum observed_kind)op->kind, op->stage, op->microbatch, out);
	}
	strbuf_add_char(out, '\n');
}

static int try_iteration(const struct orderer *orderer, size_t first, size_t n, struct plan *out,
                         struct err *err)
{
	int iteration = orderer->ops[first]->iteration;
	struct strbuf rows = {0};
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "iteration %d", iteration);
	add_rows(orderer, first, n, &rows);
	if (rows.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory");
	else
		rc = order_file_parse(name, strbuf_text(&rows), rows.length, out, err);
	strbuf_fini(&rows);
	return rc;
}

static int try_iterations(const struct orderer *orderer, struct plan *out, int *iteration_out,
                          struct err *err)
{
	int rc = err_set(err, -EINVAL, "no forwards or backwards of any stage");
	size_t at = 0;

	for (int i = 0; i < TRIES_MAX && at < orderer->n_ops; i++) {
		size_t n = 1;

		while (at + n < orderer->n_ops && is_of_same(orderer, at, at + n))
			n++;
		rc = try_iteration(orderer, at, n, out, err);
		if (rc == 0)
			*iteration_out = orderer->ops[at]->iteration;
		if (rc != -EINVAL)
			return rc;
		at += n;
	}
	return rc;
}

int observed_order_make(const struct observed *observed, struct plan *out, int *iteration_out,
                        struct err *err)
{
	struct orderer orderer = {.observed = observed};
	int32_t *first;
	int rc = observed_warmup(observed, &first, err);

	if (rc < 0)
		return rc;
	orderer.ops = array_new(observed->n_ops, sizeof(*orderer.ops));
	if (orderer.ops == NULL) {
		free(first);
		return err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	}
	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];

		if (op->kind <= OBSERVED_BACKWARD_WEIGHT && op->stage >= 0 && op->microbatch >= 0 &&
		    op->iteration >= first[op->source])
			orderer.ops[orderer.n_ops++] = op;
	}
	if (orderer.n_ops > 1)
		qsort_r(orderer.ops, orderer.n_ops, sizeof(*orderer.ops), compare_ops,
		        (void *)observed);
	rc = try_iterations(&orderer, out, iteration_out, err);
	free(orderer.ops);
	free(first);
	return rc;
}
