/* kernels.h - the arithmetic of the model on single floats; row_kernels.h has that on rows.
 *
 * With the matrix products that is all a stage computes. It is written for any compiler of C or
 * CUDA; a device calls it from loops or threads of its own. The exponential is written out because
 * the C library's is a call for one number, where a compiler can turn this one into vector
 * instructions, and so that its bits do not depend on the library's version. */
#ifndef ENGINE_MODEL_KERNELS_H
#define ENGINE_MODEL_KERNELS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define MODEL_KERNEL static inline __host__ __device__
#else
#define MODEL_KERNEL static inline
#endif

/* e^x for |x| below 2^20, relative error below 3e-7; beyond what a float can hold, about 1e-38 and
 * 2e38. No number stays none. */
MODEL_KERNEL float kernel_exp(float x)
{
	/* Adding 1.5 * 2^23 rounds to a whole number n and leaves it in the lowest bits. */
	const float rounder = 12582912.0f;
	const int32_t rounder_bits = 0x4b400000;
	const float shifted = x * 1.44269504f + rounder;
	const float n = shifted - rounder;
	/* ln 2 in two parts (Cody and Waite), the first short enough that n times it is exact. */
	const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
	/* Taylor's series: |r| is at most 0.3466, so the first term left out is 1.2e-7. */
	float sum = 1.0f / 720;
	float power;
	int32_t bits;

	sum = sum * r + 1.0f / 120;
	sum = sum * r + 1.0f / 24;
	sum = sum * r + 1.0f / 6;
	sum = sum * r + 0.5f;
	sum = sum * r + 1.0f;
	sum = sum * r + 1.0f;
	/* 2^n by its exponent bits. The limits are set on whole numbers, not on x, because that
	 * compiles without a branch. */
	memcpy(&bits, &shifted, sizeof(bits));
	bits = bits < rounder_bits - 126 ? rounder_bits - 126 : bits;
	bits = bits > rounder_bits + 127 ? rounder_bits + 127 : bits;
	bits = (bits - rounder_bits + 127) * (1 << 23);
	memcpy(&power, &bits, sizeof(power));
	return sum * power;
}

/* GELU in the tanh form of Hendrycks and Gimpel (arXiv 1606.08415), and its slope at x. Both come
 * from one exponential, which is most of the work. */
MODEL_KERNEL float kernel_gelu(float x, float *slope_out)
{
	/* u = sqrt(2 / pi) (x + 0.044715 x^3); (1 + tanh u) / 2 is 1 / (1 + e^-2u). */
	const float minus_two_root = -1.59576912f;
	float cube = 0.044715f * x * x;
	float gate = 1.0f / (1.0f + kernel_exp(minus_two_root * (x + cube * x)));

	*slope_out = gate - x * gate * (1.0f - gate) * minus_two_root * (1.0f + 3.0f * cube);
	return x * gate;
}

/* What Adam needs to know of a step: the rate and the correction of both moments' bias. */
struct kernel_adam_step {
	float rate;              /* learning rate / (1 - first_decay^step) */
	float first_decay;       /* of the mean gradient */
	float second_decay;      /* of the mean squared gradient */
	float second_correction; /* 1 / (1 - second_decay^step) */
	float epsilon;
};

/* One parameter (Kingma and Ba, arXiv 1412.6980). */
MODEL_KERNEL void kernel_adam(struct kernel_adam_step step, float gradient, float *parameter,
                              float *first, float *second)
{
	*first = step.first_decay * *first + (1.0f - step.first_decay) * gradient;
	*second = step.second_decay * *second + (1.0f - step.second_decay) * gradient * gradient;
	*parameter -= step.rate * *first / (sqrtf(*second * step.second_correction) + step.epsilon);
}

#endif
