/* base_folder.c - checks that files are listed by their ending, as in a search path. */
#include "engine/base/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

/* All checks run inside a temporary folder of their own. */
static char place[] = "/tmp/base_folder.XXXXXX";

static const char *const made[] = {"a/two.lua", "a/one.lua", "a/.hidden.lua", "a/note.txt",
                                   "a/.lua",    "b/one.lua", "b/three.lua"};

static void check_search_path(void)
{
	struct folder folder = {0};

	tap_is_int(folder_add(&folder, "a", ".lua"), 0, "a folder is listed");
	tap_is_int((int64_t)folder.n_names, 2, "files of another ending and hidden ones are not");
	tap_is_int(folder_add(&folder, "nowhere", ".lua"), 0, "one that is not there adds nothing");
	tap_is_int(folder_add(&folder, "b", ".lua"), 0, "a second one is added");
	if (tap_is_int((int64_t)folder.n_names, 3, "but for the names that are there")) {
		tap_is_str(folder.names[0], "one", "names are sorted");
		tap_is_str(folder.names[1], "three", "over both folders");
		tap_is_str(folder.paths[0], "a/one.lua", "the first folder wins");
		tap_is_str(folder.paths[1], "b/three.lua", "and every name has its path");
	}
	folder_fini(&folder);
}

int main(void)
{
	if (!mkdtemp(place) || chdir(place) || mkdir("a", 0700) || mkdir("b", 0700))
		return tap_skip_all("no temporary folder can be made");
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		FILE *file = fopen(made[i], "we");

		if (file)
			(void)fclose(file);
	}
	check_search_path();
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlink(made[i]);
	tap_is_int(rmdir("a") + rmdir("b") + rmdir(place), 0, "nothing is left");
	return tap_done();
}
