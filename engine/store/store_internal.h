/* store_internal.h - what the files of engine/store share. */
#ifndef ENGINE_STORE_STORE_INTERNAL_H
#define ENGINE_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "engine/store/store.h"

enum {
	STORE_APPLICATION_ID = 1097089637, /* schema.sql says the same */
	STORE_WAIT_MS = 2000,              /* for another writer to go away */
};

struct op_source;
struct run_sink;

struct store {
	char *path; /* as the user wrote it, for sentences */
	char *lock_path;
	int lock_fd; /* of the writer's lock; -1: none held */
	enum store_mode mode;
	int older_version; /* as store_older_version() says */
	sqlite3 *db;
	struct run_sink *sinks; /* of runs that have not ended */

	/* Writing; made when first used. */
	sqlite3_stmt *insert_iteration;
	sqlite3_stmt *insert_ops;
	sqlite3_stmt *insert_messages;
	struct op_source *op_source; /* the connection's */
	bool has_batch;              /* a transaction is open */
	int64_t last_commit_ns;
	int64_t last_put_ns;
};

/* ---- writer_lock.c */

/* Be the only writer of the database at path, an absolute one without symbolic links; -EBUSY when
 * another process or store still is after STORE_WAIT_MS. */
int writer_lock_take(struct store *store, const char *path, struct err *err);
void writer_lock_drop(struct store *store);

/* Does a store hold the lock of the database at path? */
bool writer_lock_is_held(const char *lock_path);

/* The name of the lock's file; NULL: out of memory. */
char *writer_lock_path(const char *path);

/* ---- sql.c */

/* The errno and the sentence of SQLite's last error; verb_phrase is what was being done: "store an
 * iteration". */
int store_fail(const struct store *store, const char *verb_phrase, struct err *err);

int store_exec(struct store *store, const char *sql, const char *verb_phrase, struct err *err);
int store_prepare(struct store *store, const char *sql, sqlite3_stmt **out, struct err *err);

/* Prepare sql and bind ids to its parameters ?1, ?2, … in that order. */
int store_select(struct store *store, const char *sql, const int64_t *ids, int n_ids,
                 sqlite3_stmt **out, struct err *err);

/* Columns of a result. A database may have been edited, so numbers are checked: a value outside
 * [low, high] makes column_int return low and sets *is_damaged. */
int64_t column_int(sqlite3_stmt *stmt, int column, int64_t low, int64_t high, bool *is_damaged);
int column_int_or_none(sqlite3_stmt *stmt, int column, bool *is_damaged); /* −1: NULL; ≥ 0 */
int64_t column_int64_or_none(sqlite3_stmt *stmt, int column);             /* −1 stands for NULL */
char *column_text(sqlite3_stmt *stmt, int column); /* a copy; NULL: out of memory */

/* Step through a result: 1 there is a row, 0 the end, else an errno. */
int store_step(struct store *store, sqlite3_stmt *stmt, struct err *err);

int store_fail_memory(const struct store *store, struct err *err);
int store_fail_damaged(const struct store *store, const char *table, struct err *err);

/* ---- location.c */

/* Where the database is or is to be made, absolute and without symbolic links; the folder is made
 * if need be. Both refuse what is not a plain file; reading, also what is not there or empty. The
 * caller frees *real_out. */
int location_for_writing(const char *path, char **real_out, struct err *err);
int location_for_reading(const char *path, char **real_out, struct err *err);

/* May SQLite make side files beside real, and change it? */
bool location_is_writable(const char *real);
bool location_has_wal(const char *real);

/* real as a URI that tells SQLite that nobody will change the file. NULL: out of memory. */
char *location_immutable_uri(const char *real);

/* ---- create.c */

/* Put a database with the schema and nothing in it at path, whole or not at all. */
int store_create(const char *path, struct err *err);

/* ---- asked.c */

/* Insert the scenario's events and faults for a run. */
int asked_insert(struct store *store, int64_t run, const struct scenario *scenario,
                 struct err *err);

/* ---- batch.c: the transaction that several puts share. */

int batch_begin(struct store *store, struct err *err);
int batch_commit(struct store *store, struct err *err);
void batch_abort(struct store *store);
int batch_commit_if_due(struct store *store, struct err *err);

/* Start a transaction of its own, so that it can be undone without what other runs have put; end it
 * with what was done in it, rc. */
int batch_begin_alone(struct store *store, struct err *err);
int batch_end_alone(struct store *store, int rc, struct err *err);

/* ---- op_source.c */

/* What is stored of an iteration. */
struct op_batch {
	int64_t run;
	enum record_timer timer;
	const struct record_iteration *iteration;
	bool wants_messages;
};

/* Where that is: ids first … first + n - 1. */
struct op_rows {
	int64_t first, n;
};

/* Insert the ops of an iteration, and their messages; the latter's rows are set if they are
 * wanted. */
int op_source_insert(struct store *store, const struct op_batch *batch, struct op_rows *ops_out,
                     struct op_rows *messages_out, struct err *err);

/* ---- sink.c */

int run_sink_new(struct store *store, int64_t run, const struct store_new_run *new_run,
                 struct record_sink **out, struct err *err);
bool run_sink_is_open(const struct store *store, int64_t run);
void run_sink_free(struct store *store, int64_t run);
int64_t run_sink_first(const struct store *store); /* number of a run that has not ended; 0: none */

#endif
