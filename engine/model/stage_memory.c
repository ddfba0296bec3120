/* stage_memory.c - the memory of a stage: how much, taken, given back. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/model/stage_internal.h"

enum stage_array {
	SLOTS,
	PARAMETERS,
	GRADIENTS,
	FIRST_MOMENTS,
	SECOND_MOMENTS,
	SCRATCH,
	LOSSES,
	LOSS,
	TOKENS,
	HOST_TOKENS, /* from here on in host memory */
	FREE_SLOTS,
	SLOT_OF,
	N_ARRAYS,
};

struct array_size {
	size_t n_items;
	size_t item_bytes;
};

static void list_arrays(const struct model_config *config, const struct layout *layout,
                        const struct slot_layout *slot, struct array_size out[N_ARRAYS])
{
	const size_t n_slots = (size_t)config->n_slots, n_tokens = (size_t)config->n_tokens;
	const struct array_size floats = {layout->n_floats, sizeof(float)};

	out[SLOTS] = (struct array_size){n_slots, slot->n_floats * sizeof(float)};
	for (int i = PARAMETERS; i <= SECOND_MOMENTS; i++)
		out[i] = floats;
	out[SCRATCH] = (struct array_size){1, model_message_bytes(config) +
	                                              n_tokens * n_tokens * sizeof(float)};
	out[LOSSES] = (struct array_size){(size_t)config->n_samples * n_tokens, sizeof(float)};
	out[LOSS] = (struct array_size){1, sizeof(double)};
	out[TOKENS] = (struct array_size){n_slots, model_token_bytes(config)};
	out[HOST_TOKENS] =
		(struct array_size){(size_t)config->n_microbatches, model_token_bytes(config)};
	out[FREE_SLOTS] = (struct array_size){n_slots, sizeof(int)};
	out[SLOT_OF] = (struct array_size){n_slots, sizeof(int)};
}

static double sum_arrays(const struct model_config *config, int stage, enum stage_array first)
{
	struct array_size arrays[N_ARRAYS];
	struct layout layout;
	struct slot_layout slot;
	double sum = sizeof(struct model_stage);

	layout_init(config, stage, &layout);
	slot_layout_init(config, &layout, &slot);
	list_arrays(config, &layout, &slot, arrays);
	for (int i = (int)first; i < N_ARRAYS; i++)
		sum += (double)arrays[i].n_items * (double)arrays[i].item_bytes;
	return sum;
}

double model_stage_bytes(const struct model_config *config, int stage)
{
	return sum_arrays(config, stage, SLOTS);
}

double model_stage_host_bytes(const struct model_config *config, int stage)
{
	return sum_arrays(config, stage, HOST_TOKENS);
}

static void *take(struct model_stage *model, const struct array_size *size, bool is_host)
{
	size_t bytes;

	if (__builtin_mul_overflow(size->n_items, size->item_bytes, &bytes))
		return NULL;
	return arithmetic_alloc(model->arithmetic, bytes, is_host);
}

bool stage_memory_take(struct model_stage *model)
{
	struct array_size arrays[N_ARRAYS];

	list_arrays(&model->config, &model->layout, &model->slot_layout, arrays);
	/* By far the largest; without it the others are not even tried. */
	model->slots = take(model, &arrays[SLOTS], false);
	if (!model->slots)
		return false;
	model->parameters = take(model, &arrays[PARAMETERS], false);
	model->gradients = take(model, &arrays[GRADIENTS], false);
	model->first_moments = take(model, &arrays[FIRST_MOMENTS], false);
	model->second_moments = take(model, &arrays[SECOND_MOMENTS], false);
	model->scratch = take(model, &arrays[SCRATCH], false);
	model->losses = take(model, &arrays[LOSSES], false);
	model->loss = take(model, &arrays[LOSS], false);
	model->tokens = take(model, &arrays[TOKENS], false);
	model->host_tokens = take(model, &arrays[HOST_TOKENS], true);
	model->free_slots = array_new(arrays[FREE_SLOTS].n_items, arrays[FREE_SLOTS].item_bytes);
	model->slot_of = array_new(arrays[SLOT_OF].n_items, arrays[SLOT_OF].item_bytes);
	return model->parameters && model->gradients && model->first_moments &&
	       model->second_moments && model->scratch && model->losses && model->loss &&
	       model->tokens && model->host_tokens && model->free_slots && model->slot_of;
}

void stage_memory_free(struct model_stage *model)
{
	struct arithmetic *arithmetic = model->arithmetic;

	free(model->slot_of);
	free(model->free_slots);
	arithmetic_free(arithmetic, model->host_tokens, true);
	arithmetic_free(arithmetic, model->tokens, false);
	arithmetic_free(arithmetic, model->loss, false);
	arithmetic_free(arithmetic, model->losses, false);
	arithmetic_free(arithmetic, model->scratch, false);
	arithmetic_free(arithmetic, model->second_moments, false);
	arithmetic_free(arithmetic, model->first_moments, false);
	arithmetic_free(arithmetic, model->gradients, false);
	arithmetic_free(arithmetic, model->parameters, false);
	arithmetic_free(arithmetic, model->slots, false);
}
