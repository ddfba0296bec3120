/* row_kernels.h - the arithmetic of the model on rows of plain floats.
 *
 * Sums over a row run in KERNEL_LANES partial sums, a fixed order that vector instructions can
 * keep. Rows given to one function do not overlap. */
#ifndef ENGINE_MODEL_ROW_KERNELS_H
#define ENGINE_MODEL_ROW_KERNELS_H

#include "engine/model/kernels.h"

enum { KERNEL_LANES = 8 };

/* The sum of a[i] * b[i]. */
MODEL_KERNEL float kernel_dot(const float *a, const float *b, int n)
{
	float sum[KERNEL_LANES] = {0};
	int i = 0;

	for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
		for (int k = 0; k < KERNEL_LANES; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum[i % KERNEL_LANES] += a[i] * b[i];
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

MODEL_KERNEL float kernel_sum(const float *a, int n)
{
	float sum[KERNEL_LANES] = {0};
	int i = 0;

	for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
		for (int k = 0; k < KERNEL_LANES; k++)
			sum[k] += a[i + k];
	for (; i < n; i++)
		sum[i % KERNEL_LANES] += a[i];
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* normal = (x - mean) / deviation; returns 1 / deviation. n is at least 1. */
MODEL_KERNEL float kernel_layer_norm(const float *x, int n, float *normal)
{
	float mean = kernel_sum(x, n) / (float)n;
	float scale;

	for (int i = 0; i < n; i++)
		normal[i] = x[i] - mean;
	scale = 1.0f / sqrtf(kernel_dot(normal, normal, n) / (float)n + 1e-5f);
	for (int i = 0; i < n; i++)
		normal[i] *= scale;
	return scale;
}

/* The sum of a[i] * b[i] * c[i]. */
MODEL_KERNEL float kernel_dot3(const float *a, const float *b, const float *c, int n)
{
	float sum[KERNEL_LANES] = {0};
	int i = 0;

	for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
		for (int k = 0; k < KERNEL_LANES; k++)
			sum[k] += a[i + k] * b[i + k] * c[i + k];
	for (; i < n; i++)
		sum[i % KERNEL_LANES] += a[i] * b[i] * c[i];
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* d_x += the gradient of the x that normal was made from; that of normal is d_y * gain. */
MODEL_KERNEL void kernel_layer_norm_backward(const float *normal, float scale, const float *gain,
                                             const float *d_y, int n, float *d_x)
{
	float mean = kernel_dot(d_y, gain, n) / (float)n;
	float share = kernel_dot3(d_y, gain, normal, n) / (float)n;

	for (int i = 0; i < n; i++)
		d_x[i] += scale * (d_y[i] * gain[i] - mean - normal[i] * share);
}

MODEL_KERNEL float kernel_most(const float *x, int n)
{
	float most[KERNEL_LANES];
	int i = 0;

	for (int k = 0; k < KERNEL_LANES; k++)
		most[k] = x[0];
	for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
		for (int k = 0; k < KERNEL_LANES; k++)
			most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
	for (; i < n; i++)
		most[0] = x[i] > most[0] ? x[i] : most[0];
	for (int k = 1; k < KERNEL_LANES; k++)
		most[0] = most[k] > most[0] ? most[k] : most[0];
	return most[0];
}

/* x becomes softmax(x * scale), scale positive; returns what -log of an element adds to its minus
 * scaled x: the logarithm of the sum of exponentials. */
MODEL_KERNEL float kernel_softmax(float *x, int n, float scale)
{
	float most = kernel_most(x, n);
	float sum, inverse;

	for (int i = 0; i < n; i++)
		x[i] = kernel_exp((x[i] - most) * scale);
	sum = kernel_sum(x, n);
	inverse = 1.0f / sum;
	for (int i = 0; i < n; i++)
		x[i] *= inverse;
	return most * scale + logf(sum);
}

/* d, the gradient of the probabilities p, becomes that of the x they were made from. */
MODEL_KERNEL void kernel_softmax_backward(const float *p, int n, float scale, float *d)
{
	float share = kernel_dot(p, d, n);

	for (int i = 0; i < n; i++)
		d[i] = scale * p[i] * (d[i] - share);
}

/* x becomes probabilities; returns -log of the target's. */
MODEL_KERNEL float kernel_cross_entropy(float *x, int n, int target)
{
	float wanted = x[target];

	return kernel_softmax(x, n, 1.0f) - wanted;
}

/* p, probabilities, becomes the gradient of scale times their cross-entropy. */
MODEL_KERNEL void kernel_cross_entropy_backward(int n, int target, float scale, float *p)
{
	for (int i = 0; i < n; i++)
		p[i] *= scale;
	p[target] -= scale;
}

#endif
