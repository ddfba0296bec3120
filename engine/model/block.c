/* block.c - one block: norm, attention, norm, MLP, each half added to what goes through. */
#include "engine/model/rows_internal.h"
#include "engine/model/stage_internal.h"

/* A block's parameters, or their gradients. */
struct block {
	struct norm norm1, norm2;
	struct linear qkv, mix, up, down;
};

static struct block block_at(const struct model_stage *model, int block, float *parameters)
{
	const struct layout_block *at = &model->layout.block;
	const int width = model->config.n_embedding;
	const int wide = width * MODEL_MLP_RATIO;
	float *p = parameters + model->layout.blocks + (size_t)block * at->n_floats;

	return (struct block){
		.norm1 = {p + at->norm1_gain, p + at->norm1_bias, width},
		.norm2 = {p + at->norm2_gain, p + at->norm2_bias, width},
		.qkv = {p + at->qkv_weight, p + at->qkv_bias, width, 3 * width},
		.mix = {p + at->mix_weight, p + at->mix_bias, width, width},
		.up = {p + at->up_weight, p + at->up_bias, width, wide},
		.down = {p + at->down_weight, p + at->down_bias, wide, width},
	};
}

static size_t slot_block_start(const struct model_stage *model, int block)
{
	const struct slot_layout *at = &model->slot_layout;

	return at->blocks + (size_t)block * at->block.n_floats;
}

static struct normal_rows normal_rows_at(float *slot_block, const struct slot_norm *at)
{
	return (struct normal_rows){slot_block + at->normal, slot_block + at->scale};
}

float *block_d_output(const struct model_stage *model, int block, float *slot)
{
	return slot + slot_block_start(model, block) + model->slot_layout.block.d_output;
}

static struct rows rows_of(const struct model_stage *model)
{
	return (struct rows){model->arithmetic, model->n_rows};
}

void block_forward(const struct model_stage *model, int block, float *slot, float *residual)
{
	const struct block b = block_at(model, block, model->parameters);
	const struct slot_block *at = &model->slot_layout.block;
	const struct rows rows = rows_of(model);
	const int wide = model->config.n_embedding * MODEL_MLP_RATIO;
	float *s = slot + slot_block_start(model, block);
	struct normal_rows normal1 = normal_rows_at(s, &at->norm1);
	struct normal_rows normal2 = normal_rows_at(s, &at->norm2);

	norm_forward(rows, &b.norm1, residual, &normal1, s + at->input);
	linear_forward(rows, &b.qkv, s + at->input, s + at->qkv);
	attention_forward(model, s);
	linear_add(rows, &b.mix, s + at->mixed, residual);

	norm_forward(rows, &b.norm2, residual, &normal2, s + at->middle);
	linear_forward(rows, &b.up, s + at->middle, s + at->slope);
	gelu_forward(rows, wide, s + at->slope, s + at->gelu);
	linear_add(rows, &b.down, s + at->gelu, residual);
}

void block_backward_input(const struct model_stage *model, int block, float *slot,
                          float *d_residual)
{
	const struct block b = block_at(model, block, model->parameters);
	const struct slot_block *at = &model->slot_layout.block;
	const struct rows rows = rows_of(model);
	const int wide = model->config.n_embedding * MODEL_MLP_RATIO;
	const size_t bytes = model_message_bytes(&model->config);
	float *s = slot + slot_block_start(model, block);
	struct normal_rows normal1 = normal_rows_at(s, &at->norm1);
	struct normal_rows normal2 = normal_rows_at(s, &at->norm2);
	float *d_mixed = model->scratch;

	linear_backward_input(rows, &b.down, s + at->d_output, s + at->d_up);
	gelu_backward(rows, wide, s + at->slope, s + at->d_up);
	linear_backward_input(rows, &b.up, s + at->d_up, s + at->d_middle);
	arithmetic_copy(model->arithmetic, s + at->d_residual, s + at->d_output, bytes);
	norm_backward_input(rows, &b.norm2, &normal2, s + at->d_middle, s + at->d_residual);

	linear_backward_input(rows, &b.mix, s + at->d_residual, d_mixed);
	attention_backward(model, s, d_mixed);
	linear_backward_input(rows, &b.qkv, s + at->d_qkv, s + at->d_input);
	arithmetic_copy(model->arithmetic, d_residual, s + at->d_residual, bytes);
	norm_backward_input(rows, &b.norm1, &normal1, s + at->d_input, d_residual);
}

void block_backward_weight(struct model_stage *model, int block, float *slot)
{
	const struct block g = block_at(model, block, model->gradients);
	const struct slot_block *at = &model->slot_layout.block;
	const struct rows rows = rows_of(model);
	float *s = slot + slot_block_start(model, block);
	struct normal_rows normal1 = normal_rows_at(s, &at->norm1);
	struct normal_rows normal2 = normal_rows_at(s, &at->norm2);

	linear_backward_weight(rows, &g.down, s + at->gelu, s + at->d_output);
	linear_backward_weight(rows, &g.up, s + at->middle, s + at->d_up);
	norm_backward_weight(rows, &g.norm2, &normal2, s + at->d_middle);
	linear_backward_weight(rows, &g.mix, s + at->mixed, s + at->d_residual);
	linear_backward_weight(rows, &g.qkv, s + at->input, s + at->d_qkv);
	norm_backward_weight(rows, &g.norm1, &normal1, s + at->d_input);
}
