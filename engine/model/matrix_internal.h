/* matrix_internal.h - matrix products over parts of larger arrays. */
#ifndef ENGINE_MODEL_MATRIX_INTERNAL_H
#define ENGINE_MODEL_MATRIX_INTERNAL_H

#include <stddef.h>

/* Row r, column c is at[r * stride + c]. */
struct matrix {
	const float *at;
	int n_rows;
	int n_columns;
	int stride;
};

/* Where a product goes: to (overwritten) or added to what is there. Its shape follows. */
struct matrix_out {
	float *at;
	int stride;
	float keep; /* 0: overwrite; 1: add */
};

/* OpenBLAS to one thread, for this process; any number of times. */
void matrix_use_one_thread(void);

void matrix_product(struct matrix a, struct matrix b, struct matrix_out out);            /* a b */
void matrix_product_transposed(struct matrix a, struct matrix b, struct matrix_out out); /* a b' */
void matrix_transposed_product(struct matrix a, struct matrix b, struct matrix_out out); /* a' b */

#endif
