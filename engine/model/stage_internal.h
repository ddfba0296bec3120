/* stage_internal.h - a stage's memory, shared by the operators of its parts.
 *
 * A slot holds what F keeps for B and W, and what B keeps for W, of one microbatch. Its layout is
 * offsets in floats, like that of the parameters. R is the rows of a microbatch, one a token. */
#ifndef ENGINE_MODEL_STAGE_INTERNAL_H
#define ENGINE_MODEL_STAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/model/arithmetic.h"
#include "engine/model/layout.h"
#include "engine/model/model.h"

/* A norm's input normalised (R x E) and its scales (R). */
struct slot_norm {
	size_t normal;
	size_t scale;
};

struct slot_block {
	/* From F: what goes into each product, and slopes. */
	struct slot_norm norm1;
	size_t input;         /* R x E, first norm's output */
	size_t qkv;           /* R x 3E */
	size_t probabilities; /* samples x heads x T x T */
	size_t mixed;         /* R x E, out of attention */
	struct slot_norm norm2;
	size_t middle; /* R x E, second norm's output */
	size_t slope;  /* R x 4E, GELU's */
	size_t gelu;   /* R x 4E */
	/* From B: the gradient of what comes out of each product. */
	size_t d_output; /* R x E, of the block */
	size_t d_up;
	size_t d_middle;
	size_t d_residual; /* R x E, between attention and MLP */
	size_t d_qkv;
	size_t d_input;
	size_t n_floats;
};

struct slot_layout {
	size_t blocks;
	/* First stage. */
	size_t d_embedding; /* R x E */
	/* Last stage. */
	struct slot_norm head_norm;
	size_t head_input; /* R x E */
	size_t logits;     /* R x vocabulary: probabilities after F, their gradients after B */
	size_t d_head_input;
	size_t n_floats;
	struct slot_block block;
};

struct model_stage {
	struct model_config config;
	int stage;
	int n_rows;
	struct arithmetic *arithmetic;
	struct layout layout;
	struct slot_layout slot_layout;
	float *parameters;
	float *gradients;
	float *first_moments;
	float *second_moments;
	int64_t n_steps;
	float *slots;
	float *scratch;       /* R x E, and behind it T x T */
	float *losses;        /* R */
	double *loss;         /* of the microbatches done, if there is one */
	uint8_t *tokens;      /* by slot */
	uint8_t *host_tokens; /* by microbatch, since a slot's may be on their way yet */
	int *free_slots;      /* a stack: what was freed last is still in the cache */
	int n_free_slots;
	int *slot_of;  /* by microbatch modulo n_slots, since they leave in the order they came */
	int n_done[3]; /* microbatches, by enum model_op */
};

void slot_layout_init(const struct model_config *config, const struct layout *layout,
                      struct slot_layout *out);

/* stage_memory.c: the arrays of a model whose layouts are set. False: out of memory; what was taken
 * is to be freed then, too. */
bool stage_memory_take(struct model_stage *model);
void stage_memory_free(struct model_stage *model);

/* Parameters as the seed has them, into memory of the host that is cleared. */
void stage_init_parameters(const struct model_stage *model, float *parameters);

/* residual is R x E and changes in place. */
void block_forward(const struct model_stage *model, int block, float *slot, float *residual);

/* Turns the block's d_output into d_residual, the gradient of its input (R x E). */
void block_backward_input(const struct model_stage *model, int block, float *slot,
                          float *d_residual);
void block_backward_weight(struct model_stage *model, int block, float *slot);
/* Where the gradient of a block's output belongs. */
float *block_d_output(const struct model_stage *model, int block, float *slot);

void attention_forward(const struct model_stage *model, float *slot_block);

/* d_mixed is R x E. */
void attention_backward(const struct model_stage *model, float *slot_block, const float *d_mixed);

void embedding_forward(const struct model_stage *model, const uint8_t *tokens, float *residual);
void embedding_backward_weight(struct model_stage *model, const uint8_t *tokens, const float *slot);

/* Adds the mean cross-entropy of the microbatch to the loss. */
void head_forward(const struct model_stage *model, const uint8_t *tokens, float *slot,
                  const float *residual);
void head_backward_input(const struct model_stage *model, const uint8_t *tokens, float *slot,
                         float *d_residual);
void head_backward_weight(struct model_stage *model, float *slot);

#endif
