/* sql.c - calls into SQLite whose failures become sentences. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "engine/store/store_internal.h"

/* What SQLite calls an I/O error is often a full disk, a quota or a limit on the size of files. */
static int io_code(sqlite3 *db)
{
	/* A COMMIT that fails does not set it (SQLite 3.40); errno is still that of the write then.
	 */
	int code = sqlite3_system_errno(db) ? sqlite3_system_errno(db) : errno;

	switch (code) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return -ENOSPC;
	case EROFS:
		return -EROFS;
	default:
		return -EIO;
	}
}

static int code_of(sqlite3 *db)
{
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_IOERR:
		return io_code(db);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EINVAL;
	case SQLITE_ERROR: /* a table or a column that is not there */
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return -EMEDIUMTYPE;
	default:
		return -EIO;
	}
}

int store_fail(const struct store *store, const char *verb_phrase, struct err *err)
{
	const char *path = store->path;
	int code = code_of(store->db);

	if (sqlite3_errcode(store->db) == SQLITE_NOTADB)
		return err_set(err, code, "'%s' is not a database; name another file with --store",
		               path);
	switch (code) {
	case -ENOSPC:
		return err_set(
			err, code,
			"cannot %s in '%s': no space is left; what was stored before is kept",
			verb_phrase, path);
	case -EBUSY:
		return err_set(err, code,
		               "cannot %s in '%s': another program is writing to it; close that or "
		               "name another file with --store",
		               verb_phrase, path);
	case -EMEDIUMTYPE:
		return err_set(
			err, code,
			"cannot %s in '%s': it is damaged, or no database of adaptra-bench: %s",
			verb_phrase, path, sqlite3_errmsg(store->db));
	default:
		return err_set(err, code, "cannot %s in '%s': %s", verb_phrase, path,
		               sqlite3_errmsg(store->db));
	}
}

int store_fail_memory(const struct store *store, struct err *err)
{
	return err_set(err, -ENOMEM, "not enough memory for '%s'", store->path);
}

int store_fail_damaged(const struct store *store, const char *table, struct err *err)
{
	return err_set(err, -EMEDIUMTYPE,
	               "'%s' is damaged: a row of its table %s holds a value that cannot be",
	               store->path, table);
}

int store_exec(struct store *store, const char *sql, const char *verb_phrase, struct err *err)
{
	errno = 0; /* io_code() looks at it */
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL))
		return store_fail(store, verb_phrase, err);
	return 0;
}

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **out, struct err *err)
{
	if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL))
		return store_fail(store, "find the tables", err);
	return 0;
}

int store_select(struct store *store, const char *sql, const int64_t *ids, int n_ids,
                 sqlite3_stmt **out, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = store_prepare(store, sql, &stmt, err);

	if (rc)
		return rc;
	for (int i = 0; i < n_ids; i++) {
		if (sqlite3_bind_int64(stmt, i + 1, ids[i])) {
			rc = store_fail(store, "read", err);
			sqlite3_finalize(stmt);
			return rc;
		}
	}
	*out = stmt;
	return 0;
}

int store_step(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return store_fail(store, "read", err);
	}
}

int64_t column_int(sqlite3_stmt *stmt, int column, int64_t low, int64_t high, bool *is_damaged)
{
	int64_t value = sqlite3_column_int64(stmt, column);

	if (value >= low && value <= high)
		return value;
	*is_damaged = true;
	return low;
}

int column_int_or_none(sqlite3_stmt *stmt, int column, bool *is_damaged)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return -1;
	return (int)column_int(stmt, column, 0, INT_MAX, is_damaged);
}

int64_t column_int64_or_none(sqlite3_stmt *stmt, int column)
{
	bool is_there = sqlite3_column_type(stmt, column) != SQLITE_NULL;

	return is_there ? sqlite3_column_int64(stmt, column) : -1;
}

char *column_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	if (!text && sqlite3_column_type(stmt, column) != SQLITE_NULL)
		return NULL;
	return strdup(text ? (const char *)text : "");
}
