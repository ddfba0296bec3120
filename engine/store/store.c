/* store.c - opens and closes a results database.
 *
 * How ops are stored was measured with as many as trace1200 has under three schedules, 2.07
 * million, on one core, checkpoints included. Chosen: one INSERT … SELECT an iteration from the
 * table of op_source.c, pages of 16 KiB, a checkpoint every 1000 pages. Time relative to that:
 *
 *   one prepared row at a time            1.4 (values are bound, then copied)
 *   VALUES of 24 rows, of 72 rows         1.25, 1.15
 *   pages of 4, 8, 64 KiB                 1.15, 1.03, 0.9 (an empty database has 14 pages)
 *   a checkpoint every 4000 pages         1.1
 *   a cache of 2, 64 MB instead of 8      1.0
 *   an index on (run, attempt, iteration) 1.85
 *   no NOT NULL; no STRICT                0.95; 0.97
 *
 * So there is no index on ops: an iteration's row holds the ids of its ops. A second thread that
 * inserts while the producer computes would gain less than it costs to understand.
 *
 * One file is left when the last connection closes: the writer's checkpoint empties the WAL. A
 * reader opens the file for writing where it may, with query_only set, since SQLite then removes
 * its side files; where it may not and no WAL is there, the file is opened as immutable, which
 * needs no side files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/store/schema_internal.h"
#include "engine/store/select_internal.h"

enum {
	CLOSE_WAIT_MS = 200,         /* for readers, before their WAL is left to them */
	VALUE_BYTES_MAX = 100000000, /* of one text */
};

/* An empty file counts as none: nothing can be lost by making it a database. */
static int create_if_missing(struct store *store, const char *real, struct err *err)
{
	struct stat file;

	if (!stat(real, &file) && file.st_size > 0) {
		if (!faccessat(AT_FDCWD, real, W_OK, AT_EACCESS))
			return 0;
		return err_set(err, -errno, "cannot write '%s': %s; name another file with --store",
		               store->path, strerror(errno));
	}
	return store_create(real, err);
}

static int read_int(sqlite3_stmt *stmt, void *item)
{
	*(int *)item = sqlite3_column_int(stmt, 0);
	return 0;
}

static int read_pragma(struct store *store, const char *sql, int *out, struct err *err)
{
	static const struct row_kind kind = {.item_bytes = sizeof(*out), .read = read_int};
	const struct select select = {.sql = sql};
	int rc = select_first(store, &select, &kind, out, err);

	return rc < 0 ? rc : 0;
}

static int check_version(const struct store *store, int version, struct err *err)
{
	if (version > STORE_SCHEMA_VERSION)
		return err_set(err, -EPROTO,
		               "'%s' has schema version %d and this adaptra-bench knows versions "
		               "up to %d: a newer one made it; use that, or name another file with "
		               "--store",
		               store->path, version, STORE_SCHEMA_VERSION);
	if (version < 1)
		return err_set(err, -EMEDIUMTYPE,
		               "'%s' is damaged: its schema version is %d, and the first was 1",
		               store->path, version);
	return 0;
}

/* Before anything is changed. */
static int check_identity(struct store *store, struct err *err)
{
	int application = 0, version = 0;
	int rc = read_pragma(store, "PRAGMA application_id", &application, err);

	if (!rc)
		rc = read_pragma(store, "PRAGMA user_version", &version, err);
	if (rc)
		return rc;
	if (application != STORE_APPLICATION_ID)
		return err_set(
			err, -EMEDIUMTYPE,
			"'%s' is an SQLite database, but not one of adaptra-bench; name another "
			"file with --store",
			store->path);
	rc = check_version(store, version, err);
	if (rc == 0 && version < STORE_SCHEMA_VERSION)
		store->older_version = version;
	return rc;
}

/* The file may come from anywhere: its schema is not trusted to run anything. */
static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
}

static int open_connection(struct store *store, const char *name, int flags, struct err *err)
{
	int rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (!store->db)
		return store_fail_memory(store, err);
	if (rc)
		return store_fail(store, "open the database", err);
	harden(store->db);
	sqlite3_busy_timeout(store->db, STORE_WAIT_MS);
	rc = check_identity(store, err);
	if (rc || !store->older_version)
		return rc;
	return store->mode == STORE_WRITE ? store_migrate(store, err) : older_show(store, err);
}

/* There is only one writer, and this is it: a run that is still "running" has lost its process. */
static const char start_writing[] =
	"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 1000;"
	"PRAGMA cache_size = -8000; PRAGMA secure_delete = OFF; PRAGMA foreign_keys = ON;"
	"UPDATE run SET status = 'failed', reason = 'the process ended without finishing' "
	"WHERE status = 'running'";

static int open_for_writing(struct store *store, struct err *err)
{
	char *real;
	int rc = location_for_writing(store->path, &real, err);

	if (rc)
		return rc;
	rc = writer_lock_take(store, real, err);
	if (!rc)
		rc = create_if_missing(store, real, err);
	if (!rc)
		rc = open_connection(store, real, SQLITE_OPEN_READWRITE, err);
	if (!rc)
		rc = store_exec(store, start_writing, "begin to write", err);
	free(real);
	return rc;
}

static int open_real_for_reading(struct store *store, const char *real, struct err *err)
{
	char *uri;
	int rc;

	store->lock_path = writer_lock_path(real);
	if (!store->lock_path)
		return store_fail_memory(store, err);
	if (location_is_writable(real)) {
		rc = open_connection(store, real, SQLITE_OPEN_READWRITE, err);
		return rc ? rc : store_exec(store, "PRAGMA query_only = ON", "read", err);
	}
	if (location_has_wal(real))
		return open_connection(store, real, SQLITE_OPEN_READONLY, err);
	uri = location_immutable_uri(real);
	if (!uri)
		return store_fail_memory(store, err);
	rc = open_connection(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
	free(uri);
	return rc;
}

static int open_for_reading(struct store *store, struct err *err)
{
	char *real;
	int rc = location_for_reading(store->path, &real, err);

	if (rc)
		return rc;
	rc = open_real_for_reading(store, real, err);
	free(real);
	return rc;
}

static void store_free(struct store *store)
{
	sqlite3_finalize(store->insert_iteration);
	sqlite3_finalize(store->insert_ops);
	sqlite3_finalize(store->insert_messages);
	sqlite3_close(store->db);
	writer_lock_drop(store);
	free(store->lock_path);
	free(store->path);
	free(store);
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
	struct store *store = calloc(1, sizeof(*store));
	int rc;

	if (!store)
		return err_set(err, -ENOMEM, "not enough memory for '%s'", path);
	store->mode = mode;
	store->lock_fd = -1;
	store->path = strdup(path);
	if (!store->path)
		rc = err_set(err, -ENOMEM, "not enough memory for '%s'", path);
	else if (mode == STORE_WRITE)
		rc = open_for_writing(store, err);
	else
		rc = open_for_reading(store, err);
	if (rc)
		store_free(store);
	else
		*out = store;
	return rc;
}

/* A checkpoint syncs the file. One that a reader holds up has synced the WAL, which then stays;
 * SQLite reports no error. */
static int finish_writing(struct store *store, struct err *err)
{
	int rc = 0, rc_end;

	while (store->sinks) {
		rc_end = store_end_run(store, run_sink_first(store), "failed",
		                       "the database was closed before the run had ended",
		                       rc ? NULL : err);
		rc = rc ? rc : rc_end;
	}
	rc_end = batch_commit(store, rc ? NULL : err);
	rc = rc ? rc : rc_end;
	sqlite3_busy_timeout(store->db, CLOSE_WAIT_MS);
	rc_end = store_exec(store, "PRAGMA wal_checkpoint(TRUNCATE)", "finish the file",
	                    rc ? NULL : err);
	return rc ? rc : rc_end;
}

int store_close(struct store *store, struct err *err)
{
	int rc = 0;

	if (!store)
		return 0;
	if (store->mode == STORE_WRITE)
		rc = finish_writing(store, err);
	store_free(store);
	return rc;
}

const char *store_path(const struct store *store)
{
	return store->path;
}

int store_older_version(const struct store *store)
{
	return store->older_version;
}
