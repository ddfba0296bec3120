/* arithmetic.h - where the numbers of a stage lie, and who computes with them.
 *
 * The operators of a stage are sequences of work and of matrix products over memory of an
 * arithmetic. Each is as if it were done before the next one is issued. The host's does it at once;
 * a GPU's puts it on its stream and returns, so that what fails is told by who waits, or checks,
 * later. An arithmetic belongs to one thread. */
#ifndef ENGINE_MODEL_ARITHMETIC_H
#define ENGINE_MODEL_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

struct work;

/* Row r, column c is at[r * stride + c]. */
struct matrix {
	const float *at;
	int n_rows;
	int n_columns;
	int stride;
};

/* a b, either of them transposed first, is written to out or added to what is there. */
struct product {
	struct matrix a, b;
	bool is_a_transposed, is_b_transposed;
	float *out;
	int out_stride;
	bool is_added;
};

struct arithmetic;

struct arithmetic_ops {
	const char *name;

	/* The one allocator. memory NULL: n_bytes, not cleared, aligned to 64, that it computes on,
	 * or, is_host, memory of the host that it copies from and to; NULL: out of memory. memory
	 * not NULL: it is freed, n_bytes is ignored, the result is NULL. */
	void *(*memory)(struct arithmetic *arithmetic, void *memory, size_t n_bytes, bool is_host);

	/* Either side may be memory of the host of its own, which is left alone until wait(). */
	void (*copy)(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes);

	/* Borrows nothing but what the pointers in it point to. */
	void (*run)(struct arithmetic *arithmetic, const struct work *work);
	void (*multiply)(struct arithmetic *arithmetic, const struct product *product);

	/* The first failure of what was issued, as far as it is known; it stays. Does not block. */
	int (*check)(struct arithmetic *arithmetic, struct err *err);

	/* Block until all that was issued is done; then as check(). */
	int (*wait)(struct arithmetic *arithmetic, struct err *err);
};

/* Backends embed this first. */
struct arithmetic {
	const struct arithmetic_ops *ops;
};

/* The host's: OpenBLAS on one thread. Has no state; any number of stages may share it. */
struct arithmetic *arithmetic_host(void);

static inline void *arithmetic_alloc(struct arithmetic *arithmetic, size_t n_bytes, bool is_host)
{
	return arithmetic->ops->memory(arithmetic, NULL, n_bytes, is_host);
}

static inline void arithmetic_free(struct arithmetic *arithmetic, void *memory, bool is_host)
{
	if (memory)
		(void)arithmetic->ops->memory(arithmetic, memory, 0, is_host);
}

static inline void arithmetic_copy(struct arithmetic *arithmetic, void *to, const void *from,
                                   size_t n_bytes)
{
	arithmetic->ops->copy(arithmetic, to, from, n_bytes);
}

static inline void arithmetic_run(struct arithmetic *arithmetic, const struct work *work)
{
	arithmetic->ops->run(arithmetic, work);
}

static inline void arithmetic_multiply(struct arithmetic *arithmetic, const struct product *product)
{
	arithmetic->ops->multiply(arithmetic, product);
}

static inline int arithmetic_check(struct arithmetic *arithmetic, struct err *err)
{
	return arithmetic->ops->check(arithmetic, err);
}

static inline int arithmetic_wait(struct arithmetic *arithmetic, struct err *err)
{
	return arithmetic->ops->wait(arithmetic, err);
}

/* Between memory of the arithmetic and any memory of the host. They wait for what was issued
 * before, and take memory for a moment: -ENOMEM. */
int arithmetic_fetch(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes,
                     struct err *err);
int arithmetic_store(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes,
                     struct err *err);

#endif
