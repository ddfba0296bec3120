/* cuda_blas.c - finds cuBLAS, and calls it for matrices whose rows lie one behind the other. */
#include "engine/device/cuda_blas.h"

#include <stddef.h>

#include "engine/base/library.h"

#define AS_TEXT(x)          #x
#define EXPANDED_AS_TEXT(x) AS_TEXT(x)

static const char library_name[] = "libcublas.so." EXPANDED_AS_TEXT(CUBLAS_VER_MAJOR);

static const struct library_function functions[] = {
	{"cublasCreate_v2", offsetof(struct cuda_blas, create)},
	{"cublasDestroy_v2", offsetof(struct cuda_blas, destroy)},
	{"cublasSetStream_v2", offsetof(struct cuda_blas, set_stream)},
	{"cublasSetMathMode", offsetof(struct cuda_blas, set_math_mode)},
	{"cublasSetAtomicsMode", offsetof(struct cuda_blas, set_atomics_mode)},
	{"cublasSgemm_v2", offsetof(struct cuda_blas, sgemm)},
	{"cublasGetStatusString", offsetof(struct cuda_blas, status_string)},
};

int cuda_blas_find(struct cuda_blas *out, struct err *err)
{
	struct cuda_blas found = {0};
	int rc = library_find(library_name, functions, sizeof(functions) / sizeof(functions[0]),
	                      &found, err);

	if (rc == 0)
		*out = found;
	else
		(void)err_wrap(err, "cuBLAS, a part of the CUDA toolkit, cannot be opened");
	return rc;
}

cublasStatus_t cuda_blas_open(const struct cuda_blas *blas, cudaStream_t stream,
                              cublasHandle_t *out)
{
	cublasHandle_t handle = NULL;
	cublasStatus_t status = blas->create(&handle);

	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	status = blas->set_math_mode(handle, CUBLAS_PEDANTIC_MATH);
	if (status == CUBLAS_STATUS_SUCCESS)
		status = blas->set_atomics_mode(handle, CUBLAS_ATOMICS_NOT_ALLOWED);
	if (status == CUBLAS_STATUS_SUCCESS)
		status = blas->set_stream(handle, stream);
	if (status == CUBLAS_STATUS_SUCCESS)
		*out = handle;
	else
		(void)blas->destroy(handle);
	return status;
}

/* cuBLAS takes columns that lie one behind the other. To it these are the transposed matrices, and
 * (a b)' = b' a'. */
cublasStatus_t cuda_blas_multiply(const struct cuda_blas *blas, cublasHandle_t handle,
                                  const struct product *product)
{
	const struct matrix *a = &product->a, *b = &product->b;
	const int n_rows = product->is_a_transposed ? a->n_columns : a->n_rows;
	const int n_terms = product->is_a_transposed ? a->n_rows : a->n_columns;
	const int n_columns = product->is_b_transposed ? b->n_rows : b->n_columns;
	const float factor = 1, keep = product->is_added ? 1 : 0;

	return blas->sgemm(handle, product->is_b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
	                   product->is_a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n_columns, n_rows,
	                   n_terms, &factor, b->at, b->stride, a->at, a->stride, &keep,
	                   product->out, product->out_stride);
}
