/* layout.h - where each parameter of a stage lies in its block of floats, on whatever device.
 *
 * Numbers are offsets in floats. A weight has a row per input and a column per output. Gradients
 * and the optimizer's moments are laid out alike. */
#ifndef ENGINE_MODEL_LAYOUT_H
#define ENGINE_MODEL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/model/model.h"

/* From the start of the block. */
struct layout_block {
	size_t norm1_gain, norm1_bias; /* E each */
	size_t qkv_weight, qkv_bias; /* E x 3E, queries then keys then values; heads inside each */
	size_t mix_weight, mix_bias; /* E x E, after attention */
	size_t norm2_gain, norm2_bias;
	size_t up_weight, up_bias;     /* E x 4E */
	size_t down_weight, down_bias; /* 4E x E */
	size_t n_floats;
};

struct layout {
	int first_layer;
	int n_layers;
	bool has_embedding; /* first stage */
	bool has_head;      /* last stage */
	size_t token;       /* vocabulary x E */
	size_t position;    /* n_tokens x E */
	size_t blocks;      /* n_layers of them, back to back */
	size_t head_gain, head_bias;
	size_t head_weight; /* E x vocabulary */
	size_t n_floats;
	struct layout_block block;
};

/* config has passed its check and stage is one of its stages. */
void layout_init(const struct model_config *config, int stage, struct layout *out);

#endif
