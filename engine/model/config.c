/* config.c - the sizes of a model: defaults, limits, and what follows from them. */
#include <errno.h>
#include <math.h>

#include "engine/model/layout.h"
#include "engine/model/model.h"

/* Far above any use. They keep products of sizes below 2^63, so that only the allocations need to
 * be checked. */
static const struct {
	const char *name;
	size_t offset;
	int most;
} sizes[] = {
	{"n_stages", offsetof(struct model_config, n_stages), 4096},
	{"n_layers", offsetof(struct model_config, n_layers), 4096},
	{"n_embedding", offsetof(struct model_config, n_embedding), MODEL_EMBEDDING_MAX},
	{"n_heads", offsetof(struct model_config, n_heads), 4096},
	{"n_tokens", offsetof(struct model_config, n_tokens), MODEL_TOKENS_MAX},
	{"n_samples", offsetof(struct model_config, n_samples), 4096},
	{"n_microbatches", offsetof(struct model_config, n_microbatches), 1 << 20},
	{"n_slots", offsetof(struct model_config, n_slots), 1 << 20},
};

struct model_config model_default_config(int n_stages, int n_microbatches, uint64_t seed)
{
	return (struct model_config){
		.n_stages = n_stages,
		.n_layers = n_stages,
		.n_embedding = 32,
		.n_heads = 2,
		.n_tokens = 32,
		.n_samples = 1,
		.n_microbatches = n_microbatches,
		.n_slots = n_microbatches,
		.seed = seed,
		.learning_rate = 3e-3,
	};
}

int model_config_check(const struct model_config *config, struct err *err)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int size = *(const int *)((const char *)config + sizes[i].offset);

		if (size < 1 || size > sizes[i].most)
			return err_set(err, -EINVAL, "the model's %s is %d; wanted is 1 to %d",
			               sizes[i].name, size, sizes[i].most);
	}
	if (config->n_layers < config->n_stages)
		return err_set(err, -EINVAL,
		               "%d layers are too few for %d stages; each needs at least one",
		               config->n_layers, config->n_stages);
	if (config->n_embedding % config->n_heads != 0)
		return err_set(err, -EINVAL,
		               "an embedding of %d does not divide into %d heads; make it a "
		               "multiple",
		               config->n_embedding, config->n_heads);
	if (!isfinite(config->learning_rate) || config->learning_rate < 0)
		return err_set(err, -EINVAL,
		               "the learning rate is %g; wanted is 0 or a small positive number",
		               config->learning_rate);
	return 0;
}

static int64_t n_rows(const struct model_config *config)
{
	return (int64_t)config->n_samples * config->n_tokens;
}

size_t model_message_bytes(const struct model_config *config)
{
	return (size_t)n_rows(config) * (size_t)config->n_embedding * sizeof(float);
}

size_t model_token_bytes(const struct model_config *config)
{
	return (size_t)config->n_samples * ((size_t)config->n_tokens + 1);
}

int64_t model_op_flops(const struct model_config *config, int stage, enum model_op op)
{
	const int64_t width = config->n_embedding;
	const int64_t weights = (3 + 1 + 2 * MODEL_MLP_RATIO) * width * width;
	struct layout layout;
	int64_t per_block = 2 * weights;

	layout_init(config, stage, &layout);
	/* Two products of tokens by tokens forward, four backward for the input, none for W. */
	if (op == MODEL_FORWARD)
		per_block += 4 * config->n_tokens * width;
	else if (op == MODEL_BACKWARD_INPUT)
		per_block += 8 * config->n_tokens * width;
	return n_rows(config) *
	       (per_block * layout.n_layers + (layout.has_head ? 2 * width * MODEL_VOCABULARY : 0));
}
