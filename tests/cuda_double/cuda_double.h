/* cuda_double.h - a test double of the part of CUDA that is used here, on threads of the CPU.
 *
 * It is linked in the place of the CUDA runtime, cuBLAS and NCCL. Each stream is a thread that runs
 * what is issued to it in its order; a copy takes a while to begin. What would go wrong on a GPU
 * only now and then ends the process here, with a sentence on stderr: an event that is read before
 * it has ended, a stream that is used after its destruction, memory of the host that changes or is
 * freed while a copy of it is under way, memory that nobody has allocated, memory of the GPU that
 * the host reads or writes, a kernel beside its memory, a host function that calls CUDA;
 * communicators of NCCL whose ranks are on one GPU or whose groups do not match, or that are used
 * in a moment when they may not be.
 *
 * CUDA_DOUBLE_FAIL="cudaMemcpyAsync:3" in the environment lets the third such call fail;
 * ncclAsyncError and ncclLaunch stand for what fails or hangs behind NCCL's calls.
 * CUDA_DOUBLE_GPUS says how many GPUs there are, 1 unless it is set, CUDA_DOUBLE_MEMORY how many
 * bytes of memory each has, 16 GiB unless it is set, CUDA_DOUBLE_DRIVER for which CUDA their driver
 * is, 12020 for 12.2; 0: there is none. Nothing in a report may come from it: its
 * GPU is called what it is. */
#ifndef TESTS_CUDA_DOUBLE_CUDA_DOUBLE_H
#define TESTS_CUDA_DOUBLE_CUDA_DOUBLE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* The nth call from now of the function of this name fails as that function fails; NULL: none
 * does. name is borrowed. */
void cuda_double_fail(const char *name, int nth);

/* The same, but with this error. */
void cuda_double_fail_as(const char *name, int nth, cudaError_t status);

/* Wait until a group of NCCL has begun to move in this process: its memory is not to be touched. */
void cuda_double_await_group(void);

/* From here on ncclCommAbort stands until that is over; wait until so many stand in this process.
 */
void cuda_double_hold_aborts(bool is_on);
void cuda_double_await_aborts(int n);

#endif
