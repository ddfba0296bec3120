/* cuda_blas.c - finds cuBLAS, and calls it for matrices whose rows lie one behind the other. */
#include "engine/device/cuda_blas.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define AS_TEXT(x)          #x
#define EXPANDED_AS_TEXT(x) AS_TEXT(x)

static const char library_name[] = "libcublas.so." EXPANDED_AS_TEXT(CUBLAS_VER_MAJOR);

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	{"cublasCreate_v2", offsetof(struct cuda_blas, create)},
	{"cublasDestroy_v2", offsetof(struct cuda_blas, destroy)},
	{"cublasSetStream_v2", offsetof(struct cuda_blas, set_stream)},
	{"cublasSetMathMode", offsetof(struct cuda_blas, set_math_mode)},
	{"cublasSetAtomicsMode", offsetof(struct cuda_blas, set_atomics_mode)},
	{"cublasSgemm_v2", offsetof(struct cuda_blas, sgemm)},
	{"cublasGetStatusString", offsetof(struct cuda_blas, status_string)},
};

/* NULL is what a program that was linked with cuBLAS looks in. Others open it along the path that
 * they were built with. It stays: what it has set up in the driver cannot be taken back. */
static int open_library(void **out, struct err *err)
{
	*out = RTLD_DEFAULT;
	if (dlsym(RTLD_DEFAULT, functions[0].name))
		return 0;
	*out = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (*out)
		return 0;
	return err_set(err, -ENODEV, "cuBLAS cannot be opened: %s; it is part of the CUDA toolkit",
	               dlerror());
}

int cuda_blas_find(struct cuda_blas *out, struct err *err)
{
	struct cuda_blas found = {0};
	void *library = NULL;
	int rc = open_library(&library, err);

	for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return err_set(err, -ENODEV, "%s has no %s; install another CUDA toolkit",
			               library_name, functions[i].name);
		memcpy((char *)&found + functions[i].offset, &function, sizeof(function));
	}
	if (rc == 0)
		*out = found;
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
