/* rows.c - norms, linear maps and GELU over all rows of a microbatch. */
#include "engine/model/rows_internal.h"

#include <string.h>

#include "engine/model/matrix_internal.h"
#include "engine/model/model.h"
#include "engine/model/row_kernels.h"

static size_t row_start(int row, int width)
{
	return (size_t)row * (size_t)width;
}

void row_add(int n, const float *row, float *sum)
{
	for (int i = 0; i < n; i++)
		sum[i] += row[i];
}

void norm_forward(const struct norm *norm, int n_rows, const float *x,
                  const struct normal_rows *out, float *y)
{
	const int width = norm->width;

	for (int r = 0; r < n_rows; r++) {
		float *normal = out->normal + row_start(r, width);
		float *y_row = y + row_start(r, width);

		out->scale[r] = kernel_layer_norm(x + row_start(r, width), width, normal);
		for (int i = 0; i < width; i++)
			y_row[i] = normal[i] * norm->gain[i] + norm->bias[i];
	}
}

void norm_backward_input(const struct norm *norm, int n_rows, const struct normal_rows *x,
                         const float *d_y, float *d_x)
{
	const int width = norm->width;
	float d[MODEL_EMBEDDING_MAX];

	for (int r = 0; r < n_rows; r++) {
		const float *d_y_row = d_y + row_start(r, width);

		for (int i = 0; i < width; i++)
			d[i] = d_y_row[i] * norm->gain[i];
		kernel_layer_norm_backward(x->normal + row_start(r, width), x->scale[r], width, d);
		row_add(width, d, d_x + row_start(r, width));
	}
}

void norm_backward_weight(const struct norm *gradients, int n_rows, const struct normal_rows *x,
                          const float *d_y)
{
	const int width = gradients->width;

	for (int r = 0; r < n_rows; r++) {
		const float *d_y_row = d_y + row_start(r, width);
		const float *normal = x->normal + row_start(r, width);

		for (int i = 0; i < width; i++)
			gradients->gain[i] += d_y_row[i] * normal[i];
		row_add(width, d_y_row, gradients->bias);
	}
}

static struct matrix rows_of(const float *at, int n_rows, int width)
{
	return (struct matrix){at, n_rows, width, width};
}

void linear_add(const struct linear *linear, int n_rows, const float *x, float *y)
{
	for (int r = 0; linear->bias && r < n_rows; r++)
		row_add(linear->n_out, linear->bias, y + row_start(r, linear->n_out));
	matrix_product(rows_of(x, n_rows, linear->n_in),
	               rows_of(linear->weight, linear->n_in, linear->n_out),
	               (struct matrix_out){y, linear->n_out, 1});
}

void linear_forward(const struct linear *linear, int n_rows, const float *x, float *y)
{
	const size_t row_bytes = (size_t)linear->n_out * sizeof(float);

	for (int r = 0; linear->bias && r < n_rows; r++)
		memcpy(y + row_start(r, linear->n_out), linear->bias, row_bytes);
	matrix_product(rows_of(x, n_rows, linear->n_in),
	               rows_of(linear->weight, linear->n_in, linear->n_out),
	               (struct matrix_out){y, linear->n_out, linear->bias ? 1 : 0});
}

void linear_backward_input(const struct linear *linear, int n_rows, const float *d_y, float *d_x)
{
	matrix_product_transposed(rows_of(d_y, n_rows, linear->n_out),
	                          rows_of(linear->weight, linear->n_in, linear->n_out),
	                          (struct matrix_out){d_x, linear->n_in, 0});
}

void linear_backward_weight(const struct linear *gradients, int n_rows, const float *x,
                            const float *d_y)
{
	matrix_transposed_product(rows_of(x, n_rows, gradients->n_in),
	                          rows_of(d_y, n_rows, gradients->n_out),
	                          (struct matrix_out){gradients->weight, gradients->n_out, 1});
	for (int r = 0; gradients->bias && r < n_rows; r++)
		row_add(gradients->n_out, d_y + row_start(r, gradients->n_out), gradients->bias);
}

void gelu_forward(size_t n, float *x, float *y)
{
	for (size_t i = 0; i < n; i++) {
		float slope;

		y[i] = kernel_gelu(x[i], &slope);
		x[i] = slope;
	}
}

void gelu_backward(size_t n, const float *slope, float *d_y)
{
	for (size_t i = 0; i < n; i++)
		d_y[i] *= slope[i];
}
