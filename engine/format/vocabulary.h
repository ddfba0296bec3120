/* vocabulary.h - what other programs call the kinds of ops.
 *
 * B is a whole backward to one and the half for the input to another; BW is whole where Bw is the
 * half for the weights (FORMATS.md 1.2). So a word means nothing without the program it is from,
 * and case counts. What letters of grids mean depends on the grid: order_file.h. */
#ifndef ENGINE_FORMAT_VOCABULARY_H
#define ENGINE_FORMAT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/format/observed.h"

enum vocabulary {
	VOCABULARY_PYTORCH,     /* PyTorch pipelining: F B I W SEND_F … */
	VOCABULARY_ZERO_BUBBLE, /* the zero-bubble runtime: F BW B W SEND_FORWARD … */
	VOCABULARY_ADAPTRA,     /* Adaptra's schedule text: F Bi Bw */
	VOCABULARY_MEGATRON,    /* timers: forward-compute … */
};
enum { VOCABULARIES = VOCABULARY_MEGATRON + 1 };

/* False: the vocabulary has no such word. */
bool vocabulary_find(enum vocabulary vocabulary, const char *text, size_t length,
                     enum observed_kind *out);

/* NULL: it has no word for the kind. */
const char *vocabulary_word(enum vocabulary vocabulary, enum observed_kind kind);

/* By "pytorch", "zero-bubble", "adaptra" or "megatron". -EINVAL: another; err says which was meant.
 */
int vocabulary_parse(const char *name, enum vocabulary *out, struct err *err);

#endif
