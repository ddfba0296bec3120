/* attention.c - causal multi-head attention between the projections of a block. */
#include "engine/model/rows_internal.h"
#include "engine/model/stage_internal.h"
#include "engine/model/work.h"

/* One head of one sample. Its queries, keys and values are columns of the rows of qkv. */
struct head {
	const struct model_stage *model;
	size_t qkv;           /* floats from the start of qkv to its first query */
	size_t probabilities; /* T x T, likewise */
	size_t mixed;
	int size; /* columns */
};

static struct head head_at(const struct model_stage *model, int i)
{
	const struct model_config *config = &model->config;
	const int sample = i / config->n_heads, index = i % config->n_heads;
	const size_t n_tokens = (size_t)config->n_tokens;
	const size_t first_row = (size_t)sample * n_tokens;
	const int size = config->n_embedding / config->n_heads;
	const size_t column = (size_t)index * (size_t)size;

	return (struct head){
		.model = model,
		.qkv = first_row * (size_t)config->n_embedding * 3 + column,
		.probabilities = (size_t)i * n_tokens * n_tokens,
		.mixed = first_row * (size_t)config->n_embedding + column,
		.size = size,
	};
}

/* Floats from the start of qkv, or of its gradient, to the head's queries, keys or values. */
enum part { QUERIES, KEYS, VALUES };

static size_t part_start(const struct head *head, enum part part)
{
	return head->qkv + (size_t)part * (size_t)head->model->config.n_embedding;
}

static struct matrix part_of(const struct head *head, const float *qkv, enum part part)
{
	const struct model_config *config = &head->model->config;

	return (struct matrix){qkv + part_start(head, part), config->n_tokens, head->size,
	                       3 * config->n_embedding};
}

static struct matrix square(const struct head *head, const float *at)
{
	const int n_tokens = head->model->config.n_tokens;

	return (struct matrix){at, n_tokens, n_tokens, n_tokens};
}

static float score_scale(const struct model_config *config)
{
	return 1.0f / sqrtf((float)(config->n_embedding / config->n_heads));
}

/* Scores of all heads of all samples, one square behind the other. */
static void softmax(const struct model_stage *model, float *scores)
{
	const struct model_config *config = &model->config;
	const struct work work = {
		.kind = WORK_SOFTMAX,
		.n_items = (size_t)model->n_rows * (size_t)config->n_heads,
		.softmax = {.rows = scores,
	                    .scale = score_scale(config),
	                    .n_tokens = config->n_tokens},
	};

	arithmetic_run(model->arithmetic, &work);
}

/* Of one head. */
static void softmax_backward(const struct model_stage *model, const float *probabilities,
                             float *d_scores)
{
	const struct model_config *config = &model->config;
	const struct work work = {
		.kind = WORK_SOFTMAX_BACKWARD,
		.n_items = (size_t)config->n_tokens,
		.softmax = {.probabilities = probabilities,
	                    .rows = d_scores,
	                    .scale = score_scale(config),
	                    .n_tokens = config->n_tokens},
	};

	arithmetic_run(model->arithmetic, &work);
}

/* scores = queries keys'. */
static void head_score(const struct head *head, float *slot_block)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const float *qkv = slot_block + at->qkv;
	const struct product product = {
		.a = part_of(head, qkv, QUERIES),
		.b = part_of(head, qkv, KEYS),
		.is_b_transposed = true,
		.out = slot_block + at->probabilities + head->probabilities,
		.out_stride = head->model->config.n_tokens,
	};

	arithmetic_multiply(head->model->arithmetic, &product);
}

/* mixed = probabilities values. */
static void head_mix(const struct head *head, float *slot_block)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const struct product product = {
		.a = square(head, slot_block + at->probabilities + head->probabilities),
		.b = part_of(head, slot_block + at->qkv, VALUES),
		.out = slot_block + at->mixed + head->mixed,
		.out_stride = head->model->config.n_embedding,
	};

	arithmetic_multiply(head->model->arithmetic, &product);
}

/* The gradient of the values, and that of the probabilities. */
static void head_mix_backward(const struct head *head, float *slot_block, const float *d_mixed,
                              float *d_scores)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const struct model_config *config = &head->model->config;
	const struct matrix d_out = {d_mixed + head->mixed, config->n_tokens, head->size,
	                             config->n_embedding};
	const struct product d_values = {
		.a = square(head, slot_block + at->probabilities + head->probabilities),
		.b = d_out,
		.is_a_transposed = true,
		.out = slot_block + at->d_qkv + part_start(head, VALUES),
		.out_stride = 3 * config->n_embedding,
	};
	const struct product d_probabilities = {
		.a = d_out,
		.b = part_of(head, slot_block + at->qkv, VALUES),
		.is_b_transposed = true,
		.out = d_scores,
		.out_stride = config->n_tokens,
	};

	arithmetic_multiply(head->model->arithmetic, &d_values);
	arithmetic_multiply(head->model->arithmetic, &d_probabilities);
}

/* The gradients of the queries and of the keys. */
static void head_score_backward(const struct head *head, float *slot_block, const float *d_scores)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const int stride = 3 * head->model->config.n_embedding;
	const float *qkv = slot_block + at->qkv;
	float *d_qkv = slot_block + at->d_qkv;
	const struct product d_queries = {
		.a = square(head, d_scores),
		.b = part_of(head, qkv, KEYS),
		.out = d_qkv + part_start(head, QUERIES),
		.out_stride = stride,
	};
	const struct product d_keys = {
		.a = square(head, d_scores),
		.b = part_of(head, qkv, QUERIES),
		.is_a_transposed = true,
		.out = d_qkv + part_start(head, KEYS),
		.out_stride = stride,
	};

	arithmetic_multiply(head->model->arithmetic, &d_queries);
	arithmetic_multiply(head->model->arithmetic, &d_keys);
}

/* Heads of all samples, sample after sample. */
static int n_heads(const struct model_stage *model)
{
	return model->config.n_samples * model->config.n_heads;
}

void attention_forward(const struct model_stage *model, float *slot_block)
{
	for (int i = 0; i < n_heads(model); i++) {
		struct head head = head_at(model, i);

		head_score(&head, slot_block);
	}
	softmax(model, slot_block + model->slot_layout.block.probabilities);
	for (int i = 0; i < n_heads(model); i++) {
		struct head head = head_at(model, i);

		head_mix(&head, slot_block);
	}
}

void attention_backward(const struct model_stage *model, float *slot_block, const float *d_mixed)
{
	const float *probabilities = slot_block + model->slot_layout.block.probabilities;
	float *d_scores =
		model->scratch + (size_t)model->n_rows * (size_t)model->config.n_embedding;

	for (int i = 0; i < n_heads(model); i++) {
		struct head head = head_at(model, i);

		head_mix_backward(&head, slot_block, d_mixed, d_scores);
		softmax_backward(model, probabilities + head.probabilities, d_scores);
		head_score_backward(&head, slot_block, d_scores);
	}
}
