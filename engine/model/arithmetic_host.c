/* arithmetic_host.c - computes at once, in the caller's thread; matrix products by OpenBLAS.
 *
 * Only sgemm is used: it copies its operands into panels of its own, so that its bits depend on
 * the shapes and not on where the operands lie. With several threads the split of a sum could
 * depend on what else runs. */
#include <assert.h>
#include <cblas.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/arithmetic.h"
#include "engine/model/work_run.h"

enum { CACHE_LINE_BYTES = 64 };

/* Memory that nobody touches costs nothing, such as slots that a schedule never uses. */
static void *host_memory(struct arithmetic *arithmetic, void *memory, size_t n_bytes, bool is_host)
{
	(void)arithmetic;
	(void)is_host;
	if (memory) {
		free(memory);
		return NULL;
	}
	if (n_bytes > PTRDIFF_MAX / 2)
		return NULL;
	return aligned_alloc(CACHE_LINE_BYTES, (n_bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES *
	                                               CACHE_LINE_BYTES);
}

static void host_copy(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes)
{
	(void)arithmetic;
	memcpy(to, from, n_bytes);
}

static void host_run(struct arithmetic *arithmetic, const struct work *work)
{
	(void)arithmetic;
	work_run(work, 0, work->n_items);
}

static void host_multiply(struct arithmetic *arithmetic, const struct product *product)
{
	const struct matrix *a = &product->a, *b = &product->b;
	const int n_rows = product->is_a_transposed ? a->n_columns : a->n_rows;
	const int n_terms = product->is_a_transposed ? a->n_rows : a->n_columns;
	const int n_columns = product->is_b_transposed ? b->n_rows : b->n_columns;

	(void)arithmetic;
	assert(n_terms == (product->is_b_transposed ? b->n_columns : b->n_rows));
	cblas_sgemm(CblasRowMajor, product->is_a_transposed ? CblasTrans : CblasNoTrans,
	            product->is_b_transposed ? CblasTrans : CblasNoTrans, n_rows, n_columns,
	            n_terms, 1.0f, a->at, a->stride, b->at, b->stride,
	            product->is_added ? 1.0f : 0.0f, product->out, product->out_stride);
}

static int host_check(struct arithmetic *arithmetic, struct err *err)
{
	(void)arithmetic;
	(void)err;
	return 0;
}

static const struct arithmetic_ops host_ops = {
	.name = "host",
	.memory = host_memory,
	.copy = host_copy,
	.run = host_run,
	.multiply = host_multiply,
	.check = host_check,
	.wait = host_check,
};

struct arithmetic *arithmetic_host(void)
{
	static struct arithmetic host = {&host_ops};

	openblas_set_num_threads(1);
	return &host;
}
