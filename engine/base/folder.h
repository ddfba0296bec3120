/* folder.h - the names of the files in folders, sorted. */
#ifndef ENGINE_BASE_FOLDER_H
#define ENGINE_BASE_FOLDER_H

#include <stddef.h>

/* Start zeroed. names without their ending; paths[i] is the file of names[i]. */
struct folder {
	char **names;
	char **paths;
	size_t n_names;
	size_t capacity;
};

/* Add the files in path whose names end like that; a name that is there already stays as it is, as
 * in a search path. A folder that cannot be read adds nothing. 0 or -ENOMEM. */
int folder_add(struct folder *folder, const char *path, const char *ending);
void folder_fini(struct folder *folder);

#endif
