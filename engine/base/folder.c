/* folder.c - lists the files of folders by their ending. */
#include "engine/base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

static int make_room(struct folder *folder)
{
	size_t capacity = folder->capacity;
	char **names, **paths;

	if (folder->n_names < capacity)
		return 0;
	names = array_grow(folder->names, &capacity, folder->n_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	folder->names = names;
	capacity = folder->capacity;
	paths = array_grow(folder->paths, &capacity, folder->n_names + 1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	folder->paths = paths;
	folder->capacity = capacity;
	return 0;
}

/* Where the name belongs; *is_there when it is there already. */
static size_t find_place(const struct folder *folder, const char *name, int *is_there)
{
	size_t at = 0;

	while (at < folder->n_names && strcmp(folder->names[at], name) < 0)
		at++;
	*is_there = at < folder->n_names && strcmp(folder->names[at], name) == 0;
	return at;
}

static int insert(struct folder *folder, const char *path, const char *file, size_t length)
{
	char *name = strndup(file, length), *full = NULL;
	int is_there, rc = -ENOMEM;
	size_t at, n_after;

	if (!name || asprintf(&full, "%s/%s", path, file) < 0)
		goto free_name;
	at = find_place(folder, name, &is_there);
	rc = is_there ? 0 : make_room(folder);
	if (is_there || rc)
		goto free_path;
	n_after = (folder->n_names - at) * sizeof(char *);
	memmove(folder->names + at + 1, folder->names + at, n_after);
	memmove(folder->paths + at + 1, folder->paths + at, n_after);
	folder->names[at] = name;
	folder->paths[at] = full;
	folder->n_names++;
	return 0;

free_path:
	free(full);
free_name:
	free(name);
	return rc;
}

int folder_add(struct folder *folder, const char *path, const char *ending)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return 0;
	while (rc == 0 && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name), tail = strlen(ending);

		if (entry->d_name[0] != '.' && length > tail &&
		    strcmp(entry->d_name + length - tail, ending) == 0)
			rc = insert(folder, path, entry->d_name, length - tail);
	}
	closedir(dir);
	return rc;
}

void folder_fini(struct folder *folder)
{
	for (size_t i = 0; i < folder->n_names; i++) {
		free(folder->names[i]);
		free(folder->paths[i]);
	}
	free(folder->names);
	free(folder->paths);
}
