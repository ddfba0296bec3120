/* create.c - makes an empty database.
 *
 * It is made in memory and written as one file, which file_write() puts in place in one step:
 * nobody ever sees a half-made database, and neither a kill nor a full disk leaves one. */
#include <errno.h>

#include "engine/base/file.h"
#include "engine/store/schema_internal.h"

static int write_database(sqlite3 *db, const char *path, struct err *err)
{
	sqlite3_int64 n_bytes;
	unsigned char *bytes;
	int rc = schema_make(db, path, err);

	if (rc)
		return rc;
	bytes = sqlite3_serialize(db, "main", &n_bytes, 0);
	if (!bytes)
		return err_set(err, -ENOMEM, "not enough memory for '%s'", path);
	rc = file_write(path, (const char *)bytes, (size_t)n_bytes, err);
	sqlite3_free(bytes);
	return rc;
}

int store_create(const char *path, struct err *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
	sqlite3 *db = NULL;
	int rc;

	if (sqlite3_open_v2("new", &db, flags, NULL))
		rc = err_set(err, -ENOMEM, "not enough memory for '%s'", path);
	else
		rc = write_database(db, path, err);
	sqlite3_close(db);
	return rc;
}
