/* file.c - whole files in, whole files out. */
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES_AT_FIRST = 16384, TEMPORARY_TRIES = 100 };

static bool is_standard_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Read until the end or until limit_bytes + 1 are there. */
static int read_all(int fd, size_t limit_bytes, char **text_out, size_t *bytes_out)
{
	size_t capacity = READ_BYTES_AT_FIRST, length = 0;
	char *text = malloc(capacity);

	while (text && length <= limit_bytes) {
		ssize_t n = read(fd, text + length, capacity - 1 - length);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int code = -errno;

			free(text);
			return code;
		}
		length += (size_t)n;
		if (length == capacity - 1) {
			char *grown =
				capacity <= PTRDIFF_MAX / 2 ? realloc(text, capacity * 2) : NULL;

			if (!grown)
				free(text);
			text = grown;
			capacity *= 2;
		}
	}
	if (!text)
		return -ENOMEM;
	if (length > limit_bytes) {
		free(text);
		return -EFBIG;
	}
	text[length] = '\0';
	*text_out = text;
	*bytes_out = length;
	return 0;
}

int file_read(const char *path, size_t limit_bytes, char **text_out, size_t *bytes_out,
              struct err *err)
{
	int fd = is_standard_stream(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	rc = read_all(fd, limit_bytes, text_out, bytes_out);
	if (fd != STDIN_FILENO)
		close(fd);
	if (rc == -EFBIG)
		return err_set(err, rc, "'%s' is longer than %zu bytes", path, limit_bytes);
	if (rc)
		return err_set(err, rc, "cannot read '%s': %s", path, strerror(-rc));
	return 0;
}

static int write_all(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes > 0) {
		ssize_t n = write(fd, bytes, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

/* A device or a pipe: written as it is, since a rename would put a plain file in its place. */
static int write_special(const char *path, const char *bytes, size_t n_bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, bytes, n_bytes);
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* Create a file that was not there beside path; *name_out is the caller's to free. mkstemp() is not
 * used because it ignores the umask: results would be readable by their owner only. */
static int open_temporary(const char *path, char **name_out)
{
	static atomic_uint n_names;

	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		char *name;
		int fd, code;

		if (asprintf(&name, "%s.tmp-%ld-%u", path, (long)getpid(),
		             atomic_fetch_add(&n_names, 1)) < 0)
			return -ENOMEM;
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*name_out = name;
			return fd;
		}
		code = -errno;
		free(name);
		if (code != -EEXIST)
			return code;
	}
	return -EEXIST;
}

/* existing is what path was before, NULL if nothing: its mode is kept. */
static int write_and_rename(const char *path, const struct stat *existing, const char *bytes,
                            size_t n_bytes)
{
	char *temporary = NULL;
	int fd = open_temporary(path, &temporary);
	int rc;

	if (fd < 0)
		return fd;
	rc = write_all(fd, bytes, n_bytes);
	if (!rc && existing && fchmod(fd, existing->st_mode & 07777))
		rc = -errno;
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	free(temporary);
	return rc;
}

static int write_file(const char *path, const char *bytes, size_t n_bytes)
{
	struct stat existing;
	char *target;
	int rc;

	if (stat(path, &existing))
		return errno == ENOENT ? write_and_rename(path, NULL, bytes, n_bytes) : -errno;
	if (S_ISDIR(existing.st_mode))
		return -EISDIR;
	if (!S_ISREG(existing.st_mode))
		return write_special(path, bytes, n_bytes);
	/* Behind a symbolic link it is the file that changes, not the link. */
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	rc = write_and_rename(target, &existing, bytes, n_bytes);
	free(target);
	return rc;
}

int file_write(const char *path, const char *bytes, size_t n_bytes, struct err *err)
{
	int rc;

	if (is_standard_stream(path)) {
		if (fwrite(bytes, 1, n_bytes, stdout) < n_bytes || fflush(stdout))
			return err_set(err, -errno, "cannot write to standard output: %s",
			               strerror(errno));
		return 0;
	}
	rc = write_file(path, bytes, n_bytes);
	if (rc)
		return err_set(err, rc, "cannot write '%s': %s", path, strerror(-rc));
	return 0;
}

static int make_folder(const char *path)
{
	struct stat existing;

	if (!mkdir(path, 0777))
		return 0;
	/* Not only EEXIST: a folder above may be on a file system that is read-only and there. */
	if (!stat(path, &existing))
		return S_ISDIR(existing.st_mode) ? 0 : -ENOTDIR;
	return -errno;
}

int file_make_folders(const char *path, struct err *err)
{
	char *part = strdup(path);
	int rc = part ? 0 : -ENOMEM;

	for (char *p = part; part && !rc; p++) {
		char c = *p;

		if ((c == '/' && p > part) || c == '\0') {
			*p = '\0';
			rc = make_folder(part);
			*p = c;
		}
		if (c == '\0')
			break;
	}
	free(part);
	if (rc)
		return err_set(err, rc, "cannot make the folder '%s': %s", path, strerror(-rc));
	return 0;
}
