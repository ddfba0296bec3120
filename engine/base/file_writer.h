/* file_writer.h - a file that is written piece by piece, and is there whole or not at all. */
#ifndef ENGINE_BASE_FILE_WRITER_H
#define ENGINE_BASE_FILE_WRITER_H

#include <stddef.h>

#include "engine/base/err.h"

struct file_writer;

/* Pieces go to a temporary name beside path, path.tmp-…; a device or a pipe is written as it is,
 * and "-" is standard output. End with file_writer_close() or file_writer_abandon(). */
int file_writer_open(const char *path, struct file_writer **out, struct err *err);
int file_writer_put(struct file_writer *writer, const char *bytes, size_t n_bytes, struct err *err);

/* Sync, and put the file in its place, with the mode of what was there. After an error nothing of
 * it is left and path is untouched. Frees writer in any case, as file_writer_abandon() does. */
int file_writer_close(struct file_writer *writer, struct err *err);
void file_writer_abandon(struct file_writer *writer);

#endif
