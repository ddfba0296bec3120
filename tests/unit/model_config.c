/* model_config.c - sizes that fit, sizes that do not, and the text that is dealt out. */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>

#include "engine/model/layout.h"
#include "tests/unit/model_fixture.h"

static void check_bad(struct model_config config, const char *sentence)
{
	struct err err = {0};
	struct model_stage *model = NULL;

	tap_is_int(model_config_check(&config, &err), -EINVAL, "refused: %s", sentence);
	tap_contains(err.text, sentence, "and said so");
	tap_ok(model_stage_new(&config, 0, arithmetic_host(), &model, &err) == -EINVAL && !model,
	       "no stage is made of it");
}

#define BAD(field, value, sentence)                                         \
	do {                                                                \
		struct model_config config = model_default_config(4, 8, 1); \
		config.field = value;                                       \
		check_bad(config, sentence);                                \
	} while (0)

static void check_bad_sizes(void)
{
	BAD(n_stages, 0, "n_stages is 0");
	BAD(n_layers, 3, "3 layers are too few for 4 stages");
	BAD(n_embedding, -32, "n_embedding is -32");
	BAD(n_embedding, 4097, "n_embedding is 4097; wanted is 1 to 4096");
	BAD(n_heads, 3, "an embedding of 32 does not divide into 3 heads");
	BAD(n_heads, 0, "n_heads is 0");
	BAD(n_tokens, 1 << 20, "n_tokens is 1048576");
	BAD(n_samples, 0, "n_samples is 0");
	BAD(n_microbatches, 0, "n_microbatches is 0");
	BAD(n_slots, 0, "n_slots is 0");
	BAD(learning_rate, NAN, "learning rate is nan");
	BAD(learning_rate, -1, "learning rate is -1");
}

static void check_too_large(void)
{
	struct model_config config = model_default_config(1, 1, 1);
	struct model_stage *model = NULL;
	struct err err = {0};

	config.n_tokens = config.n_samples = 4096;
	config.n_embedding = config.n_heads = 64;
	config.n_slots = 1 << 20;
	tap_is_int(model_stage_new(&config, 0, arithmetic_host(), &model, &err), -ENOMEM,
	           "no memory for it");
	tap_contains(err.text, "make n_samples, n_tokens, n_embedding or n_slots smaller",
	             "and what helps is said");
	tap_is_int(model_stage_new(&config, 1, arithmetic_host(), &model, &err), -EINVAL,
	           "no stage 1 of 1");
	tap_contains(err.text, "no stage 1 in a model of 1 stages", "and said so");
}

static void check_layers(void)
{
	struct model_config config = model_default_config(1, 1, 1);
	struct layout layout;

	for (config.n_stages = 1; config.n_stages <= 16; config.n_stages++) {
		int most = 0, least = 99, next = 0;

		config.n_layers = 21;
		for (int stage = 0; stage < config.n_stages; stage++) {
			layout_init(&config, stage, &layout);
			most = layout.n_layers > most ? layout.n_layers : most;
			least = layout.n_layers < least ? layout.n_layers : least;
			next = layout.first_layer == next ? next + layout.n_layers : -1;
		}
		tap_ok(next == 21 && most - least <= 1, "21 layers are dealt evenly to %d stages",
		       config.n_stages);
	}
}

static void check_numbers(void)
{
	struct model_config config = model_default_config(8, 24, 1);
	const int64_t rows = 32, products = rows * 2 * 12 * 32 * 32;

	tap_is_int(model_config_check(&config, NULL), 0, "the default fits");
	tap_is_int((int64_t)model_message_bytes(&config), 32 * 32 * 4, "a message is 4 KiB");
	tap_is_int((int64_t)model_token_bytes(&config), 33, "a microbatch is 33 tokens");
	tap_is_int(model_op_flops(&config, 1, MODEL_FORWARD), products + rows * 4 * 32 * 32,
	           "F's operations");
	tap_is_int(model_op_flops(&config, 1, MODEL_BACKWARD_INPUT), products + rows * 8 * 32 * 32,
	           "B's operations");
	tap_is_int(model_op_flops(&config, 7, MODEL_BACKWARD_WEIGHT),
	           products + rows * 2 * 32 * 256, "W's operations, with the head");
}

/* Of a sanitizer's allocator, for which mallinfo2() knows nothing. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static double allocated_bytes(void)
{
	struct mallinfo2 info;

	if (__sanitizer_get_current_allocated_bytes)
		return (double)__sanitizer_get_current_allocated_bytes();
	info = mallinfo2();
	return (double)info.uordblks + (double)info.hblkhd;
}

/* What an allocator may add to an array: the rest of a page, and its own words. */
enum { N_ARRAYS = 10, ARRAY_EXTRA_BYTES = 2 * 4096 };

static void check_bytes_of(const struct model_config *config, int stage, const char *name)
{
	double before = allocated_bytes(), want = model_stage_bytes(config, stage), taken;
	struct model_stage *model = NULL;
	struct err err = {0};

	if (model_stage_new(config, stage, arithmetic_host(), &model, &err)) {
		tap_is_str(err.text, "", "a stage is made");
		return;
	}
	taken = allocated_bytes() - before;
	tap_ok(taken >= want && taken <= want + N_ARRAYS * ARRAY_EXTRA_BYTES,
	       "%s: %.0f bytes are foretold, %.0f are taken", name, want, taken);
	model_stage_free(model);
}

static void check_bytes(void)
{
	struct model_config config = model_default_config(3, 24, 1);
	struct model_stage *model = NULL;

	/* What OpenBLAS takes at its first use is not a stage's. */
	if (model_stage_new(&config, 0, arithmetic_host(), &model, NULL) == 0)
		model_stage_free(model);
	check_bytes_of(&config, 0, "the first stage");
	check_bytes_of(&config, 1, "a stage in the middle");
	check_bytes_of(&config, 2, "the last stage");
	config.n_layers = 7;
	config.n_heads = 8;
	config.n_tokens = 100;
	config.n_samples = 3;
	check_bytes_of(&config, 0, "three layers, longer samples");
	config.n_slots = 2;
	check_bytes_of(&config, 2, "few slots");
	config.n_slots = 1 << 20;
	config.n_tokens = config.n_samples = 4096;
	tap_ok(model_stage_bytes(&config, 2) > 1e18, "what is too much is counted, too: %.3g",
	       model_stage_bytes(&config, 2));
}

static void check_corpus(void)
{
	struct model_config config = model_default_config(2, 4, 9);
	uint8_t texts[6][256];
	size_t n = model_token_bytes(&config);
	bool is_plain = true;

	tap_ok(corpus_bytes() >= 20 * 1024, "the text has 20 KiB or more");
	tap_ok(corpus_digest() != 0 && corpus_digest() == corpus_digest(), "it has a digest");
	memset(texts, 0xff, sizeof(texts));
	corpus_microbatch(&config, 3, 1, 2, texts[0]);
	corpus_microbatch(&config, 4, 1, 2, texts[1]);
	corpus_microbatch(&config, 3, 2, 2, texts[2]);
	corpus_microbatch(&config, 3, 1, 1, texts[3]);
	config.seed++;
	corpus_microbatch(&config, 3, 1, 2, texts[4]);
	config.seed--;
	config.n_stages = 1;
	config.learning_rate = 0;
	corpus_microbatch(&config, 3, 1, 2, texts[5]);
	tap_ok(memcmp(texts[0], texts[5], n) == 0, "who asks does not matter");
	for (int i = 1; i < 5; i++)
		tap_ok(memcmp(texts[0], texts[i], n) != 0, "what is asked does (%d)", i);
	tap_ok(memcmp(texts[0], texts[0] + n / 2, n / 2) != 0, "two samples differ");
	for (size_t i = 0; i < n; i++)
		is_plain = is_plain && texts[0][i] < 128 && texts[0][i] > 0;
	tap_ok(is_plain && texts[0][n] == 0xff, "all its bytes are text, and no more are written");
	tap_note("a sample: %.32s", (const char *)texts[0]);
}

static void check_long_samples(void)
{
	struct model_config config = model_default_config(1, 1, 9);
	uint8_t text[MODEL_TOKENS_MAX + 1];

	config.n_tokens = MODEL_TOKENS_MAX;
	config.n_samples = 1;
	for (int i = 0; i < 200; i++)
		corpus_microbatch(&config, i, 0, 0, text);
	tap_ok(memchr(text, 0, sizeof(text)) == NULL, "the longest samples stay inside the text");
}

int main(void)
{
	check_bad_sizes();
	check_too_large();
	check_layers();
	check_numbers();
	check_bytes();
	check_corpus();
	check_long_samples();
	return tap_done();
}
