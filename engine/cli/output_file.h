/* output_file.h - a file that is written piece by piece, and is there whole or not at all. */
#ifndef ENGINE_CLI_OUTPUT_FILE_H
#define ENGINE_CLI_OUTPUT_FILE_H

#include <stddef.h>

#include "engine/base/err.h"

struct output_file {
	int fd;
	char *path;
	char *temporary; /* beside it; NULL: what is written to is no plain file */
};

/* Pieces go to a temporary name beside path; to path itself when it is a device or a pipe, and to
 * standard output when it is "-". End with output_file_close() or output_file_abandon(). */
int output_file_open(const char *path, struct output_file *out, struct err *err);
int output_file_write(struct output_file *file, const char *bytes, size_t n_bytes, struct err *err);

/* Put the file in its place. Nothing of it is left after an error. */
int output_file_close(struct output_file *file, struct err *err);
void output_file_abandon(struct output_file *file);

#endif
