/* cuda_blas.h - matrix products on a GPU, by cuBLAS.
 *
 * The library is 0.6 GB and belongs to the toolkit, so it is opened with the first device, not with
 * the program: that starts where neither it nor a driver is. */
#ifndef ENGINE_DEVICE_CUDA_BLAS_H
#define ENGINE_DEVICE_CUDA_BLAS_H

#include <cublas_v2.h>

#include "engine/base/err.h"
#include "engine/model/arithmetic.h"

/* The functions that are used. */
struct cuda_blas {
	__typeof__(cublasCreate_v2) *create;
	__typeof__(cublasDestroy_v2) *destroy;
	__typeof__(cublasSetStream_v2) *set_stream;
	__typeof__(cublasSetMathMode) *set_math_mode;
	__typeof__(cublasSetAtomicsMode) *set_atomics_mode;
	__typeof__(cublasSgemm_v2) *sgemm;
	__typeof__(cublasGetStatusString) *status_string;
};

/* -ENODEV: the library is missing, or is not what its name says. */
int cuda_blas_find(struct cuda_blas *out, struct err *err);

/* A handle whose products are put on the stream; float32 as it stands, without TF32, and sums in an
 * order that only the shapes decide. */
cublasStatus_t cuda_blas_open(const struct cuda_blas *blas, cudaStream_t stream,
                              cublasHandle_t *out);

cublasStatus_t cuda_blas_multiply(const struct cuda_blas *blas, cublasHandle_t handle,
                                  const struct product *product);

#endif
