/* batch.c - the transaction that several puts share.
 *
 * A commit costs about a millisecond, so a fast producer shares one among many puts; a slow one,
 * such as a live run, gets one for each. What a kill can take is what was put less than
 * COMMIT_EVERY_NS before the last put. A commit is not synced (synchronous = NORMAL): a kill loses
 * nothing of it, a power failure may; store_close() syncs. */
#include <errno.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/store/store_internal.h"

enum {
	COMMIT_EVERY_NS = 400 * NS_PER_MS,
	SLOW_PRODUCER_NS = 50 * NS_PER_MS,
};

int batch_begin(struct store *store, struct err *err)
{
	int rc;

	/* SQLite ends a transaction by itself after some errors, a full disk among them. */
	if (store->has_batch && !sqlite3_get_autocommit(store->db))
		return 0;
	rc = store_exec(store, "BEGIN IMMEDIATE", "begin to write", err);
	store->has_batch = rc == 0;
	return rc;
}

void batch_abort(struct store *store)
{
	/* It fails only when there is no transaction any more. */
	if (!sqlite3_get_autocommit(store->db))
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->has_batch = false;
}

int batch_commit(struct store *store, struct err *err)
{
	int rc = 0;

	if (!store->has_batch)
		return 0;
	if (!sqlite3_get_autocommit(store->db))
		rc = store_exec(store, "COMMIT", "store", err);
	/* What could not be committed must not stay in the way of what comes after it. */
	batch_abort(store);
	store->last_commit_ns = clock_monotonic_ns();
	return rc;
}

int batch_commit_if_due(struct store *store, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	bool is_due = now_ns - store->last_commit_ns >= COMMIT_EVERY_NS ||
	              now_ns - store->last_put_ns >= SLOW_PRODUCER_NS;

	store->last_put_ns = now_ns;
	return is_due ? batch_commit(store, err) : 0;
}

int batch_begin_alone(struct store *store, struct err *err)
{
	int rc;

	if (store->mode != STORE_WRITE)
		return err_set(err, -EROFS, "'%s' was opened for reading", store->path);
	rc = batch_commit(store, err);
	return rc ? rc : batch_begin(store, err);
}

int batch_end_alone(struct store *store, int rc, struct err *err)
{
	if (!rc)
		return batch_commit(store, err);
	batch_abort(store);
	return rc;
}
