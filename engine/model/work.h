/* work.h - what a stage does to rows and floats, as data: one kind of work on so many items.
 *
 * work_spans.h says what each does to a span of its items. Items are independent of each other, and
 * every sum is taken inside one item in a fixed order, so an arithmetic may deal them to threads as
 * it likes. Pointers are into memory of the arithmetic; rows are of width floats each. */
#ifndef ENGINE_MODEL_WORK_H
#define ENGINE_MODEL_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/model/kernels.h"

enum work_kind {
	WORK_CLEAR,         /* floats */
	WORK_NORM,          /* rows */
	WORK_NORM_BACKWARD, /* rows */
	WORK_NORM_WEIGHT,   /* columns */
	WORK_SET_ROWS,      /* rows */
	WORK_ADD_TO_ROWS,   /* rows */
	WORK_SUM_COLUMNS,   /* columns */
	WORK_GELU,          /* floats */
	WORK_GELU_BACKWARD, /* floats */
	WORK_SOFTMAX,       /* rows */
	WORK_SOFTMAX_BACKWARD,
	WORK_EMBED,                  /* rows */
	WORK_EMBED_WEIGHT,           /* columns */
	WORK_CROSS_ENTROPY,          /* rows */
	WORK_CROSS_ENTROPY_BACKWARD, /* rows */
	WORK_LOSS,                   /* one */
	WORK_ADAM,                   /* floats */
};

/* y = (x normalised) gain + bias; normal and scale are kept. */
struct work_norm {
	const float *x, *gain, *bias;
	float *normal, *scale, *y;
	int width;
};

/* d_x += the gradient of x. */
struct work_norm_backward {
	const float *gain, *normal, *scale, *d_y;
	float *d_x;
	int width;
};

/* gain and bias, gradients, += what n_rows of d_y give. */
struct work_norm_weight {
	const float *normal, *d_y;
	float *gain, *bias;
	int width, n_rows;
};

/* The row is set in, or added to, every row of y. */
struct work_rows {
	const float *row;
	float *y;
	int width;
};

/* sums += the rows of x. */
struct work_columns {
	const float *x;
	float *sums;
	int width, n_rows;
};

/* x -> y; x becomes the slope there. */
struct work_gelu {
	float *x, *y;
};

/* d_y becomes the gradient of x. */
struct work_gelu_backward {
	const float *slope;
	float *d_y;
};

/* Of n_tokens rows of n_tokens, or several such squares: a token attends to itself and to those
 * before it. Scores become probabilities, or their gradients those of the scores. */
struct work_softmax {
	const float *probabilities; /* backward */
	float *rows;
	float scale;
	int n_tokens;
};

/* Tokens of a sample are one more than its rows: the last is only a target. */
struct work_embed {
	const uint8_t *tokens;
	const float *token_rows, *position_rows;
	float *rows;
	int width, n_tokens;
};

struct work_embed_weight {
	const uint8_t *tokens;
	const float *d_rows;
	float *token_rows, *position_rows; /* gradients */
	int width, n_tokens, n_rows;
};

/* Logits become probabilities, losses -log of the target's; or probabilities the gradients of scale
 * times their losses. */
struct work_entropy {
	const uint8_t *tokens;
	float *logits, *losses;
	float scale;
	int width, n_tokens;
};

/* loss += the mean of losses, divided by n_microbatches; the first is written instead. */
struct work_loss {
	const float *losses;
	double *loss;
	bool is_first;
	int n_rows, n_microbatches;
};

struct work_adam {
	struct kernel_adam_step step;
	float scale; /* of gradients */
	const float *gradients;
	float *parameters, *first, *second;
};

struct work {
	enum work_kind kind;
	size_t n_items;
	union {
		float *clear;
		struct work_norm norm;
		struct work_norm_backward norm_backward;
		struct work_norm_weight norm_weight;
		struct work_rows rows;
		struct work_columns columns;
		struct work_gelu gelu;
		struct work_gelu_backward gelu_backward;
		struct work_softmax softmax;
		struct work_embed embed;
		struct work_embed_weight embed_weight;
		struct work_entropy entropy;
		struct work_loss loss;
		struct work_adam adam;
	};
};

#endif
