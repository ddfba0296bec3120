/* paths.c - finds the folders of scenarios and profiles, and the place for results. */
#include "engine/cli/paths.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/folder.h"
#include "engine/base/nearest.h"
#include "engine/base/strbuf.h"

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

/* base/name, unless it is no folder or there already. */
static int add_folder(char **folders, size_t *n_folders, const char *base, const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s", base, name) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < *n_folders; i++)
		if (is_same_folder(folders[i], path))
			goto leave_out;
	if (!is_folder(path))
		goto leave_out;
	folders[(*n_folders)++] = path;
	return 0;

leave_out:
	free(path);
	return 0;
}

/* "/usr/local/bin/" of the program; "" when the kernel does not tell. */
static void program_folder(char *out, size_t n_bytes)
{
	ssize_t n = readlink("/proc/self/exe", out, n_bytes - 1);

	out[n > 0 ? n : 0] = '\0';
	if (strrchr(out, '/'))
		strrchr(out, '/')[1] = '\0';
}

/* Installed it has a name of its own; in the source tree the tests hold it. */
static int find_truth(struct paths *paths, const char *const *bases)
{
	static const char *const names[PATHS_FOLDERS] = {"tests/data/pipemorph",
	                                                 "tests/data/pipemorph", "pipemorph"};
	size_t n_found = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && n_found == 0 && i < PATHS_FOLDERS; i++)
		rc = add_folder(&paths->truth_folder, &n_found, bases[i], names[i]);
	return rc;
}

int paths_init(struct paths *paths, struct err *err)
{
	char beside[4096];
	const char *const bases[PATHS_FOLDERS] = {"", beside, ADAPTRA_DATA_FOLDER "/"};
	int rc = 0;

	*paths = (struct paths){0};
	program_folder(beside, sizeof(beside));
	for (size_t i = 0; rc == 0 && i < PATHS_FOLDERS; i++) {
		rc = add_folder(paths->scenario_folders, &paths->n_scenario_folders, bases[i],
		                "scenarios");
		if (rc == 0)
			rc = add_folder(paths->profile_folders, &paths->n_profile_folders, bases[i],
			                "scenarios/profiles");
	}
	if (rc == 0)
		rc = find_truth(paths, bases);
	if (rc)
		paths_fini(paths);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

void paths_fini(struct paths *paths)
{
	for (size_t i = 0; i < paths->n_scenario_folders; i++)
		free(paths->scenario_folders[i]);
	for (size_t i = 0; i < paths->n_profile_folders; i++)
		free(paths->profile_folders[i]);
	free(paths->truth_folder);
}

/* folder/name if it can be read. 0: it is not there; 1: *out is set; -ENOMEM. */
static int try_file(const char *folder, const char *name, const char *ending, char **out)
{
	struct stat status;
	char *path;

	if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
		return -ENOMEM;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
		*out = path;
		return 1;
	}
	free(path);
	return 0;
}

static int search_folders(const struct paths *paths, const char *name, char **out)
{
	int rc = 0;

	/* A path that leads somewhere is meant as it stands. */
	if (strchr(name, '/') || !*name)
		return 0;
	for (size_t i = 0; rc == 0 && i < paths->n_scenario_folders; i++) {
		rc = try_file(paths->scenario_folders[i], name, "", out);
		if (rc == 0)
			rc = try_file(paths->scenario_folders[i], name, ".lua", out);
	}
	return rc;
}

static int not_found(const struct paths *paths, const char *name, struct err *err)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	struct folder folder = {0};
	const char *nearest = NULL;

	for (size_t i = 0; i < paths->n_scenario_folders; i++)
		(void)folder_add(&folder, paths->scenario_folders[i], ".lua");
	if (folder.n_names > 0)
		nearest = nearest_name(base, (const char *const *)folder.names, folder.n_names);
	if (nearest)
		(void)err_set(err, -ENOENT, "there is no scenario '%s'; did you mean '%s'?", name,
		              nearest);
	else
		(void)err_set(err, -ENOENT,
		              "there is no scenario '%s'; adaptra-bench list scenarios shows those "
		              "that come with the program",
		              name);
	folder_fini(&folder);
	return -ENOENT;
}

int paths_find_scenario(const struct paths *paths, const char *name, char **out, struct err *err)
{
	int rc;

	if (access(name, F_OK) == 0) {
		*out = strdup(name);
		return *out ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	rc = search_folders(paths, name, out);
	if (rc < 0)
		return err_set(err, rc, "out of memory");
	return rc > 0 ? 0 : not_found(paths, name, err);
}

/* What the folder of results stands in; NULL: it cannot be told. */
static char *data_folder(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	const struct passwd *user;
	char *path;

	/* The XDG base directory specification: a relative path is to be ignored. */
	if (data && data[0] == '/')
		return strdup(data);
	if (!home || !*home) {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : NULL;
	}
	if (!home || asprintf(&path, "%s/.local/share", home) < 0)
		return NULL;
	return path;
}

int paths_store(const struct options *options, char **out, struct err *err)
{
	char *folder, *path = NULL;

	if (options->store) {
		path = strdup(options->store);
	} else {
		folder = data_folder();
		if (!folder)
			return err_set(
				err, -ENOENT,
				"neither XDG_DATA_HOME nor HOME is set; name the database with "
				"--store");
		if (asprintf(&path, "%s/adaptra-bench/results.db", folder) < 0)
			path = NULL;
		free(folder);
	}
	if (!path)
		return err_set(err, -ENOMEM, "out of memory");
	*out = path;
	return 0;
}
