/* text_internal.h - cutting hostile text into lines and numbers; shared by the readers of this
 * folder. */
#ifndef ENGINE_FORMAT_TEXT_INTERNAL_H
#define ENGINE_FORMAT_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

enum { TEXT_BYTES_MAX = 64 << 20, TEXT_SHOWN_BYTES = 48 };

/* Borrows the text. number is that of the line last taken, from 1. */
struct text_lines {
	const char *at;
	const char *end;
	size_t number;
};

/* A piece of the text, not NUL-terminated. */
struct text_span {
	const char *text;
	size_t length;
};

/* Refuse what no reader here takes: more than TEXT_BYTES_MAX, compressed data, NUL bytes. A byte
 * order mark is stepped over. */
int text_lines_init(struct text_lines *lines, const char *name, const char *text, size_t n_bytes,
                    struct err *err);

/* The next line without its LF or CR LF; false at the end. */
bool text_lines_next(struct text_lines *lines, struct text_span *line);

bool text_is_blank(char c);
bool text_is_digit(char c);

/* Without the blanks at both ends. */
struct text_span text_trim(struct text_span span);

/* The piece before separator; *rest becomes what follows it. False: there is no separator, *rest is
 * all of it and is taken whole. */
bool text_cut(struct text_span *rest, char separator, struct text_span *piece);

/* Take the digits at the front of *rest. -ENOENT: there are none; -ERANGE: more than max, which
 * counts as taken. */
int text_take_count(struct text_span *rest, int max, int *out);

/* Fit for a sentence: cut to TEXT_SHOWN_BYTES, with '?' for what cannot be printed. Returns out. */
const char *text_show(struct text_span span, char out[TEXT_SHOWN_BYTES]);

#endif
