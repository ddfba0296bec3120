/* location.c - where a database is, and what may be done there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/strbuf.h"
#include "engine/store/store_internal.h"

/* As the user whose rights count; access() asks for the one who started the program. */
static bool is_allowed(const char *path, int mode)
{
	return !faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

static int check_kind(const char *path, const struct stat *file, struct err *err)
{
	if (S_ISREG(file->st_mode))
		return 0;
	return err_set(err, -EMEDIUMTYPE, "'%s' is %s, not a database; name a file with --store",
	               path, S_ISDIR(file->st_mode) ? "a folder" : "a device or a pipe");
}

int location_for_writing(const char *path, char **real_out, struct err *err)
{
	char *folder = file_folder(path), *real_folder = NULL, *real = NULL;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct stat file;
	int rc = 0;

	if (!folder)
		return err_set(err, -ENOMEM, "not enough memory for '%s'", path);
	if (!stat(path, &file)) {
		rc = check_kind(path, &file, err);
		real = rc ? NULL : realpath(path, NULL);
	} else if (!*name) {
		rc = err_set(err, -EMEDIUMTYPE, "'%s' names a folder, not a file", path);
	} else if (errno != ENOENT) {
		rc = err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	} else {
		rc = file_make_folders(folder, err);
		if (rc)
			err_wrap(err, "database '%s'", path);
		real_folder = rc ? NULL : realpath(folder, NULL);
		if (real_folder && asprintf(&real, "%s/%s", real_folder, name) < 0)
			real = NULL;
	}
	if (!rc && !real)
		rc = err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	free(real_folder);
	free(folder);
	if (!rc)
		*real_out = real;
	return rc;
}

int location_for_reading(const char *path, char **real_out, struct err *err)
{
	struct stat file;
	char *real;
	int rc;

	if (stat(path, &file))
		return errno == ENOENT
		               ? err_set(err, -ENOENT,
		                         "there is no database '%s' yet; a run makes it", path)
		               : err_set(err, -errno, "cannot read '%s': %s", path,
		                         strerror(errno));
	rc = check_kind(path, &file, err);
	if (rc)
		return rc;
	if (file.st_size == 0)
		return err_set(err, -EMEDIUMTYPE, "'%s' is empty, not a database", path);
	real = realpath(path, NULL);
	if (!real || !is_allowed(real, R_OK)) {
		rc = err_set(err, -errno, "cannot read '%s': %s", path, strerror(errno));
		free(real);
		return rc;
	}
	*real_out = real;
	return 0;
}

char *location_immutable_uri(const char *real)
{
	struct strbuf uri = {0};

	strbuf_add(&uri, "file://");
	for (const char *c = real; *c; c++) {
		if (strchr("%?#", *c))
			strbuf_addf(&uri, "%%%02X", (unsigned)*c);
		else
			strbuf_add_char(&uri, *c);
	}
	strbuf_add(&uri, "?immutable=1");
	return strbuf_take(&uri);
}

bool location_is_writable(const char *real)
{
	char *folder = file_folder(real);
	bool may = folder && is_allowed(real, W_OK) && is_allowed(folder, W_OK);

	free(folder);
	return may;
}

bool location_has_wal(const char *real)
{
	struct stat file;
	char *wal;
	bool has = true; /* the careful answer */

	if (asprintf(&wal, "%s-wal", real) < 0)
		return has;
	has = !stat(wal, &file) && file.st_size > 0;
	free(wal);
	return has;
}
