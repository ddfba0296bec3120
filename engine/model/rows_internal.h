/* rows_internal.h - what the parts of a stage do to all rows of a microbatch at once. */
#ifndef ENGINE_MODEL_ROWS_INTERNAL_H
#define ENGINE_MODEL_ROWS_INTERNAL_H

#include "engine/model/arithmetic.h"

/* A layer norm's parameters, or their gradients. */
struct norm {
	float *gain;
	float *bias;
	int width;
};

/* What a norm keeps of its input: rows normalised, and the scale of each. */
struct normal_rows {
	float *normal;
	float *scale;
};

/* Rows of n_in become rows of n_out. The parameters, or their gradients. */
struct linear {
	float *weight; /* n_in x n_out */
	float *bias;   /* NULL: none */
	int n_in;
	int n_out;
};

/* The rows of a microbatch, and who computes. */
struct rows {
	struct arithmetic *arithmetic;
	int n;
};

void norm_forward(struct rows rows, const struct norm *norm, const float *x,
                  const struct normal_rows *out, float *y);

/* d_x += the gradient of x. */
void norm_backward_input(struct rows rows, const struct norm *norm, const struct normal_rows *x,
                         const float *d_y, float *d_x);

/* gradients += what d_y gives. */
void norm_backward_weight(struct rows rows, const struct norm *gradients,
                          const struct normal_rows *x, const float *d_y);

/* y = x weight + bias. */
void linear_forward(struct rows rows, const struct linear *linear, const float *x, float *y);

/* y += x weight + bias. */
void linear_add(struct rows rows, const struct linear *linear, const float *x, float *y);

/* d_x = d_y weight'. */
void linear_backward_input(struct rows rows, const struct linear *linear, const float *d_y,
                           float *d_x);

/* gradients += x' d_y, and the sums of d_y for the bias. */
void linear_backward_weight(struct rows rows, const struct linear *gradients, const float *x,
                            const float *d_y);

/* Of rows of width. x -> y; x becomes the slope there. */
void gelu_forward(struct rows rows, int width, float *x, float *y);

/* d_y becomes the gradient of x. */
void gelu_backward(struct rows rows, int width, const float *slope, float *d_y);

#endif
