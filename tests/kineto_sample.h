/* kineto_sample.h - traces as the PyTorch profiler writes them, of a pipeline whose every time is
 * known.
 *
 * Op (stage, kind, mb) of iteration i takes kineto_sample_op_ns(). A stage runs all its forwards,
 * then for each microbatch the backward for the input and for the weights. Forward transfers are
 * NCCL kernels of 1 MiB; a stage's receive is launched early and ends when its forward starts. */
#ifndef TESTS_KINETO_SAMPLE_H
#define TESTS_KINETO_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct kineto_sample {
	int rank;
	int n_ranks;
	int first_iteration;
	int n_iterations;
	int n_microbatches;
	int n_kernels;           /* an op */
	int n_host_ops;          /* cpu_op events a kernel: what most of a trace is */
	bool has_device_ranges;  /* gpu_user_annotation beside the host's */
	bool has_whole_backward; /* one B instead of I and W */
	int64_t base_ns;         /* baseTimeNanoseconds; 0: there is none */
	int64_t clock_ns;        /* how far this rank's clock is ahead */
};

enum { KINETO_MESSAGE_BYTES = 1 << 20 };

/* kind: 'F', 'I' or 'W'. */
int64_t kineto_sample_op_ns(int stage, char kind, int microbatch);

/* Append the trace; an error of out is the caller's to see. */
void kineto_sample_write(const struct kineto_sample *sample, FILE *out);

#endif
