/* corpus.h - the text that the model learns, dealt out by iteration, replica, microbatch, sample.
 *
 * An essay written for this program, in plain ASCII; it travels inside the program. */
#ifndef ENGINE_MODEL_CORPUS_H
#define ENGINE_MODEL_CORPUS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/model/model.h"

/* The tokens of a microbatch, model_token_bytes() of them: a function of the arguments and the
 * config's seed and sizes alone, so that every stage and every repeat of an iteration sees the
 * same. config has passed its check. */
void corpus_microbatch(const struct model_config *config, int iteration, int replica,
                       int microbatch, uint8_t *out);

size_t corpus_bytes(void);

/* 64-bit hash of the text, kept in checkpoints. */
uint64_t corpus_digest(void);

#endif
