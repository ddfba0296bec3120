/* double_work.c - kernels: the bodies that a GPU runs, a few items at a time. */
#include <string.h>

#include "engine/device/cuda_kernels.h"
#include "engine/model/work_run.h"
#include "tests/cuda_double/double_internal.h"

enum { ITEMS_AT_ONCE = 7 };

_Static_assert(sizeof(struct work) % sizeof(void *) == 0, "work is looked at word by word");

/* Whatever kind it is, its pointers are the words that are addresses of the GPU's memory; sizes are
 * smaller. */
static void see_memory(struct work *work)
{
	const char *end = (const char *)(work + 1);

	for (char *at = (char *)work; at < end; at += sizeof(void *)) {
		void *word;

		memcpy(&word, at, sizeof(word));
		word = double_seen(word);
		memcpy(at, &word, sizeof(word));
	}
}

static void run_work(void *payload)
{
	const struct work *work = payload;

	for (size_t i = 0; i < work->n_items; i += ITEMS_AT_ONCE)
		work_run(work, i,
		         work->n_items - i < ITEMS_AT_ONCE ? work->n_items - i : ITEMS_AT_ONCE);
}

cudaError_t cuda_kernels_check(void)
{
	return double_enter("cudaFuncGetAttributes");
}

cudaError_t cuda_kernels_run(const struct work *work, cudaStream_t stream)
{
	cudaError_t status = double_enter("cudaLaunchKernel");
	struct work seen = *work;

	see_memory(&seen);
	if (status == cudaSuccess)
		double_issue(stream, run_work, &seen, sizeof(seen));
	return status;
}
