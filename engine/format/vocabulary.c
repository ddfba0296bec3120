/* vocabulary.c - what other programs call the kinds of ops. */
#include "engine/format/vocabulary.h"

#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"

static const char *const words[VOCABULARIES][OBSERVED_KINDS] = {
	[VOCABULARY_PYTORCH] =
		{
			[OBSERVED_FORWARD] = "F",
			[OBSERVED_BACKWARD] = "B",
			[OBSERVED_BACKWARD_INPUT] = "I",
			[OBSERVED_BACKWARD_WEIGHT] = "W",
			[OBSERVED_SEND_FORWARD] = "SEND_F",
			[OBSERVED_RECEIVE_FORWARD] = "RECV_F",
			[OBSERVED_SEND_BACKWARD] = "SEND_B",
			[OBSERVED_RECEIVE_BACKWARD] = "RECV_B",
		},
	[VOCABULARY_ZERO_BUBBLE] =
		{
			[OBSERVED_FORWARD] = "F",
			[OBSERVED_BACKWARD] = "BW",
			[OBSERVED_BACKWARD_INPUT] = "B",
			[OBSERVED_BACKWARD_WEIGHT] = "W",
			[OBSERVED_SEND_FORWARD] = "SEND_FORWARD",
			[OBSERVED_RECEIVE_FORWARD] = "RECV_FORWARD",
			[OBSERVED_SEND_BACKWARD] = "SEND_BACKWARD",
			[OBSERVED_RECEIVE_BACKWARD] = "RECV_BACKWARD",
		},
	[VOCABULARY_ADAPTRA] =
		{
			[OBSERVED_FORWARD] = "F",
			[OBSERVED_BACKWARD_INPUT] = "Bi",
			[OBSERVED_BACKWARD_WEIGHT] = "Bw",
		},
	[VOCABULARY_MEGATRON] =
		{
			[OBSERVED_FORWARD] = "forward-compute",
			[OBSERVED_BACKWARD] = "backward-compute",
			[OBSERVED_SEND_FORWARD] = "forward-send",
			[OBSERVED_RECEIVE_FORWARD] = "forward-recv",
			[OBSERVED_SEND_BACKWARD] = "backward-send",
			[OBSERVED_RECEIVE_BACKWARD] = "backward-recv",
			[OBSERVED_ALL_REDUCE] = "grads-all-reduce",
			[OBSERVED_OPTIMIZER] = "optimizer",
		},
};

static const char *const names[VOCABULARIES] = {"pytorch", "zero-bubble", "adaptra", "megatron"};

bool vocabulary_find(enum vocabulary vocabulary, const char *text, size_t length,
                     enum observed_kind *out)
{
	for (int kind = 0; kind < OBSERVED_KINDS; kind++) {
		const char *word = words[vocabulary][kind];

		if (word != NULL && strlen(word) == length && memcmp(word, text, length) == 0) {
			*out = (enum observed_kind)kind;
			return true;
		}
	}
	return false;
}

const char *vocabulary_word(enum vocabulary vocabulary, enum observed_kind kind)
{
	return words[vocabulary][kind];
}

int vocabulary_parse(const char *name, enum vocabulary *out, struct err *err)
{
	const char *nearest;

	for (int i = 0; i < VOCABULARIES; i++) {
		if (strcmp(names[i], name) == 0) {
			*out = (enum vocabulary)i;
			return 0;
		}
	}
	nearest = nearest_name(name, names, VOCABULARIES);
	return err_set(err, -EINVAL, "words of '%s'; %s%s%s", name,
	               nearest ? "did you mean '"
	                       : "wanted pytorch, zero-bubble, adaptra or megatron",
	               nearest ? nearest : "", nearest ? "'?" : "");
}
