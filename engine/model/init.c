/* init.c - a stage's first parameters, each a function of the seed, the layer and its place. */
#include <math.h>

#include "engine/base/rng.h"
#include "engine/model/stage_internal.h"

/* Keys of what is no block; blocks have their number among all layers. */
static const uint64_t embedding_key = UINT64_C(1) << 32;
static const uint64_t head_key = UINT64_C(2) << 32;

/* Draws of one layer; place counts its parameters from its start. */
struct source {
	uint64_t seed;
	float *layer;
};

static struct source source_of(const struct model_stage *model, uint64_t layer_key, float *layer)
{
	return (struct source){rng_mix(model->config.seed, layer_key), layer};
}

/* A normal distribution around 0. */
static void draw(struct source source, size_t place, size_t n, double deviation)
{
	for (size_t i = 0; i < n; i++)
		source.layer[place + i] =
			(float)(deviation * rng_normal(rng_mix(source.seed, place + i)));
}

static void fill_with_ones(float *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = 1;
}

/* Biases stay 0. A weight keeps the size of what goes through; the two that add to the residual
 * share its growth between all layers (Radford and others, GPT-2, 2019). */
static void init_block(const struct model_stage *model, int block, float *parameters)
{
	const struct layout_block *at = &model->layout.block;
	const size_t width = (size_t)model->config.n_embedding;
	const size_t wide = width * MODEL_MLP_RATIO;
	const double share = 1 / sqrt(2.0 * model->config.n_layers);
	float *layer = parameters + model->layout.blocks + (size_t)block * at->n_floats;
	struct source source =
		source_of(model, (uint64_t)(model->layout.first_layer + block), layer);

	fill_with_ones(layer + at->norm1_gain, width);
	fill_with_ones(layer + at->norm2_gain, width);
	draw(source, at->qkv_weight, width * width * 3, 1 / sqrt((double)width));
	draw(source, at->mix_weight, width * width, share / sqrt((double)width));
	draw(source, at->up_weight, width * wide, 1 / sqrt((double)width));
	draw(source, at->down_weight, wide * width, share / sqrt((double)wide));
}

static void init_embedding(const struct model_stage *model, float *parameters)
{
	const struct layout *at = &model->layout;
	const size_t width = (size_t)model->config.n_embedding;
	struct source source = source_of(model, embedding_key, parameters);

	draw(source, at->token, MODEL_VOCABULARY * width, 0.5);
	draw(source, at->position, (size_t)model->config.n_tokens * width, 0.1);
}

static void init_head(const struct model_stage *model, float *parameters)
{
	const struct layout *at = &model->layout;
	const size_t width = (size_t)model->config.n_embedding;
	float *layer = parameters + at->head_gain;
	struct source source = source_of(model, head_key, layer);

	fill_with_ones(layer, width);
	/* Small, so that the first predictions are near uniform. */
	draw(source, at->head_weight - at->head_gain, width * MODEL_VOCABULARY,
	     0.1 / sqrt((double)width));
}

void stage_init_parameters(const struct model_stage *model, float *parameters)
{
	if (model->layout.has_embedding)
		init_embedding(model, parameters);
	for (int block = 0; block < model->layout.n_layers; block++)
		init_block(model, block, parameters);
	if (model->layout.has_head)
		init_head(model, parameters);
}
