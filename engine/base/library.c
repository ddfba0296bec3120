/* library.c - opens shared libraries and looks functions up in them. */
#include "engine/base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* It stays: what a library has set up in a driver cannot be taken back. */
static int open_library(const char *file_name, const char *function, void **out, struct err *err)
{
	*out = RTLD_DEFAULT;
	if (dlsym(RTLD_DEFAULT, function))
		return 0;
	*out = dlopen(file_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (*out)
		return 0;
	return err_set(err, -ENODEV, "%s", dlerror());
}

int library_find(const char *file_name, const struct library_function *functions, size_t n,
                 void *out, struct err *err)
{
	void *library = NULL;
	int rc = open_library(file_name, functions[0].name, &library, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return err_set(err, -ENODEV, "%s has no %s", file_name, functions[i].name);
		memcpy((char *)out + functions[i].offset, &function, sizeof(function));
	}
	return rc;
}
