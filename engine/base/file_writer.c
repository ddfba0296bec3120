/* file_writer.c - a file that is written piece by piece, and is there whole or not at all. */
#include "engine/base/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"

enum { TEMPORARY_TRIES = 100 };

struct file_writer {
	int fd;
	char *path;      /* as the caller wrote it, for sentences */
	char *target;    /* what is replaced; NULL: fd is the thing itself */
	char *temporary; /* beside target */
	bool keeps_mode; /* of what was at target */
	mode_t mode;
};

static void writer_free(struct file_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer->temporary);
	free(writer->target);
	free(writer->path);
	free(writer);
}

static bool is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int fail(const char *path, int code, struct err *err)
{
	if (is_standard_output(path))
		return err_set(err, code, "cannot write to standard output: %s", strerror(-code));
	return err_set(err, code, "cannot write '%s': %s", path, strerror(-code));
}

/* Create a file that was not there beside the target. mkstemp() is not used because it ignores the
 * umask: results would be readable by their owner only. */
static int open_temporary(struct file_writer *writer)
{
	static atomic_uint n_names;

	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		char *name;
		int code;

		if (asprintf(&name, "%s.tmp-%ld-%u", writer->target, (long)getpid(),
		             atomic_fetch_add(&n_names, 1)) < 0)
			return -ENOMEM;
		writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (writer->fd >= 0) {
			writer->temporary = name;
			return 0;
		}
		code = -errno;
		free(name);
		if (code != -EEXIST)
			return code;
	}
	return -EEXIST;
}

/* Behind a symbolic link it is the file that changes, not the link. */
static int open_plain(struct file_writer *writer, const struct stat *existing)
{
	writer->target = existing ? realpath(writer->path, NULL) : strdup(writer->path);
	if (!writer->target)
		return -errno;
	if (existing) {
		writer->keeps_mode = true;
		writer->mode = existing->st_mode & 07777;
	}
	return open_temporary(writer);
}

/* A rename would put a plain file in its place. */
static int open_special(struct file_writer *writer)
{
	writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
	return writer->fd < 0 ? -errno : 0;
}

/* What was printed before comes first. */
static int open_standard_output(struct file_writer *writer)
{
	if (fflush(stdout))
		return -errno;
	writer->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return writer->fd < 0 ? -errno : 0;
}

static int open_place(struct file_writer *writer)
{
	struct stat existing;

	if (is_standard_output(writer->path))
		return open_standard_output(writer);
	if (stat(writer->path, &existing))
		return errno == ENOENT ? open_plain(writer, NULL) : -errno;
	if (S_ISDIR(existing.st_mode))
		return -EISDIR;
	return S_ISREG(existing.st_mode) ? open_plain(writer, &existing) : open_special(writer);
}

int file_writer_open(const char *path, struct file_writer **out, struct err *err)
{
	struct file_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	if (!writer)
		return fail(path, -ENOMEM, err);
	writer->fd = -1;
	writer->path = strdup(path);
	rc = writer->path ? open_place(writer) : -ENOMEM;
	if (rc) {
		writer_free(writer);
		return fail(path, rc, err);
	}
	*out = writer;
	return 0;
}

int file_writer_put(struct file_writer *writer, const char *bytes, size_t n_bytes, struct err *err)
{
	int rc = file_write_all(writer->fd, bytes, n_bytes);

	return rc ? fail(writer->path, rc, err) : 0;
}

/* -errno of what did not reach its place. */
static int put_in_place(struct file_writer *writer)
{
	int fd = writer->fd;

	if (writer->keeps_mode && fchmod(fd, writer->mode))
		return -errno;
	if (writer->temporary && fsync(fd))
		return -errno;
	writer->fd = -1;
	if (close(fd))
		return -errno;
	return writer->temporary && rename(writer->temporary, writer->target) ? -errno : 0;
}

int file_writer_close(struct file_writer *writer, struct err *err)
{
	int rc = put_in_place(writer);

	if (!rc) {
		writer_free(writer);
		return 0;
	}
	(void)fail(writer->path, rc, err);
	file_writer_abandon(writer);
	return rc;
}

void file_writer_abandon(struct file_writer *writer)
{
	if (writer->temporary)
		unlink(writer->temporary);
	writer_free(writer);
}
