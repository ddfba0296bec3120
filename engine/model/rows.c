/* rows.c - norms, linear maps and GELU over all rows of a microbatch. */
#include "engine/model/rows_internal.h"

#include "engine/model/work.h"

void norm_forward(struct rows rows, const struct norm *norm, const float *x,
                  const struct normal_rows *out, float *y)
{
	const struct work work = {
		.kind = WORK_NORM,
		.n_items = (size_t)rows.n,
		.norm = {.x = x,
	                 .gain = norm->gain,
	                 .bias = norm->bias,
	                 .normal = out->normal,
	                 .scale = out->scale,
	                 .y = y,
	                 .width = norm->width},
	};

	arithmetic_run(rows.arithmetic, &work);
}

void norm_backward_input(struct rows rows, const struct norm *norm, const struct normal_rows *x,
                         const float *d_y, float *d_x)
{
	const struct work work = {
		.kind = WORK_NORM_BACKWARD,
		.n_items = (size_t)rows.n,
		.norm_backward = {.gain = norm->gain,
	                          .normal = x->normal,
	                          .scale = x->scale,
	                          .d_y = d_y,
	                          .d_x = d_x,
	                          .width = norm->width},
	};

	arithmetic_run(rows.arithmetic, &work);
}

void norm_backward_weight(struct rows rows, const struct norm *gradients,
                          const struct normal_rows *x, const float *d_y)
{
	const struct work work = {
		.kind = WORK_NORM_WEIGHT,
		.n_items = (size_t)gradients->width,
		.norm_weight = {.normal = x->normal,
	                        .d_y = d_y,
	                        .gain = gradients->gain,
	                        .bias = gradients->bias,
	                        .width = gradients->width,
	                        .n_rows = rows.n},
	};

	arithmetic_run(rows.arithmetic, &work);
}

static struct matrix matrix_of(const float *at, int n_rows, int width)
{
	return (struct matrix){at, n_rows, width, width};
}

/* The bias comes first, so that the product is added to it. */
static void add_product(struct rows rows, const struct linear *linear, const float *x, float *y,
                        bool is_added)
{
	const struct product product = {
		.a = matrix_of(x, rows.n, linear->n_in),
		.b = matrix_of(linear->weight, linear->n_in, linear->n_out),
		.out = y,
		.out_stride = linear->n_out,
		.is_added = is_added || linear->bias,
	};
	const struct work work = {
		.kind = is_added ? WORK_ADD_TO_ROWS : WORK_SET_ROWS,
		.n_items = (size_t)rows.n,
		.rows = {.row = linear->bias, .y = y, .width = linear->n_out},
	};

	if (linear->bias)
		arithmetic_run(rows.arithmetic, &work);
	arithmetic_multiply(rows.arithmetic, &product);
}

void linear_add(struct rows rows, const struct linear *linear, const float *x, float *y)
{
	add_product(rows, linear, x, y, true);
}

void linear_forward(struct rows rows, const struct linear *linear, const float *x, float *y)
{
	add_product(rows, linear, x, y, false);
}

void linear_backward_input(struct rows rows, const struct linear *linear, const float *d_y,
                           float *d_x)
{
	const struct product product = {
		.a = matrix_of(d_y, rows.n, linear->n_out),
		.b = matrix_of(linear->weight, linear->n_in, linear->n_out),
		.is_b_transposed = true,
		.out = d_x,
		.out_stride = linear->n_in,
	};

	arithmetic_multiply(rows.arithmetic, &product);
}

void linear_backward_weight(struct rows rows, const struct linear *gradients, const float *x,
                            const float *d_y)
{
	const struct product product = {
		.a = matrix_of(x, rows.n, gradients->n_in),
		.b = matrix_of(d_y, rows.n, gradients->n_out),
		.is_a_transposed = true,
		.out = gradients->weight,
		.out_stride = gradients->n_out,
		.is_added = true,
	};
	const struct work work = {
		.kind = WORK_SUM_COLUMNS,
		.n_items = (size_t)gradients->n_out,
		.columns = {.x = d_y,
	                    .sums = gradients->bias,
	                    .width = gradients->n_out,
	                    .n_rows = rows.n},
	};

	arithmetic_multiply(rows.arithmetic, &product);
	if (gradients->bias)
		arithmetic_run(rows.arithmetic, &work);
}

void gelu_forward(struct rows rows, int width, float *x, float *y)
{
	const struct work work = {
		.kind = WORK_GELU,
		.n_items = (size_t)rows.n * (size_t)width,
		.gelu = {.x = x, .y = y},
	};

	arithmetic_run(rows.arithmetic, &work);
}

void gelu_backward(struct rows rows, int width, const float *slope, float *d_y)
{
	const struct work work = {
		.kind = WORK_GELU_BACKWARD,
		.n_items = (size_t)rows.n * (size_t)width,
		.gelu_backward = {.slope = slope, .d_y = d_y},
	};

	arithmetic_run(rows.arithmetic, &work);
}
