/* folder.c - a temporary folder of a test's own. */
#include "tests/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 256, DESCRIPTORS = 8 };

/* Of this process: exit handlers take no context. */
static char folder[PATH_BYTES];
static pid_t owner;

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *at)
{
	(void)about;
	(void)kind;
	(void)at;
	return remove(path);
}

/* A child that exits must not take its parent's folder away. */
static void remove_folder(void)
{
	if (getpid() == owner)
		(void)nftw(folder, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

const char *folder_open(void)
{
	const char *parent = getenv("TMPDIR");

	if (owner != 0)
		return folder;
	snprintf(folder, sizeof(folder), "%s/adaptra-test-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(folder) || atexit(remove_folder)) {
		printf("Bail out! cannot make %s: %s\n", folder, strerror(errno));
		exit(1);
	}
	owner = getpid();
	return folder;
}

const char *folder_path(const char *name)
{
	static char path[2 * PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder_open(), name);
	return path;
}
