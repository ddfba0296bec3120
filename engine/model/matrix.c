/* matrix.c - matrix products by OpenBLAS on one thread.
 *
 * Only sgemm is used: it copies its operands into panels of its own, so that its bits depend on
 * the shapes and not on where the operands lie. With several threads the split of a sum could
 * depend on what else runs. */
#include "engine/model/matrix_internal.h"

#include <assert.h>
#include <cblas.h>

void matrix_use_one_thread(void)
{
	openblas_set_num_threads(1);
}

void matrix_product(struct matrix a, struct matrix b, struct matrix_out out)
{
	assert(a.n_columns == b.n_rows);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, a.n_rows, b.n_columns, a.n_columns,
	            1.0f, a.at, a.stride, b.at, b.stride, out.keep, out.at, out.stride);
}

void matrix_product_transposed(struct matrix a, struct matrix b, struct matrix_out out)
{
	assert(a.n_columns == b.n_columns);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, a.n_rows, b.n_rows, a.n_columns, 1.0f,
	            a.at, a.stride, b.at, b.stride, out.keep, out.at, out.stride);
}

void matrix_transposed_product(struct matrix a, struct matrix b, struct matrix_out out)
{
	assert(a.n_rows == b.n_rows);
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, a.n_columns, b.n_columns, a.n_rows,
	            1.0f, a.at, a.stride, b.at, b.stride, out.keep, out.at, out.stride);
}
