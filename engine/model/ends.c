/* ends.c - what the first and the last stage do beside their blocks: embedding and head. */
#include "engine/model/rows_internal.h"
#include "engine/model/stage_internal.h"
#include "engine/model/work.h"

static struct rows rows_of(const struct model_stage *model)
{
	return (struct rows){model->arithmetic, model->n_rows};
}

void embedding_forward(const struct model_stage *model, const uint8_t *tokens, float *residual)
{
	const struct work work = {
		.kind = WORK_EMBED,
		.n_items = (size_t)model->n_rows,
		.embed = {.tokens = tokens,
	                  .token_rows = model->parameters + model->layout.token,
	                  .position_rows = model->parameters + model->layout.position,
	                  .rows = residual,
	                  .width = model->config.n_embedding,
	                  .n_tokens = model->config.n_tokens},
	};

	arithmetic_run(model->arithmetic, &work);
}

void embedding_backward_weight(struct model_stage *model, const uint8_t *tokens, const float *slot)
{
	const struct work work = {
		.kind = WORK_EMBED_WEIGHT,
		.n_items = (size_t)model->config.n_embedding,
		.embed_weight = {.tokens = tokens,
	                         .d_rows = slot + model->slot_layout.d_embedding,
	                         .token_rows = model->gradients + model->layout.token,
	                         .position_rows = model->gradients + model->layout.position,
	                         .width = model->config.n_embedding,
	                         .n_tokens = model->config.n_tokens,
	                         .n_rows = model->n_rows},
	};

	arithmetic_run(model->arithmetic, &work);
}

/* The last norm and the map to the vocabulary; their parameters, or their gradients. */
struct head {
	struct norm norm;
	struct linear logits;
};

static struct head head_at(const struct model_stage *model, float *parameters)
{
	const struct layout *at = &model->layout;
	const int width = model->config.n_embedding;

	return (struct head){
		.norm = {parameters + at->head_gain, parameters + at->head_bias, width},
		.logits = {parameters + at->head_weight, NULL, width, MODEL_VOCABULARY},
	};
}

static struct normal_rows head_rows(const struct model_stage *model, float *slot)
{
	const struct slot_norm *at = &model->slot_layout.head_norm;

	return (struct normal_rows){slot + at->normal, slot + at->scale};
}

/* Cross-entropy of the rows, or its gradients. */
static struct work entropy(const struct model_stage *model, enum work_kind kind,
                           const uint8_t *tokens, float *slot)
{
	const double n_terms = (double)model->n_rows * model->config.n_microbatches;

	return (struct work){
		.kind = kind,
		.n_items = (size_t)model->n_rows,
		.entropy = {.tokens = tokens,
	                    .logits = slot + model->slot_layout.logits,
	                    .losses = model->losses,
	                    .scale = (float)(1 / n_terms),
	                    .width = MODEL_VOCABULARY,
	                    .n_tokens = model->config.n_tokens},
	};
}

void head_forward(const struct model_stage *model, const uint8_t *tokens, float *slot,
                  const float *residual)
{
	const struct head head = head_at(model, model->parameters);
	const struct normal_rows normal = head_rows(model, slot);
	const struct rows rows = rows_of(model);
	const struct work losses = entropy(model, WORK_CROSS_ENTROPY, tokens, slot);
	const struct work loss = {
		.kind = WORK_LOSS,
		.n_items = 1,
		.loss = {.losses = model->losses,
	                 .loss = model->loss,
	                 .is_first = model->n_done[MODEL_FORWARD] == 0,
	                 .n_rows = model->n_rows,
	                 .n_microbatches = model->config.n_microbatches},
	};
	float *input = slot + model->slot_layout.head_input;

	norm_forward(rows, &head.norm, residual, &normal, input);
	linear_forward(rows, &head.logits, input, slot + model->slot_layout.logits);
	arithmetic_run(model->arithmetic, &losses);
	arithmetic_run(model->arithmetic, &loss);
}

void head_backward_input(const struct model_stage *model, const uint8_t *tokens, float *slot,
                         float *d_residual)
{
	const struct head head = head_at(model, model->parameters);
	const struct normal_rows normal = head_rows(model, slot);
	const struct rows rows = rows_of(model);
	const struct work gradients = entropy(model, WORK_CROSS_ENTROPY_BACKWARD, tokens, slot);
	const struct work clear = {
		.kind = WORK_CLEAR,
		.n_items = (size_t)model->n_rows * (size_t)model->config.n_embedding,
		.clear = d_residual,
	};
	float *d_input = slot + model->slot_layout.d_head_input;

	arithmetic_run(model->arithmetic, &gradients);
	linear_backward_input(rows, &head.logits, slot + model->slot_layout.logits, d_input);
	arithmetic_run(model->arithmetic, &clear);
	norm_backward_input(rows, &head.norm, &normal, d_input, d_residual);
}

void head_backward_weight(struct model_stage *model, float *slot)
{
	const struct head gradients = head_at(model, model->gradients);
	const struct normal_rows normal = head_rows(model, slot);

	linear_backward_weight(rows_of(model), &gradients.logits,
	                       slot + model->slot_layout.head_input,
	                       slot + model->slot_layout.logits);
	norm_backward_weight(rows_of(model), &gradients.norm, &normal,
	                     slot + model->slot_layout.d_head_input);
}
