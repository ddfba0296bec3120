/* file.h - whole files in, whole files out. */
#ifndef ENGINE_BASE_FILE_H
#define ENGINE_BASE_FILE_H

#include <stddef.h>

#include "engine/base/err.h"

/* Read at most limit_bytes; "-" is standard input. *text_out is NUL-terminated (NULs inside are
 * kept and counted) and the caller's to free. -EFBIG: longer than the limit. */
int file_read(const char *path, size_t limit_bytes, char **text_out, size_t *bytes_out,
              struct err *err);

/* Through a file_writer: path is whole or untouched, "-" is standard output. */
int file_write(const char *path, const char *bytes, size_t n_bytes, struct err *err);

/* All bytes to fd, however many calls it takes. 0 or -errno. */
int file_write_all(int fd, const char *bytes, size_t n_bytes);

/* The folder that path stands in: everything up to the last '/', or ".". The caller frees it; NULL:
 * out of memory. */
char *file_folder(const char *path);

/* mkdir -p; an existing folder is success. */
int file_make_folders(const char *path, struct err *err);

#endif
