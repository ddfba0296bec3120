/* library.h - shared libraries that are opened when they are first needed, not with the program. */
#ifndef ENGINE_BASE_LIBRARY_H
#define ENGINE_BASE_LIBRARY_H

#include <stddef.h>

#include "engine/base/err.h"

struct library_function {
	const char *name;
	size_t offset; /* of its pointer in the struct that is filled */
};

/* Fill out, a struct of pointers to functions. A library that the program was linked with, which
 * holds the first function, is taken before the file of that name; that is looked for along the
 * path that the program was built with, and stays open until the program ends. -ENODEV: it is
 * missing, or has not all of them; out is then in no certain state. */
int library_find(const char *file_name, const struct library_function *functions, size_t n,
                 void *out, struct err *err);

#endif
