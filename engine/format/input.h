/* input.h - a file or standard input, plain or compressed, read piece by piece or line by line.
 *
 * Gzip is told by its first bytes, never by a name. Memory does not grow with the file. */
#ifndef ENGINE_FORMAT_INPUT_H
#define ENGINE_FORMAT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum { INPUT_LINE_BYTES_MAX = 1 << 20, INPUT_PEEK_BYTES = 1 << 16 };

struct input;

/* "-" is standard input. Close *out with input_close(). -errno as of open(). */
int input_open(const char *path, struct input **out, struct err *err);

/* bytes are borrowed until input_close(); name stands in sentences. */
int input_open_bytes(const char *name, const char *bytes, size_t n_bytes, struct input **out,
                     struct err *err);
void input_close(struct input *input);

/* Up to n_wanted bytes of unpacked text; *n_out is 0 only at the end. Blocks. -EINVAL: compressed
 * data that is damaged or breaks off; -EINTR: the user wants to stop. */
int input_read(struct input *input, char *out, size_t n_wanted, size_t *n_out, struct err *err);

/* What input_read() will give first, up to INPUT_PEEK_BYTES of it, without taking it; valid until
 * the next call. Only before anything was read. */
int input_peek(struct input *input, const char **text_out, size_t *length_out, struct err *err);

/* The next line without its LF or CR LF, valid until the next call; 1, or 0 at the end. A byte
 * order mark at the start is left out. -EINVAL: a NUL byte; -EFBIG: a line longer than
 * INPUT_LINE_BYTES_MAX. Not to be mixed with input_read(). */
int input_next_line(struct input *input, const char **line_out, size_t *length_out,
                    struct err *err);

/* All that is left, NUL-terminated and the caller's to free. -EFBIG: more than limit_bytes. */
int input_read_all(struct input *input, size_t limit_bytes, char **text_out, size_t *n_out,
                   struct err *err);

/* Of the line last taken, from 1. */
uint64_t input_line(const struct input *input);

/* Unpacked bytes that were read so far. */
uint64_t input_n_bytes(const struct input *input);

/* What was opened, "standard input" for "-". */
const char *input_name(const struct input *input);

#endif
