/* output_file.c - a file that is written piece by piece, and is there whole or not at all. */
#include "engine/cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fini(struct output_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct output_file){.fd = -1};
}

static int fail(const struct output_file *file, int code, struct err *err)
{
	return err_set(err, code, "cannot write '%s': %s", file->path, strerror(-code));
}

/* What is replaced: behind a symbolic link it is the file that changes, not the link. */
static int find_place(const char *path, struct output_file *file)
{
	struct stat existing;

	if (strcmp(path, "-") != 0 && stat(path, &existing) == 0) {
		if (S_ISDIR(existing.st_mode))
			return -EISDIR;
		if (!S_ISREG(existing.st_mode))
			return 0;
		free(file->path);
		file->path = realpath(path, NULL);
		if (!file->path)
			return -errno;
	}
	if (strcmp(path, "-") != 0 &&
	    asprintf(&file->temporary, "%s.tmp-%ld", file->path, (long)getpid()) < 0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int open_place(const char *path, struct output_file *file)
{
	if (file->temporary)
		file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	else if (strcmp(path, "-") == 0)
		file->fd = dup(STDOUT_FILENO);
	else
		file->fd = open(path, O_WRONLY | O_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

int output_file_open(const char *path, struct output_file *out, struct err *err)
{
	struct output_file file = {.fd = -1, .path = strdup(path)};
	int rc;

	if (!file.path)
		return err_set(err, -ENOMEM, "out of memory");
	rc = find_place(path, &file);
	if (!rc)
		rc = open_place(path, &file);
	if (rc) {
		(void)err_set(err, rc, "cannot write '%s': %s", path, strerror(-rc));
		fini(&file);
		return rc;
	}
	*out = file;
	return 0;
}

int output_file_write(struct output_file *file, const char *bytes, size_t n_bytes, struct err *err)
{
	while (n_bytes > 0) {
		ssize_t n = write(file->fd, bytes, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(file, -errno, err);
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

int output_file_close(struct output_file *file, struct err *err)
{
	int rc = 0;

	if (file->temporary && fsync(file->fd))
		rc = fail(file, -errno, err);
	if (close(file->fd) && !rc)
		rc = fail(file, -errno, err);
	file->fd = -1;
	if (!rc && file->temporary && rename(file->temporary, file->path))
		rc = fail(file, -errno, err);
	if (rc && file->temporary)
		unlink(file->temporary);
	fini(file);
	return rc;
}

void output_file_abandon(struct output_file *file)
{
	close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	fini(file);
}
