/* layout.c - deals layers to stages and parameters to offsets. */
#include "engine/model/layout.h"

static size_t take(size_t *end, size_t n_floats)
{
	size_t start = *end;

	*end += n_floats;
	return start;
}

static void init_block(size_t width, struct layout_block *out)
{
	const size_t wide = width * MODEL_MLP_RATIO;
	size_t end = 0;

	out->norm1_gain = take(&end, width);
	out->norm1_bias = take(&end, width);
	out->qkv_weight = take(&end, width * width * 3);
	out->qkv_bias = take(&end, width * 3);
	out->mix_weight = take(&end, width * width);
	out->mix_bias = take(&end, width);
	out->norm2_gain = take(&end, width);
	out->norm2_bias = take(&end, width);
	out->up_weight = take(&end, width * wide);
	out->up_bias = take(&end, wide);
	out->down_weight = take(&end, wide * width);
	out->down_bias = take(&end, width);
	out->n_floats = end;
}

/* The first layer of a stage: the shares of the stages before it, each rounded alike. */
static int first_layer(const struct model_config *config, int stage)
{
	return (int)((int64_t)config->n_layers * stage / config->n_stages);
}

void layout_init(const struct model_config *config, int stage, struct layout *out)
{
	const size_t width = (size_t)config->n_embedding;
	size_t end = 0;

	*out = (struct layout){
		.first_layer = first_layer(config, stage),
		.has_embedding = stage == 0,
		.has_head = stage == config->n_stages - 1,
	};
	out->n_layers = first_layer(config, stage + 1) - out->first_layer;
	init_block(width, &out->block);
	if (out->has_embedding) {
		out->token = take(&end, MODEL_VOCABULARY * width);
		out->position = take(&end, (size_t)config->n_tokens * width);
	}
	out->blocks = take(&end, out->block.n_floats * (size_t)out->n_layers);
	if (out->has_head) {
		out->head_gain = take(&end, width);
		out->head_bias = take(&end, width);
		out->head_weight = take(&end, width * MODEL_VOCABULARY);
	}
	out->n_floats = end;
}
