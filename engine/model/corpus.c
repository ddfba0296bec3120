/* corpus.c - windows into the built-in text, at places that a hash chooses. */
#include "engine/model/corpus.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "engine/base/embedded.h"
#include "engine/base/rng.h"

size_t corpus_bytes(void)
{
	return strlen(embedded_corpus_txt);
}

void corpus_microbatch(const struct model_config *config, int iteration, int replica,
                       int microbatch, uint8_t *out)
{
	const size_t window = (size_t)config->n_tokens + 1;
	const size_t length = corpus_bytes();
	uint64_t key = rng_mix(config->seed, (uint64_t)iteration);

	assert(length > window);
	key = rng_mix(rng_mix(key, (uint64_t)replica), (uint64_t)microbatch);
	for (int sample = 0; sample < config->n_samples; sample++) {
		size_t start = (size_t)(rng_mix(key, (uint64_t)sample) % (length - window + 1));

		memcpy(out, embedded_corpus_txt + start, window);
		out += window;
	}
}

uint64_t corpus_digest(void)
{
	return XXH3_64bits(embedded_corpus_txt, corpus_bytes());
}
