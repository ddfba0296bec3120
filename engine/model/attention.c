/* attention.c - causal multi-head attention between the projections of a block. */
#include "engine/model/matrix_internal.h"
#include "engine/model/row_kernels.h"
#include "engine/model/stage_internal.h"

/* One head of one sample. Its queries, keys and values are columns of the rows of qkv. */
struct head {
	const struct model_stage *model;
	size_t qkv;           /* floats from the start of qkv to its first query */
	size_t probabilities; /* T x T, likewise */
	size_t mixed;
	int size; /* columns */
};

static struct head head_at(const struct model_stage *model, int sample, int index)
{
	const struct model_config *config = &model->config;
	const size_t n_tokens = (size_t)config->n_tokens;
	const size_t first_row = (size_t)sample * n_tokens;
	const int size = config->n_embedding / config->n_heads;
	const size_t column = (size_t)index * (size_t)size;

	return (struct head){
		.model = model,
		.qkv = first_row * (size_t)config->n_embedding * 3 + column,
		.probabilities = ((size_t)sample * (size_t)config->n_heads + (size_t)index) *
	                         n_tokens * n_tokens,
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

static struct matrix_out part_out(const struct head *head, float *d_qkv, enum part part)
{
	const int stride = 3 * head->model->config.n_embedding;

	return (struct matrix_out){d_qkv + part_start(head, part), stride, 0};
}

static float score_scale(const struct head *head)
{
	return 1.0f / sqrtf((float)head->size);
}

/* A token attends to itself and to those before it. */
static void causal_softmax(const struct head *head, float *scores)
{
	const int n_tokens = head->model->config.n_tokens;
	const float scale = score_scale(head);

	for (int t = 0; t < n_tokens; t++) {
		float *row = scores + (size_t)t * (size_t)n_tokens;

		kernel_softmax(row, t + 1, scale);
		memset(row + t + 1, 0, (size_t)(n_tokens - t - 1) * sizeof(float));
	}
}

static void causal_softmax_backward(const struct head *head, const float *probabilities,
                                    float *d_scores)
{
	const int n_tokens = head->model->config.n_tokens;
	const float scale = score_scale(head);

	for (int t = 0; t < n_tokens; t++) {
		size_t start = (size_t)t * (size_t)n_tokens;
		float *row = d_scores + start;

		kernel_softmax_backward(probabilities + start, t + 1, scale, row);
		memset(row + t + 1, 0, (size_t)(n_tokens - t - 1) * sizeof(float));
	}
}

static struct matrix square(const struct head *head, const float *at)
{
	const int n_tokens = head->model->config.n_tokens;

	return (struct matrix){at, n_tokens, n_tokens, n_tokens};
}

static void head_mix(const struct head *head, float *slot_block)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const int n_tokens = head->model->config.n_tokens;
	const float *qkv = slot_block + at->qkv;
	float *probabilities = slot_block + at->probabilities + head->probabilities;

	matrix_product_transposed(part_of(head, qkv, QUERIES), part_of(head, qkv, KEYS),
	                          (struct matrix_out){probabilities, n_tokens, 0});
	causal_softmax(head, probabilities);
	matrix_product(square(head, probabilities), part_of(head, qkv, VALUES),
	               (struct matrix_out){slot_block + at->mixed + head->mixed,
	                                   head->model->config.n_embedding, 0});
}

static void head_mix_backward(const struct head *head, float *slot_block, const float *d_mixed)
{
	const struct slot_block *at = &head->model->slot_layout.block;
	const struct model_config *config = &head->model->config;
	const float *qkv = slot_block + at->qkv;
	const float *probabilities = slot_block + at->probabilities + head->probabilities;
	float *d_qkv = slot_block + at->d_qkv;
	float *d_scores =
		head->model->scratch + (size_t)head->model->n_rows * (size_t)config->n_embedding;
	struct matrix d_out = {d_mixed + head->mixed, config->n_tokens, head->size,
	                       config->n_embedding};

	matrix_transposed_product(square(head, probabilities), d_out,
	                          part_out(head, d_qkv, VALUES));
	matrix_product_transposed(d_out, part_of(head, qkv, VALUES),
	                          (struct matrix_out){d_scores, config->n_tokens, 0});
	causal_softmax_backward(head, probabilities, d_scores);
	matrix_product(square(head, d_scores), part_of(head, qkv, KEYS),
	               part_out(head, d_qkv, QUERIES));
	matrix_transposed_product(square(head, d_scores), part_of(head, qkv, QUERIES),
	                          part_out(head, d_qkv, KEYS));
}

void attention_forward(const struct model_stage *model, float *slot_block)
{
	for (int sample = 0; sample < model->config.n_samples; sample++) {
		for (int i = 0; i < model->config.n_heads; i++) {
			struct head head = head_at(model, sample, i);

			head_mix(&head, slot_block);
		}
	}
}

void attention_backward(const struct model_stage *model, float *slot_block, const float *d_mixed)
{
	for (int sample = 0; sample < model->config.n_samples; sample++) {
		for (int i = 0; i < model->config.n_heads; i++) {
			struct head head = head_at(model, sample, i);

			head_mix_backward(&head, slot_block, d_mixed);
		}
	}
}
