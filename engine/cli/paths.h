/* paths.h - where scenarios, profiles and results are. */
#ifndef ENGINE_CLI_PATHS_H
#define ENGINE_CLI_PATHS_H

#include <stddef.h>

#include "engine/base/err.h"
#include "engine/cli/options.h"

enum { PATHS_FOLDERS = 3 };

/* Folders in the order in which they are searched: the working directory's scenarios/, the one
 * beside the program, the installed one. Those that are not there are left out. */
struct paths {
	char *scenario_folders[PATHS_FOLDERS];
	char *profile_folders[PATHS_FOLDERS];
	size_t n_scenario_folders;
	size_t n_profile_folders;
	char *truth_folder; /* what was measured, for validate; NULL: not there */
};

int paths_init(struct paths *paths, struct err *err);
void paths_fini(struct paths *paths);

/* A scenario's file: the path itself when there is such a file, else that name, with or without
 * ".lua", in one of the folders. -ENOENT: err says where it was looked for. *out is the caller's.
 */
int paths_find_scenario(const struct paths *paths, const char *name, char **out, struct err *err);

/* --store, or $XDG_DATA_HOME/adaptra-bench/results.db, or the same below ~/.local/share. *out is
 * the caller's. */
int paths_store(const struct options *options, char **out, struct err *err);

#endif
