/* cuda_pacer.h - lets streams of a GPU go on at their moments.
 *
 * A stream stands at a gate until the number that it waits for is reached: a word of host memory
 * that the GPU reads. Numbers only grow, and are opened in their order. */
#ifndef ENGINE_DEVICE_CUDA_PACER_H
#define ENGINE_DEVICE_CUDA_PACER_H

#include <stdint.h>

#include "engine/base/err.h"

struct cuda_pacer;

/* With a thread of its own, which sleeps while there is nothing to open. */
int cuda_pacer_new(struct cuda_pacer **out, struct err *err);

/* From any thread: open the gate up to number at at_ns (CLOCK_MONOTONIC), which is now if it is in
 * the past. Does not block but for the lock. */
void cuda_pacer_open(struct cuda_pacer *pacer, uint32_t *gate, uint32_t number, int64_t at_ns);

/* The thread ends, and nothing is opened any more but at once. */
void cuda_pacer_stop(struct cuda_pacer *pacer);

/* When nobody calls it any more. NULL: nothing. */
void cuda_pacer_free(struct cuda_pacer *pacer);

#endif
