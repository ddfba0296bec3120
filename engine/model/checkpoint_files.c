/* checkpoint_files.c - names, removes and syncs the files of a stage's checkpoints. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/model/checkpoint_internal.h"

char *checkpoint_path(const struct checkpoint_owner *owner, int iteration)
{
	char *path;

	if (asprintf(&path, "%s/stage-%d-replica-%d-iteration-%d.ckpt", owner->folder, owner->stage,
	             owner->replica, iteration) < 0)
		return NULL;
	return path;
}

/* Whether name is one of the owner's, and what of. base/file_writer.c makes the temporary names. */
static bool is_of_owner(const struct checkpoint_owner *owner, const char *name, int *iteration_out,
                        bool *is_temporary_out)
{
	int stage, replica, length = 0;
	const char *rest;

	if (sscanf(name, "stage-%d-replica-%d-iteration-%d.ckpt%n", &stage, &replica, iteration_out,
	           &length) != 3 ||
	    length == 0 || stage != owner->stage || replica != owner->replica)
		return false;
	rest = name + length;
	*is_temporary_out = strncmp(rest, ".tmp-", strlen(".tmp-")) == 0;
	return *is_temporary_out || *rest == '\0';
}

static int remove_entries(const struct checkpoint_owner *owner, int iteration, DIR *dir,
                          struct err *err)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		int its_iteration;
		bool is_temporary;

		if (!is_of_owner(owner, entry->d_name, &its_iteration, &is_temporary) ||
		    (!is_temporary && its_iteration >= iteration))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) && errno != ENOENT)
			return err_set(err, -errno, "cannot remove '%s/%s': %s", owner->folder,
			               entry->d_name, strerror(errno));
	}
	return 0;
}

int checkpoint_remove(const struct checkpoint_owner *owner, int iteration, struct err *err)
{
	DIR *dir = opendir(owner->folder);
	int rc;

	if (!dir)
		return err_set(err, -errno, "cannot open the folder for checkpoints '%s': %s",
		               owner->folder, strerror(errno));
	rc = remove_entries(owner, iteration, dir, err);
	closedir(dir);
	return rc;
}

int checkpoint_sync_folder(const char *folder, struct err *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || fsync(fd))
		rc = err_set(err, -errno, "cannot sync the folder for checkpoints '%s': %s", folder,
		             strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}
