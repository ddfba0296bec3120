/* model.h - what a stage computes: its part of a small GPT, as three operators over floats.
 *
 * Byte tokens, learned positions, pre-norm blocks of causal attention and an MLP with GELU, an
 * untied head, cross-entropy. Blocks are dealt to the stages in order, as equal as possible; the
 * first stage also embeds, the last also has the final norm and the head. float32. Where the
 * numbers lie, and who computes, is the arithmetic's to say (arithmetic.h).
 *
 * Every sum is taken in a fixed order, and F, B and W are each done in microbatch order, so an
 * iteration gives the same bits however the three are interleaved and however layers are dealt to
 * stages, on one machine with one arithmetic: one build of OpenBLAS, one kind of GPU.
 *
 * Nothing here knows devices or the network: a device decides where and when an operator runs. */
#ifndef ENGINE_MODEL_MODEL_H
#define ENGINE_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum { MODEL_VOCABULARY = 256, MODEL_MLP_RATIO = 4 };
enum { MODEL_TOKENS_MAX = 4096, MODEL_EMBEDDING_MAX = 4096 };

enum model_op { MODEL_FORWARD, MODEL_BACKWARD_INPUT, MODEL_BACKWARD_WEIGHT };

struct model_config {
	int n_stages;
	int n_layers; /* blocks over all stages; at least 1 a stage */
	int n_embedding;
	int n_heads;
	int n_tokens;  /* context length */
	int n_samples; /* sequences per microbatch */
	int n_microbatches;
	int n_slots; /* microbatches that a stage can hold from F to W */
	uint64_t seed;
	double learning_rate;
};

/* What live runs use unless told otherwise: one block a stage, messages of 4 KiB, a slot for every
 * microbatch, and operators of some tens of microseconds, so that they fit into a paced op. */
struct model_config model_default_config(int n_stages, int n_microbatches, uint64_t seed);

/* -EINVAL: a size out of range, or sizes that do not fit each other; err names them. */
int model_config_check(const struct model_config *config, struct err *err);

/* Bytes of an activation or a gradient between stages. */
size_t model_message_bytes(const struct model_config *config);

/* Bytes of a microbatch's tokens: n_samples × (n_tokens + 1), since each sample's last token is
 * only a target. */
size_t model_token_bytes(const struct model_config *config);

/* Floating-point operations of the matrix products in one operator of a stage, for pacing. */
int64_t model_op_flops(const struct model_config *config, int stage, enum model_op op);

/* One stage's parameters, gradients, optimizer state and activations. Belongs to one thread. Stages
 * of several threads at once need an OpenBLAS with threads, which libopenblas-dev brings: Debian's
 * serial one gives wrong products when two threads call it (0.3.21). */
struct model_stage;
struct arithmetic;

/* All memory is taken here, from the arithmetic, which is borrowed; none inside an iteration.
 * Parameters depend on the sizes, the seed and the layer, not on how layers are dealt to stages. */
int model_stage_new(const struct model_config *config, int stage, struct arithmetic *arithmetic,
                    struct model_stage **out, struct err *err);
void model_stage_free(struct model_stage *model);

/* Bytes that model_stage_new() takes. A double, since what model_config_check() lets pass can be
 * more than there are addresses. */
double model_stage_bytes(const struct model_config *config, int stage);

/* Of these, what lies in host memory where the arithmetic has memory of its own. */
double model_stage_host_bytes(const struct model_config *config, int stage);

/* The three operators of a microbatch, 0 to n_microbatches - 1. Each is done in microbatch order
 * and after the one before it: anything else is -EPERM and changes nothing. -EINVAL: a buffer that
 * this stage needs is NULL. Tokens are not kept; input and output are memory of the arithmetic,
 * which may read and write them until a wait; they do not overlap.
 *
 * F: tokens (first and last stage; model_token_bytes()), input
 * (not on the first stage; n_samples × n_tokens × n_embedding) -> output (same shape; not on the
 * last stage, which computes the loss). What a stage does not need may be NULL. Takes a slot;
 * -ENOSPC: none is free. */
int model_forward(struct model_stage *model, int microbatch, const uint8_t *tokens,
                  const float *input, float *output, struct err *err);

/* B: gradient of the output (not on the last stage) -> gradient of the input (not on the first).
 * Keeps what W needs. */
int model_backward_input(struct model_stage *model, int microbatch, const float *output_gradient,
                         float *input_gradient, struct err *err);

/* W: adds the microbatch's parameter gradients; frees its slot. */
int model_backward_weight(struct model_stage *model, int microbatch, struct err *err);

/* Sum over the microbatches done, in their order, of mean cross-entropy divided by n_microbatches;
 * 0 on all stages but the last. Waits for what was issued, as model_step() and model_abandon() do.
 */
int model_loss(const struct model_stage *model, double *out, struct err *err);

/* In one block each, in memory of the arithmetic, laid out as layout.h says; gradients are for an
 * all-reduce over replicas. */
const float *model_parameters(const struct model_stage *model, size_t *n_out);
float *model_gradients(struct model_stage *model, size_t *n_out);

/* Adam with gradients times scale, then a clean start: ends an iteration. -EPERM: a microbatch is
 * not done; nothing changes then. */
int model_step(struct model_stage *model, float scale, struct err *err);

/* Forget what was done since the last step: slots, gradients and loss. Parameters stay. */
int model_abandon(struct model_stage *model, struct err *err);

#endif
