/* store.h - records in SQLite: one file, one writer, many readers.
 *
 * Tables are STRICT, the journal is WAL, PRAGMA user_version is the schema's number and PRAGMA
 * application_id tells a database of ours from a foreign one. A run is committed in batches, so
 * what was recorded before a kill, a full disk or an interrupt can be read.
 *
 * schema.sql describes the tables. A store belongs to one thread. An error of SQLite becomes a
 * sentence that names the file: -ENOSPC no space is left (what was committed stays), -EBUSY another
 * program holds it, -EMEDIUMTYPE it is damaged. */
#ifndef ENGINE_STORE_STORE_H
#define ENGINE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/record/record.h"
#include "engine/scenario/scenario.h"

enum { STORE_SCHEMA_VERSION = 9 }; /* schema.sql says the same; older.c has the list */

struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/* STORE_WRITE makes the file and its folders if need be, in one step: no half-made database is
 * left; a database of an older schema is brought to the current one, whole or not at all.
 * STORE_READ leaves the file as it is, and shows an older one as if it had been. -ENOENT: nothing
 * to read; -EMEDIUMTYPE: not a database of ours; -EPROTO: made by a newer version; -EROFS/-EACCES:
 * cannot be written; -EBUSY: another writer holds it. Close *out with store_close(). */
int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err);

/* Everything handed over is on disk afterwards when it returns 0; the store is freed in any case.
 * NULL is fine. */
int store_close(struct store *store, struct err *err);

const char *store_path(const struct store *store);

/* The schema's version of the file when it was opened, where that was an older one, else 0. */
int store_older_version(const struct store *store);

/* A comparison is a set of runs of one scenario made together; the report without arguments shows
 * the last. */
int store_begin_comparison(struct store *store, const struct scenario *scenario,
                           int64_t *comparison_out, struct err *err);

/* The comparison of the same scenario in virtual time, for the report of a live one. */
int store_put_simulated(struct store *store, int64_t comparison, int64_t simulated,
                        struct err *err);

/* What a run is begun with. Borrowed. */
struct store_new_run {
	int64_t comparison; /* 0: none */
	const struct record_run *run;
	const struct scenario *scenario;
	bool keeps_ops;      /* false: iterations only */
	bool keeps_messages; /* of those ops */
};

/* Add the run's row, status "running", and its scenario's faults and events; *sink_out belongs to
 * the store and takes this run's record until store_end_run(). Runs may be under way side by side.
 */
int store_begin_run(struct store *store, const struct store_new_run *new_run, int64_t *run_out,
                    struct record_sink **sink_out, struct err *err);

/* What the workers of a run that has not ended were like, one JSON object; takes the place of what
 * was put before. */
int store_put_facts(struct store *store, int64_t run, const char *json, struct err *err);

/* status: "done", "interrupted" or "failed"; reason "" or one sentence. Commits. */
int store_end_run(struct store *store, int64_t run, const char *status, const char *reason,
                  struct err *err);

#include "engine/store/findings.h"
#include "engine/store/nights.h"
#include "engine/store/stored.h"

#endif
