/* ends.c - what the first and the last stage do beside their blocks: embedding and head. */
#include "engine/model/row_kernels.h"
#include "engine/model/rows_internal.h"
#include "engine/model/stage_internal.h"

/* A sample's tokens are one more than its rows: the last is only a target. */
static const uint8_t *sample_tokens(const struct model_stage *model, const uint8_t *tokens,
                                    int sample)
{
	return tokens + (size_t)sample * ((size_t)model->config.n_tokens + 1);
}

void embedding_forward(const struct model_stage *model, const uint8_t *tokens, float *residual)
{
	const size_t width = (size_t)model->config.n_embedding;
	const float *token_rows = model->parameters + model->layout.token;
	const float *position_rows = model->parameters + model->layout.position;

	for (int sample = 0; sample < model->config.n_samples; sample++) {
		const uint8_t *token = sample_tokens(model, tokens, sample);

		for (int t = 0; t < model->config.n_tokens; t++, residual += width) {
			memcpy(residual, token_rows + token[t] * width, width * sizeof(float));
			row_add((int)width, position_rows + (size_t)t * width, residual);
		}
	}
}

void embedding_backward_weight(struct model_stage *model, const uint8_t *tokens, const float *slot)
{
	const size_t width = (size_t)model->config.n_embedding;
	const float *d_row = slot + model->slot_layout.d_embedding;
	float *token_rows = model->gradients + model->layout.token;
	float *position_rows = model->gradients + model->layout.position;

	for (int sample = 0; sample < model->config.n_samples; sample++) {
		const uint8_t *token = sample_tokens(model, tokens, sample);

		for (int t = 0; t < model->config.n_tokens; t++, d_row += width) {
			row_add((int)width, d_row, token_rows + token[t] * width);
			row_add((int)width, d_row, position_rows + (size_t)t * width);
		}
	}
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

double head_forward(const struct model_stage *model, const uint8_t *tokens, float *slot,
                    const float *residual)
{
	const struct head head = head_at(model, model->parameters);
	const struct normal_rows normal = head_rows(model, slot);
	float *input = slot + model->slot_layout.head_input;
	float *row = slot + model->slot_layout.logits;
	double sum = 0;

	norm_forward(&head.norm, model->n_rows, residual, &normal, input);
	linear_forward(&head.logits, model->n_rows, input, row);
	for (int sample = 0; sample < model->config.n_samples; sample++) {
		const uint8_t *token = sample_tokens(model, tokens, sample);

		for (int t = 0; t < model->config.n_tokens; t++, row += MODEL_VOCABULARY)
			sum += kernel_cross_entropy(row, MODEL_VOCABULARY, token[t + 1]);
	}
	return sum / model->n_rows;
}

void head_backward_input(const struct model_stage *model, const uint8_t *tokens, float *slot,
                         float *d_residual)
{
	const struct head head = head_at(model, model->parameters);
	const struct normal_rows normal = head_rows(model, slot);
	const double n_terms = (double)model->n_rows * model->config.n_microbatches;
	float *d_logits = slot + model->slot_layout.logits;
	float *d_input = slot + model->slot_layout.d_head_input;
	float *row = d_logits;

	for (int sample = 0; sample < model->config.n_samples; sample++) {
		const uint8_t *token = sample_tokens(model, tokens, sample);

		for (int t = 0; t < model->config.n_tokens; t++, row += MODEL_VOCABULARY)
			kernel_cross_entropy_backward(MODEL_VOCABULARY, token[t + 1],
			                              (float)(1 / n_terms), row);
	}
	linear_backward_input(&head.logits, model->n_rows, d_logits, d_input);
	memset(d_residual, 0, model_message_bytes(&model->config));
	norm_backward_input(&head.norm, model->n_rows, &normal, d_input, d_residual);
}

void head_backward_weight(struct model_stage *model, float *slot)
{
	const struct head gradients = head_at(model, model->gradients);
	const struct normal_rows normal = head_rows(model, slot);

	linear_backward_weight(&gradients.logits, model->n_rows,
	                       slot + model->slot_layout.head_input,
	                       slot + model->slot_layout.logits);
	norm_backward_weight(&gradients.norm, model->n_rows, &normal,
	                     slot + model->slot_layout.d_head_input);
}
