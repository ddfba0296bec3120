/* stage_memory.c - the memory of a stage: how much, taken, given back. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/model/stage_internal.h"

enum { CACHE_LINE_BYTES = 64 };

enum stage_array {
	SLOTS,
	PARAMETERS,
	GRADIENTS,
	FIRST_MOMENTS,
	SECOND_MOMENTS,
	SCRATCH,
	TOKENS,
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
	out[TOKENS] = (struct array_size){n_slots, model_token_bytes(config)};
	out[FREE_SLOTS] = (struct array_size){n_slots, sizeof(int)};
	out[SLOT_OF] = (struct array_size){n_slots, sizeof(int)};
}

double model_stage_bytes(const struct model_config *config, int stage)
{
	struct array_size arrays[N_ARRAYS];
	struct layout layout;
	struct slot_layout slot;
	double sum = sizeof(struct model_stage);

	layout_init(config, stage, &layout);
	slot_layout_init(config, &layout, &slot);
	list_arrays(config, &layout, &slot, arrays);
	for (int i = 0; i < N_ARRAYS; i++)
		sum += (double)arrays[i].n_items * (double)arrays[i].item_bytes;
	return sum;
}

static size_t round_up_to_line(size_t bytes)
{
	return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

/* Not cleared: every operator writes what the next one reads, and slots that a schedule never uses
 * cost nothing. */
static float *new_uncleared(const struct array_size *size)
{
	size_t bytes;

	if (__builtin_mul_overflow(size->n_items, size->item_bytes, &bytes) ||
	    bytes > PTRDIFF_MAX / 2)
		return NULL;
	return aligned_alloc(CACHE_LINE_BYTES, round_up_to_line(bytes));
}

static void *new_cleared(const struct array_size *size)
{
	return array_new(size->n_items, size->item_bytes);
}

bool stage_memory_take(struct model_stage *model)
{
	struct array_size arrays[N_ARRAYS];

	list_arrays(&model->config, &model->layout, &model->slot_layout, arrays);
	/* By far the largest; without it the others are not even tried. */
	model->slots = new_uncleared(&arrays[SLOTS]);
	if (!model->slots)
		return false;
	model->parameters = new_cleared(&arrays[PARAMETERS]);
	model->gradients = new_cleared(&arrays[GRADIENTS]);
	model->first_moments = new_cleared(&arrays[FIRST_MOMENTS]);
	model->second_moments = new_cleared(&arrays[SECOND_MOMENTS]);
	model->scratch = new_uncleared(&arrays[SCRATCH]);
	model->tokens = new_cleared(&arrays[TOKENS]);
	model->free_slots = new_cleared(&arrays[FREE_SLOTS]);
	model->slot_of = new_cleared(&arrays[SLOT_OF]);
	return model->parameters && model->gradients && model->first_moments &&
	       model->second_moments && model->scratch && model->tokens && model->free_slots &&
	       model->slot_of;
}

void stage_memory_free(struct model_stage *model)
{
	free(model->slot_of);
	free(model->free_slots);
	free(model->tokens);
	free(model->scratch);
	free(model->second_moments);
	free(model->first_moments);
	free(model->gradients);
	free(model->parameters);
	free(model->slots);
}
