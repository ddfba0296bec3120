/* work_spans.h - what each kind of work does to n of its items from first on, on either side.
 *
 * A thread of a GPU takes one item, a CPU all of them in one call, so that the loops over rows and
 * columns are those that a compiler can turn into vector instructions. */
#ifndef ENGINE_MODEL_WORK_SPANS_H
#define ENGINE_MODEL_WORK_SPANS_H

#include "engine/model/row_kernels.h"
#include "engine/model/work.h"

MODEL_KERNEL void span_clear(float *at, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		at[i] = 0;
}

MODEL_KERNEL void span_norm(const struct work_norm *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width;

	for (size_t r = first; r < first + n; r++) {
		float *normal = w->normal + r * width;
		float *y = w->y + r * width;

		w->scale[r] = kernel_layer_norm(w->x + r * width, w->width, normal);
		for (size_t i = 0; i < width; i++)
			y[i] = normal[i] * w->gain[i] + w->bias[i];
	}
}

MODEL_KERNEL void span_norm_backward(const struct work_norm_backward *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width;

	for (size_t r = first; r < first + n; r++)
		kernel_layer_norm_backward(w->normal + r * width, w->scale[r], w->gain,
		                           w->d_y + r * width, w->width, w->d_x + r * width);
}

MODEL_KERNEL void span_norm_weight(const struct work_norm_weight *w, size_t first, size_t n)
{
	for (int r = 0; r < w->n_rows; r++) {
		const float *d_y = w->d_y + (size_t)r * (size_t)w->width;
		const float *normal = w->normal + (size_t)r * (size_t)w->width;

		for (size_t i = first; i < first + n; i++)
			w->gain[i] += d_y[i] * normal[i];
		for (size_t i = first; i < first + n; i++)
			w->bias[i] += d_y[i];
	}
}

MODEL_KERNEL void span_set_rows(const struct work_rows *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width;

	for (size_t r = first; r < first + n; r++)
		for (size_t i = 0; i < width; i++)
			w->y[r * width + i] = w->row[i];
}

MODEL_KERNEL void span_add_to_rows(const struct work_rows *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width;

	for (size_t r = first; r < first + n; r++)
		for (size_t i = 0; i < width; i++)
			w->y[r * width + i] += w->row[i];
}

MODEL_KERNEL void span_sum_columns(const struct work_columns *w, size_t first, size_t n)
{
	for (int r = 0; r < w->n_rows; r++) {
		const float *x = w->x + (size_t)r * (size_t)w->width;

		for (size_t i = first; i < first + n; i++)
			w->sums[i] += x[i];
	}
}

MODEL_KERNEL void span_gelu(const struct work_gelu *w, size_t first, size_t n)
{
	float *x = w->x, *y = w->y;

	for (size_t i = first; i < first + n; i++) {
		float slope;

		y[i] = kernel_gelu(x[i], &slope);
		x[i] = slope;
	}
}

MODEL_KERNEL void span_gelu_backward(const struct work_gelu_backward *w, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		w->d_y[i] *= w->slope[i];
}

MODEL_KERNEL void span_softmax(const struct work_softmax *w, size_t first, size_t n)
{
	const size_t n_tokens = (size_t)w->n_tokens;

	for (size_t r = first; r < first + n; r++) {
		const size_t t = r % n_tokens;
		float *row = w->rows + r * n_tokens;

		kernel_softmax(row, (int)t + 1, w->scale);
		span_clear(row, t + 1, n_tokens - t - 1);
	}
}

MODEL_KERNEL void span_softmax_backward(const struct work_softmax *w, size_t first, size_t n)
{
	const size_t n_tokens = (size_t)w->n_tokens;

	for (size_t r = first; r < first + n; r++) {
		const size_t t = r % n_tokens;
		float *row = w->rows + r * n_tokens;

		kernel_softmax_backward(w->probabilities + r * n_tokens, (int)t + 1, w->scale, row);
		span_clear(row, t + 1, n_tokens - t - 1);
	}
}

/* Of a row; the token behind it is its target. */
MODEL_KERNEL const uint8_t *token_of(const uint8_t *tokens, int n_tokens, size_t row)
{
	const size_t n = (size_t)n_tokens;

	return tokens + row / n * (n + 1) + row % n;
}

#endif
