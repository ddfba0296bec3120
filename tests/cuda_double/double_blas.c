/* double_blas.c - the part of cuBLAS that is used, by plain loops. */
#include <cublas_v2.h>
#include <stdlib.h>

#include "tests/cuda_double/double_internal.h"

struct cublasContext {
	cudaStream_t stream;
	cublasMath_t math_mode;
};

static cublasStatus_t enter(const char *name)
{
	return double_enter(name) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
	                                         : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *out)
{
	cublasStatus_t status = enter("cublasCreate");

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	*out = calloc(1, sizeof(**out));
	return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	return enter("cublasSetStream");
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	handle->math_mode = mode;
	return enter("cublasSetMathMode");
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
	(void)handle;
	if (mode != CUBLAS_ATOMICS_NOT_ALLOWED)
		double_violation("sums in an order that nobody knows are allowed");
	return enter("cublasSetAtomicsMode");
}

const char *cublasGetStatusString(cublasStatus_t status)
{
	return status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
	                                                : "another error of cuBLAS";
}

/* Element (r, c) of a factor is at[r * row_step + c * column_step]. */
struct factor {
	const float *at;
	size_t row_step, column_step;
};

struct multiplication {
	struct factor a, b;
	float *out;
	size_t n_rows, n_columns, n_terms, out_stride;
	float keep;
};

static void run_multiplication(void *payload)
{
	const struct multiplication *m = payload;

	for (size_t column = 0; column < m->n_columns; column++) {
		const float *b = m->b.at + column * m->b.column_step;

		for (size_t row = 0; row < m->n_rows; row++) {
			const float *a = m->a.at + row * m->a.row_step;
			float *out = m->out + column * m->out_stride + row;
			float sum = 0;

			for (size_t k = 0; k < m->n_terms; k++)
				sum += a[k * m->a.column_step] * b[k * m->b.row_step];
			*out = m->keep != 0 ? m->keep * *out + sum : sum;
		}
	}
}

static void *seen_of_own(const float *at)
{
	if (!double_is_own(at))
		double_violation("a product of what is not in the memory of the GPU");
	return double_seen(at);
}

static struct factor factor_of(const float *given, cublasOperation_t operation, int stride)
{
	const size_t step = (size_t)stride;
	const float *at = seen_of_own(given);

	return operation == CUBLAS_OP_N ? (struct factor){at, 1, step}
	                                : (struct factor){at, step, 1};
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a_operation,
                              cublasOperation_t b_operation, int n_rows, int n_columns, int n_terms,
                              const float *factor, const float *a, int a_stride, const float *b,
                              int b_stride, const float *keep, float *out, int out_stride)
{
	const struct multiplication m = {
		.a = factor_of(a, a_operation, a_stride),
		.b = factor_of(b, b_operation, b_stride),
		.out = seen_of_own(out),
		.n_rows = (size_t)n_rows,
		.n_columns = (size_t)n_columns,
		.n_terms = (size_t)n_terms,
		.out_stride = (size_t)out_stride,
		.keep = *keep,
	};
	cublasStatus_t status = enter("cublasSgemm");

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	if (handle->math_mode != CUBLAS_PEDANTIC_MATH || *factor != 1)
		double_violation("a product in less than float32, or scaled");
	double_issue(handle->stream, run_multiplication, &m, sizeof(m));
	return CUBLAS_STATUS_SUCCESS;
}
