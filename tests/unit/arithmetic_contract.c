/* arithmetic_contract.c - what the arithmetic of every device computes is what the host's does.
 *
 * Each kind of work gets an arena of random floats, and the arena is compared as a whole
 * afterwards, so that what is written beside the result shows, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/model/work_run.h"
#include "tests/unit/device_fixture.h"

enum { N_ROWS = 12, N_TOKENS = 6, WIDTH = 21, VOCABULARY = 256, PART = 4096, N_PARTS = 6 };
enum { ARENA = PART * N_PARTS, N_TOKEN_BYTES = N_ROWS / N_TOKENS * (N_TOKENS + 1) };

/* Far more than the last bits, far less than any mistake. */
static const double tolerance = 1e-5;

struct arena {
	float floats[ARENA];
	double loss;
	uint8_t tokens[N_TOKEN_BYTES];
};

static void fill(struct arena *arena, uint64_t seed)
{
	for (size_t i = 0; i < ARENA; i++)
		arena->floats[i] = (float)rng_normal(rng_mix(seed, i)) + 0.5f;
	arena->loss = 3;
	for (size_t i = 0; i < N_TOKEN_BYTES; i++)
		arena->tokens[i] = (uint8_t)(rng_mix(seed, ARENA + i) % VOCABULARY);
}

/* Squares of second moments are not negative. */
static struct work adam_work(struct arena *arena)
{
	float *f = arena->floats;
	const struct kernel_adam_step step = {.rate = 0.01f,
	                                      .first_decay = 0.9f,
	                                      .second_decay = 0.95f,
	                                      .second_correction = 2,
	                                      .epsilon = 1};

	return (struct work){
		.adam = {step, 0.5f, f, f + PART, f + 2 * PART, f + 3 * PART},
	};
}

static struct work work_of(enum work_kind kind, struct arena *arena)
{
	float *f = arena->floats, *parts[N_PARTS];
	const uint8_t *tokens = arena->tokens;
	struct work work = {.clear = f};

	for (int i = 0; i < N_PARTS; i++)
		parts[i] = f + (size_t)i * PART;
	if (kind == WORK_NORM)
		work.norm = (struct work_norm){parts[0], parts[1], parts[2], parts[3],
		                               parts[4], parts[5], WIDTH};
	else if (kind == WORK_NORM_BACKWARD)
		work.norm_backward = (struct work_norm_backward){parts[0], parts[1], parts[2],
		                                                 parts[3], parts[4], WIDTH};
	else if (kind == WORK_NORM_WEIGHT)
		work.norm_weight = (struct work_norm_weight){parts[0], parts[1], parts[2],
		                                             parts[3], WIDTH,    N_ROWS};
	else if (kind == WORK_SET_ROWS || kind == WORK_ADD_TO_ROWS)
		work.rows = (struct work_rows){parts[0], parts[1], WIDTH};
	else if (kind == WORK_SUM_COLUMNS)
		work.columns = (struct work_columns){parts[0], parts[1], WIDTH, N_ROWS};
	else if (kind == WORK_GELU)
		work.gelu = (struct work_gelu){parts[0], parts[1]};
	else if (kind == WORK_GELU_BACKWARD)
		work.gelu_backward = (struct work_gelu_backward){parts[0], parts[1]};
	else if (kind == WORK_SOFTMAX || kind == WORK_SOFTMAX_BACKWARD)
		work.softmax = (struct work_softmax){parts[0], parts[1], 0.3f, N_TOKENS};
	else if (kind == WORK_EMBED)
		work.embed =
			(struct work_embed){tokens, parts[0], parts[2], parts[3], 16, N_TOKENS};
	else if (kind == WORK_EMBED_WEIGHT)
		work.embed_weight = (struct work_embed_weight){tokens, parts[3], parts[0], parts[2],
		                                               16,     N_TOKENS, N_ROWS};
	else if (kind == WORK_CROSS_ENTROPY || kind == WORK_CROSS_ENTROPY_BACKWARD)
		work.entropy = (struct work_entropy){tokens, parts[0],   parts[1],
		                                     0.1f,   VOCABULARY, N_TOKENS};
	else if (kind == WORK_LOSS)
		work.loss = (struct work_loss){parts[0], &arena->loss, false, N_ROWS, 4};
	else if (kind == WORK_ADAM)
		work = adam_work(arena);
	work.kind = kind;
	return work;
}

/* Columns are those of WIDTH, or of the embedding. */
static size_t items_of(enum work_kind kind)
{
	switch (kind) {
	case WORK_CLEAR:
	case WORK_GELU:
	case WORK_GELU_BACKWARD:
	case WORK_ADAM:
		return 1000;
	case WORK_NORM_WEIGHT:
	case WORK_SUM_COLUMNS:
		return WIDTH;
	case WORK_EMBED_WEIGHT:
		return 16;
	case WORK_LOSS:
		return 1;
	case WORK_NORM:
	case WORK_NORM_BACKWARD:
	case WORK_SET_ROWS:
	case WORK_ADD_TO_ROWS:
	case WORK_SOFTMAX:
	case WORK_SOFTMAX_BACKWARD:
	case WORK_EMBED:
	case WORK_CROSS_ENTROPY:
	case WORK_CROSS_ENTROPY_BACKWARD:
		return N_ROWS;
	}
	return 0;
}

/* Adam takes roots of what is here made positive. */
static void prepare(struct arena *arena, enum work_kind kind)
{
	fill(arena, 77);
	for (int i = 0; kind == WORK_ADAM && i < PART; i++)
		arena->floats[3 * PART + i] = fabsf(arena->floats[3 * PART + i]);
}

static double difference(const struct arena *a, const struct arena *b)
{
	double worst = fabs(a->loss - b->loss);

	for (size_t i = 0; i < ARENA; i++)
		worst = tap_worst(worst, fabs((double)a->floats[i] - (double)b->floats[i]) /
		                                 (1 + fabs((double)b->floats[i])));
	return worst;
}

static void run_on(struct arithmetic *arithmetic, enum work_kind kind, struct arena *arena)
{
	struct arena *own = arithmetic_alloc(arithmetic, sizeof(*own), false);
	struct work work = work_of(kind, own);
	struct err err = {0};
	int rc;

	work.n_items = items_of(kind);
	rc = arithmetic_store(arithmetic, own, arena, sizeof(*own), &err);
	arithmetic_run(arithmetic, &work);
	rc = rc ? rc : arithmetic_fetch(arithmetic, arena, own, sizeof(*own), &err);
	if (rc)
		tap_ok(false, "work of kind %d is done: %s", (int)kind, err.text);
	arithmetic_free(arithmetic, own, false);
}

static void check_work(struct arithmetic *arithmetic, const char *name)
{
	struct arena *found = malloc(sizeof(*found)), *wanted = malloc(sizeof(*wanted));

	for (enum work_kind kind = WORK_CLEAR; kind <= WORK_ADAM; kind++) {
		struct work work = work_of(kind, wanted);

		prepare(found, kind);
		prepare(wanted, kind);
		run_on(arithmetic, kind, found);
		work_run(&work, 0, items_of(kind));
		tap_is_number(difference(found, wanted), 0, tolerance,
		              "%s: work of kind %d is what the host makes of it", name, (int)kind);
		prepare(found, kind);
		tap_ok(memcmp(found, wanted, sizeof(*found)) != 0, "%s: and it changes something",
		       name);
	}
	free(found);
	free(wanted);
}

/* Whoever deals items to threads gets the same bits. */
static void check_spans(void)
{
	struct arena *whole = malloc(sizeof(*whole)), *parts = malloc(sizeof(*parts));

	for (enum work_kind kind = WORK_CLEAR; kind <= WORK_ADAM; kind++) {
		struct work work = work_of(kind, whole);
		size_t n = items_of(kind);

		prepare(whole, kind);
		prepare(parts, kind);
		work_run(&work, 0, n);
		work = work_of(kind, parts);
		for (size_t i = n; i > 0; i--)
			work_run(&work, i - 1, 1);
		tap_ok(memcmp(whole->floats, parts->floats, sizeof(whole->floats)) == 0 &&
		               whole->loss == parts->loss,
		       "kind %d: item by item, backwards, gives the bits of all at once",
		       (int)kind);
	}
	free(whole);
	free(parts);
}

enum { M = 7, N = 5, K = 9, STRIDE = 13 };

static double element(const float *at, bool is_transposed, int row, int column)
{
	return (double)(is_transposed ? at[column * STRIDE + row] : at[row * STRIDE + column]);
}

static double product_error(const struct arena *before, const struct arena *after, bool is_a,
                            bool is_b, bool is_added)
{
	double worst = 0;

	for (int row = 0; row < M; row++)
		for (int column = 0; column < N; column++) {
			size_t at = 2 * PART + (size_t)(row * STRIDE + column);
			double want = is_added ? (double)before->floats[at] : 0;

			for (int k = 0; k < K; k++)
				want += element(before->floats, is_a, row, k) *
				        element(before->floats + PART, is_b, k, column);
			worst = tap_worst(worst, fabs((double)after->floats[at] - want));
		}
	return worst;
}

static void check_product(struct arithmetic *arithmetic, const char *name, int bits)
{
	const bool is_a = bits & 1, is_b = bits & 2, is_added = bits & 4;
	struct arena *before = malloc(sizeof(*before)), *after = malloc(sizeof(*after));
	struct arena *own = arithmetic_alloc(arithmetic, sizeof(*own), false);
	const struct product product = {
		.a = {own->floats, is_a ? K : M, is_a ? M : K, STRIDE},
		.b = {own->floats + PART, is_b ? N : K, is_b ? K : N, STRIDE},
		.is_a_transposed = is_a,
		.is_b_transposed = is_b,
		.out = own->floats + 2 * PART,
		.out_stride = STRIDE,
		.is_added = is_added,
	};

	fill(before, 5);
	(void)arithmetic_store(arithmetic, own, before, sizeof(*own), NULL);
	arithmetic_multiply(arithmetic, &product);
	tap_is_int(arithmetic_fetch(arithmetic, after, own, sizeof(*own), NULL), 0,
	           "%s: a product is done", name);
	tap_is_number(product_error(before, after, is_a, is_b, is_added), 0, tolerance,
	              "%s: and right: %s%s%s", name, is_a ? "a' " : "a ", is_b ? "b'" : "b",
	              is_added ? ", added" : "");
	tap_ok(memcmp(before->floats + 3 * PART, after->floats + 3 * PART,
	              3 * PART * sizeof(float)) == 0,
	       "%s: nothing beside it is touched", name);
	arithmetic_free(arithmetic, own, false);
	free(before);
	free(after);
}

static void check_memory(struct arithmetic *arithmetic, const char *name)
{
	char *own = arithmetic_alloc(arithmetic, 100, false);
	char *host = arithmetic_alloc(arithmetic, 100, true), back[100] = {0};
	struct err err = {0};

	tap_ok(own && host && (uintptr_t)own % 64 == 0 && (uintptr_t)host % 64 == 0,
	       "%s: memory is given, aligned to 64", name);
	tap_ok(!arithmetic_alloc(arithmetic, SIZE_MAX - 8, false), "%s: too much is refused", name);
	memset(host, 'x', 100);
	arithmetic_copy(arithmetic, own, host, 100);
	tap_is_int(arithmetic_wait(arithmetic, &err), 0, "%s: a copy ends", name);
	memset(host, 'y', 100);
	tap_is_int(arithmetic_fetch(arithmetic, back, own, 100, &err), 0, "%s: it is fetched",
	           name);
	tap_ok(back[0] == 'x' && back[99] == 'x', "%s: as it was when it was copied", name);
	tap_is_int(arithmetic_check(arithmetic, &err), 0, "%s: nothing has failed", name);
	arithmetic_free(arithmetic, own, false);
	arithmetic_free(arithmetic, host, true);
	arithmetic_free(arithmetic, NULL, false);
}

static void check_device(const struct device_ops *ops)
{
	struct device *device = fixture_open(ops->name, 0, 1, NULL);
	struct arithmetic *arithmetic;

	if (!device)
		return;
	arithmetic = fixture_stream(device)->arithmetic;
	check_memory(arithmetic, ops->name);
	check_work(arithmetic, ops->name);
	for (int bits = 0; bits < 8; bits++)
		check_product(arithmetic, ops->name, bits);
	device_close(device);
}

int main(void)
{
	const struct device_ops *const *list = device_list();

	check_spans();
	for (int i = 0; list[i]; i++)
		check_device(list[i]);
	return tap_done();
}
