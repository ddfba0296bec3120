/* json_read_internal.h - a JSON reader's state, and what it asks of strings and numbers. */
#ifndef ENGINE_FORMAT_JSON_READ_INTERNAL_H
#define ENGINE_FORMAT_JSON_READ_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/format/input.h"

enum json_wants {
	WANTS_VALUE,
	WANTS_VALUE_OR_END,
	WANTS_KEY_OR_END,
	WANTS_COLON,
	WANTS_COMMA_OR_END,
};

struct json_read {
	struct input *input;
	char *buffer; /* zeros behind its n bytes end every loop */
	size_t capacity;
	size_t n; /* bytes in buffer; those from at on are not taken */
	size_t at;
	uint64_t n_before; /* bytes that were in buffer before */
	uint64_t line;
	uint64_t is_object; /* one bit a level */
	int depth;
	enum json_wants wants;
	bool has_ended;
};

/* Replace escapes in place and set *length to what is left. False: an unknown one. Halves of
 * surrogate pairs that stand alone become U+FFFD. */
bool json_unescape(char *text, size_t *length);

#endif
