/* file.c - whole files in, whole files out. */
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file_writer.h"

enum { READ_BYTES_AT_FIRST = 16384 };

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

int file_write_all(int fd, const char *bytes, size_t n_bytes)
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

int file_write(const char *path, const char *bytes, size_t n_bytes, struct err *err)
{
	struct file_writer *writer;
	int rc = file_writer_open(path, &writer, err);

	if (rc)
		return rc;
	rc = file_writer_put(writer, bytes, n_bytes, err);
	if (!rc)
		return file_writer_close(writer, err);
	file_writer_abandon(writer);
	return rc;
}

char *file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
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
