/* double_work.c - kernels: the bodies that a GPU runs, a few items at a time. */
#include "engine/device/cuda_kernels.h"
#include "engine/model/work_run.h"
#include "tests/cuda_double/double_internal.h"

enum { ITEMS_AT_ONCE = 7 };

static void run_work(void *payload)
{
	const struct work *work = payload;

	for (size_t i = 0; i < work->n_items; i += ITEMS_AT_ONCE)
		work_run(work, i,
		         work->n_items - i < ITEMS_AT_ONCE ? work->n_items - i : ITEMS_AT_ONCE);
}

cudaError_t cuda_kernels_run(const struct work *work, cudaStream_t stream)
{
	cudaError_t status = double_enter("cudaLaunchKernel");

	if (status == cudaSuccess)
		double_issue(stream, run_work, work, sizeof(*work));
	return status;
}
