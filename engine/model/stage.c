/* stage.c - a stage of the model: its three operators and their order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/model/stage_internal.h"
#include "engine/model/work.h"

/* Both moments start at 0; gradients do with every iteration. */
static int init_state(struct model_stage *model, struct err *err)
{
	const size_t n_floats = model->layout.n_floats;
	const struct work clear_first = {
		.kind = WORK_CLEAR, .n_items = n_floats, .clear = model->first_moments};
	const struct work clear_second = {
		.kind = WORK_CLEAR, .n_items = n_floats, .clear = model->second_moments};
	float *parameters = array_new(n_floats, sizeof(*parameters));
	int rc;

	if (!parameters)
		return err_set(err, -ENOMEM, "out of memory for the parameters of stage %d",
		               model->stage);
	stage_init_parameters(model, parameters);
	rc = arithmetic_store(model->arithmetic, model->parameters, parameters,
	                      n_floats * sizeof(*parameters), err);
	free(parameters);
	if (rc)
		return rc;
	arithmetic_run(model->arithmetic, &clear_first);
	arithmetic_run(model->arithmetic, &clear_second);
	return model_abandon(model, err);
}

int model_stage_new(const struct model_config *config, int stage, struct arithmetic *arithmetic,
                    struct model_stage **out, struct err *err)
{
	struct model_stage *model;
	int rc = model_config_check(config, err);

	if (rc)
		return rc;
	if (stage < 0 || stage >= config->n_stages)
		return err_set(err, -EINVAL, "there is no stage %d in a model of %d stages", stage,
		               config->n_stages);
	model = array_new(1, sizeof(*model));
	if (!model)
		return err_set(err, -ENOMEM, "out of memory for stage %d of the model", stage);
	model->config = *config;
	model->stage = stage;
	model->arithmetic = arithmetic;
	model->n_rows = config->n_samples * config->n_tokens;
	layout_init(config, stage, &model->layout);
	slot_layout_init(config, &model->layout, &model->slot_layout);
	if (!stage_memory_take(model)) {
		model_stage_free(model);
		return err_set(err, -ENOMEM,
		               "out of memory for stage %d of the model; make n_samples, n_tokens, "
		               "n_embedding or n_slots smaller",
		               stage);
	}
	rc = init_state(model, err);
	if (rc)
		model_stage_free(model);
	else
		*out = model;
	return rc;
}

void model_stage_free(struct model_stage *model)
{
	if (!model)
		return;
	stage_memory_free(model);
	free(model);
}

int model_abandon(struct model_stage *model, struct err *err)
{
	const struct work clear = {
		.kind = WORK_CLEAR, .n_items = model->layout.n_floats, .clear = model->gradients};
	const int n_slots = model->config.n_slots;

	arithmetic_run(model->arithmetic, &clear);
	memset(model->n_done, 0, sizeof(model->n_done));
	model->n_free_slots = n_slots;
	/* The first to be taken is slot 0. */
	for (int i = 0; i < n_slots; i++)
		model->free_slots[i] = n_slots - 1 - i;
	return arithmetic_wait(model->arithmetic, err);
}

/* Every operator's turn: the next of its kind, and after what it needs. */
static int check_turn(const struct model_stage *model, enum model_op op, int microbatch,
                      struct err *err)
{
	static const char letters[] = "FBW";
	const int next = model->n_done[op];

	if (next == model->config.n_microbatches)
		return err_set(err, -EPERM,
		               "%c%d on stage %d: all %d microbatches are done; end the iteration",
		               letters[op], microbatch, model->stage, next);
	if (microbatch != next)
		return err_set(err, -EPERM,
		               "%c%d on stage %d is out of order: %c%d comes next, and the order "
		               "decides the bits of the sums",
		               letters[op], microbatch, model->stage, letters[op], next);
	if (op != MODEL_FORWARD && model->n_done[op - 1] <= microbatch)
		return err_set(err, -EPERM, "%c%d on stage %d comes before %c%d is done",
		               letters[op], microbatch, model->stage, letters[op - 1], microbatch);
	return 0;
}

static int check_buffer(const struct model_stage *model, const void *buffer, bool is_needed,
                        const char *name, struct err *err)
{
	if (buffer || !is_needed)
		return 0;
	return err_set(err, -EINVAL, "stage %d of %d needs the buffer %s, but it is NULL",
	               model->stage, model->config.n_stages, name);
}

static int slot_index(const struct model_stage *model, int microbatch)
{
	return model->slot_of[microbatch % model->config.n_slots];
}

static float *slot_at(const struct model_stage *model, int slot)
{
	return model->slots + (size_t)slot * model->slot_layout.n_floats;
}

static uint8_t *slot_tokens(const struct model_stage *model, int slot)
{
	return model->tokens + (size_t)slot * model_token_bytes(&model->config);
}

/* They go with the stream of work, so the host's copy has to stay as it is. */
static void bring_tokens(struct model_stage *model, int microbatch, int slot, const uint8_t *tokens)
{
	const size_t n_bytes = model_token_bytes(&model->config);
	uint8_t *between = model->host_tokens + (size_t)microbatch * n_bytes;

	memcpy(between, tokens, n_bytes);
	arithmetic_copy(model->arithmetic, slot_tokens(model, slot), between, n_bytes);
}

static int check_forward(const struct model_stage *model, int microbatch, struct err *err)
{
	int rc = check_turn(model, MODEL_FORWARD, microbatch, err);

	if (!rc && model->n_free_slots == 0)
		rc = err_set(err, -ENOSPC,
		             "F%d on stage %d finds no free slot of %d; W%d would free one",
		             microbatch, model->stage, model->config.n_slots,
		             model->n_done[MODEL_BACKWARD_WEIGHT]);
	return rc;
}

/* The last stage's goes nowhere; its own scratch carries it. */
static void run_forward(struct model_stage *model, int slot, const float *input, float *output)
{
	const struct layout *layout = &model->layout;
	float *floats = slot_at(model, slot);
	float *residual = layout->has_head ? model->scratch : output;

	if (layout->has_embedding)
		embedding_forward(model, slot_tokens(model, slot), residual);
	else
		arithmetic_copy(model->arithmetic, residual, input,
		                model_message_bytes(&model->config));
	for (int block = 0; block < layout->n_layers; block++)
		block_forward(model, block, floats, residual);
	if (layout->has_head)
		head_forward(model, slot_tokens(model, slot), floats, residual);
}

int model_forward(struct model_stage *model, int microbatch, const uint8_t *tokens,
                  const float *input, float *output, struct err *err)
{
	const struct layout *layout = &model->layout;
	const bool needs_tokens = layout->has_embedding || layout->has_head;
	int slot;
	int rc = check_forward(model, microbatch, err);

	if (!rc)
		rc = check_buffer(model, tokens, needs_tokens, "tokens", err);
	if (!rc)
		rc = check_buffer(model, input, !layout->has_embedding, "input", err);
	if (!rc)
		rc = check_buffer(model, output, !layout->has_head, "output", err);
	if (rc)
		return rc;
	slot = model->free_slots[--model->n_free_slots];
	model->slot_of[microbatch % model->config.n_slots] = slot;
	if (needs_tokens)
		bring_tokens(model, microbatch, slot, tokens);
	run_forward(model, slot, input, output);
	model->n_done[MODEL_FORWARD]++;
	return arithmetic_check(model->arithmetic, err);
}

/* The gradient of a block's input goes to the block before it, the embedding, or the stage
 * before. */
static float *d_input_of(const struct model_stage *model, int block, float *slot,
                         float *input_gradient)
{
	if (block > 0)
		return block_d_output(model, block - 1, slot);
	return model->layout.has_embedding ? slot + model->slot_layout.d_embedding : input_gradient;
}

int model_backward_input(struct model_stage *model, int microbatch, const float *output_gradient,
                         float *input_gradient, struct err *err)
{
	const struct layout *layout = &model->layout;
	const int last_block = layout->n_layers - 1;
	float *slot, *d_output;
	int rc = check_turn(model, MODEL_BACKWARD_INPUT, microbatch, err);

	if (!rc)
		rc = check_buffer(model, output_gradient, !layout->has_head, "output_gradient",
		                  err);
	if (!rc)
		rc = check_buffer(model, input_gradient, !layout->has_embedding, "input_gradient",
		                  err);
	if (rc)
		return rc;
	slot = slot_at(model, slot_index(model, microbatch));
	d_output = block_d_output(model, last_block, slot);
	if (layout->has_head)
		head_backward_input(model, slot_tokens(model, slot_index(model, microbatch)), slot,
		                    d_output);
	else
		arithmetic_copy(model->arithmetic, d_output, output_gradient,
		                model_message_bytes(&model->config));
	for (int block = last_block; block >= 0; block--)
		block_backward_input(model, block, slot,
		                     d_input_of(model, block, slot, input_gradient));
	model->n_done[MODEL_BACKWARD_INPUT]++;
	return arithmetic_check(model->arithmetic, err);
}

int model_backward_weight(struct model_stage *model, int microbatch, struct err *err)
{
	const struct layout *layout = &model->layout;
	int index;
	float *slot;
	int rc = check_turn(model, MODEL_BACKWARD_WEIGHT, microbatch, err);

	if (rc)
		return rc;
	index = slot_index(model, microbatch);
	slot = slot_at(model, index);
	if (layout->has_head)
		head_backward_weight(model, slot);
	for (int block = layout->n_layers - 1; block >= 0; block--)
		block_backward_weight(model, block, slot);
	if (layout->has_embedding)
		embedding_backward_weight(model, slot_tokens(model, index), slot);
	model->free_slots[model->n_free_slots++] = index;
	model->n_done[MODEL_BACKWARD_WEIGHT]++;
	return arithmetic_check(model->arithmetic, err);
}

int model_loss(const struct model_stage *model, double *out, struct err *err)
{
	if (!model->layout.has_head || model->n_done[MODEL_FORWARD] == 0) {
		*out = 0;
		return 0;
	}
	return arithmetic_fetch(model->arithmetic, out, model->loss, sizeof(*out), err);
}

const float *model_parameters(const struct model_stage *model, size_t *n_out)
{
	*n_out = model->layout.n_floats;
	return model->parameters;
}

float *model_gradients(struct model_stage *model, size_t *n_out)
{
	*n_out = model->layout.n_floats;
	return model->gradients;
}
