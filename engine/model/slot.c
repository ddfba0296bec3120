/* slot.c - where a slot keeps what the three operators of a microbatch hand on. */
#include "engine/model/stage_internal.h"

/* Each part starts on a cache line of its own. */
enum { FLOATS_PER_LINE = 16 };

static size_t take(size_t *end, size_t n_floats)
{
	size_t start = *end;

	*end += (n_floats + FLOATS_PER_LINE - 1) / FLOATS_PER_LINE * FLOATS_PER_LINE;
	return start;
}

static struct slot_norm take_norm(size_t *end, size_t n_rows, size_t width)
{
	struct slot_norm norm = {.normal = take(end, n_rows * width)};

	norm.scale = take(end, n_rows);
	return norm;
}

static void init_block(const struct model_config *config, struct slot_block *out)
{
	const size_t n_tokens = (size_t)config->n_tokens;
	const size_t n_rows = n_tokens * (size_t)config->n_samples;
	const size_t width = (size_t)config->n_embedding;
	const size_t n = n_rows * width;
	size_t end = 0;

	out->norm1 = take_norm(&end, n_rows, width);
	out->input = take(&end, n);
	out->qkv = take(&end, 3 * n);
	out->probabilities = take(&end, n_rows * (size_t)config->n_heads * n_tokens);
	out->mixed = take(&end, n);
	out->norm2 = take_norm(&end, n_rows, width);
	out->middle = take(&end, n);
	out->slope = take(&end, n * MODEL_MLP_RATIO);
	out->gelu = take(&end, n * MODEL_MLP_RATIO);
	out->d_output = take(&end, n);
	out->d_up = take(&end, n * MODEL_MLP_RATIO);
	out->d_middle = take(&end, n);
	out->d_residual = take(&end, n);
	out->d_qkv = take(&end, 3 * n);
	out->d_input = take(&end, n);
	out->n_floats = end;
}

void slot_layout_init(const struct model_config *config, const struct layout *layout,
                      struct slot_layout *out)
{
	const size_t n_rows = (size_t)config->n_tokens * (size_t)config->n_samples;
	const size_t width = (size_t)config->n_embedding;
	size_t end = 0;

	*out = (struct slot_layout){0};
	init_block(config, &out->block);
	out->blocks = take(&end, out->block.n_floats * (size_t)layout->n_layers);
	if (layout->has_embedding)
		out->d_embedding = take(&end, n_rows * width);
	if (layout->has_head) {
		out->head_norm = take_norm(&end, n_rows, width);
		out->head_input = take(&end, n_rows * width);
		out->logits = take(&end, n_rows * MODEL_VOCABULARY);
		out->d_head_input = take(&end, n_rows * width);
	}
	out->n_floats = end;
}
