/* read_runs.c - reads runs back. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/select_internal.h"

static const char select_runs[] =
	"SELECT run, coalesce(comparison, 0), created, status, reason, scenario_title, "
	"scenario_path,"
	" schedule, mode, plane, device, transport, injector, host, version, settings_json,"
	" facts_json,"
	" workload_fingerprint, seed, repeat, n_stages, n_replicas, n_microbatches,"
	" samples_per_iteration, n_iterations, n_warmup, is_oracle, speed,"
	" place, repeat_seed, is_control FROM run"
	" WHERE (?1 = 0 OR run = ?1) AND (?2 = 0 OR comparison = ?2)"
	" ORDER BY CASE WHEN ?3 > 0 THEN -run ELSE run END LIMIT CASE WHEN ?3 > 0 THEN ?3 ELSE -1 "
	"END";

enum run_column {
	RUN_FIRST_TEXT = 2, /* fifteen, in the order of texts_of() */
	RUN_FINGERPRINT = 17,
	RUN_SEED,
	RUN_FIRST_COUNT, /* seven, in the order of counts_of() */
	RUN_IS_ORACLE = 26,
	RUN_SPEED,
	RUN_PLACE,
	RUN_REPEAT_SEED,
	RUN_IS_CONTROL,
	RUN_TEXTS = 15,
	RUN_COUNTS = 7,
};

static void texts_of(struct stored_run *run, char **out[RUN_TEXTS])
{
	char **texts[RUN_TEXTS] = {
		&run->created,       &run->status,        &run->reason,     &run->scenario_title,
		&run->scenario_path, &run->schedule,      &run->mode,       &run->plane,
		&run->device,        &run->transport,     &run->injector,   &run->host,
		&run->version,       &run->settings_json, &run->facts_json,
	};

	memcpy(out, texts, sizeof(texts));
}

/* With the least that each may be: who divides by a count need not ask whether the file was edited.
 */
static void read_counts(struct stored_run *run, sqlite3_stmt *stmt, bool *is_damaged)
{
	const struct {
		int *out;
		int low;
	} counts[RUN_COUNTS] = {
		{&run->repeat, 0},
		{&run->n_stages, 1},
		{&run->n_replicas, 1},
		{&run->n_microbatches, 1},
		{&run->samples_per_iteration, 0},
		{&run->n_iterations, 0},
		{&run->n_warmup, 0},
	};

	for (int i = 0; i < RUN_COUNTS; i++)
		*counts[i].out = (int)column_int(stmt, RUN_FIRST_COUNT + i, counts[i].low, INT_MAX,
		                                 is_damaged);
}

/* A run of a process that is no more. */
static int mark_lost(struct stored_run *run)
{
	char *status = strdup("lost"), *reason = strdup("the process ended without finishing");

	if (!status || !reason) {
		free(status);
		free(reason);
		return -ENOMEM;
	}
	free(run->status);
	free(run->reason);
	run->status = status;
	run->reason = reason;
	return 0;
}

static bool has_writer(const struct store *store)
{
	return store->mode == STORE_WRITE || writer_lock_is_held(store->lock_path);
}

static int read_run(sqlite3_stmt *stmt, void *item)
{
	struct stored_run *run = item;
	bool is_damaged = false;
	const char *fingerprint;
	char **texts[RUN_TEXTS];

	texts_of(run, texts);
	for (int i = 0; i < RUN_TEXTS; i++) {
		*texts[i] = column_text(stmt, RUN_FIRST_TEXT + i);
		if (!*texts[i])
			return -ENOMEM;
	}
	run->run = sqlite3_column_int64(stmt, 0);
	run->comparison = sqlite3_column_int64(stmt, 1);
	fingerprint = (const char *)sqlite3_column_text(stmt, RUN_FINGERPRINT);
	run->workload_fingerprint = fingerprint ? strtoull(fingerprint, NULL, 16) : 0;
	run->seed = (uint64_t)sqlite3_column_int64(stmt, RUN_SEED);
	read_counts(run, stmt, &is_damaged);
	run->is_oracle = sqlite3_column_int(stmt, RUN_IS_ORACLE) != 0;
	run->speed = sqlite3_column_double(stmt, RUN_SPEED);
	run->place = (int)column_int(stmt, RUN_PLACE, 0, INT_MAX, &is_damaged);
	run->repeat_seed = (uint64_t)sqlite3_column_int64(stmt, RUN_REPEAT_SEED);
	run->is_control = sqlite3_column_int(stmt, RUN_IS_CONTROL) != 0;
	return row_check(is_damaged);
}

static void run_fini(void *item)
{
	char **texts[RUN_TEXTS];

	texts_of(item, texts);
	for (int i = 0; i < RUN_TEXTS; i++)
		free(*texts[i]);
}

static const struct row_kind run_rows = {
	.table = "run",
	.item_bytes = sizeof(struct stored_run),
	.read = read_run,
	.fini = run_fini,
};

void stored_runs_fini(struct stored_run *runs, size_t n_runs)
{
	rows_fini(&run_rows, runs, n_runs);
}

static int mark_lost_runs(const struct store *store, struct stored_run *runs, size_t n_runs,
                          struct err *err)
{
	for (size_t i = 0; i < n_runs; i++)
		if (strcmp(runs[i].status, "running") == 0 && !has_writer(store) &&
		    mark_lost(&runs[i]))
			return store_fail_memory(store, err);
	return 0;
}

int store_read_runs(struct store *store, const struct store_query *query,
                    struct stored_run **runs_out, size_t *n_out, struct err *err)
{
	const int64_t ids[] = {query->run, query->comparison, query->most};
	const struct select select = {select_runs, ids, 3};
	struct rows rows;
	int rc = select_rows(store, &select, &run_rows, &rows, err);

	if (rc)
		return rc;
	rc = mark_lost_runs(store, rows.items, rows.n_items, err);
	if (rc) {
		stored_runs_fini(rows.items, rows.n_items);
		return rc;
	}
	*runs_out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

static int read_first_column(sqlite3_stmt *stmt, void *item)
{
	*(int64_t *)item = sqlite3_column_int64(stmt, 0);
	return 0;
}

static const struct row_kind number_rows = {
	.table = "comparison",
	.item_bytes = sizeof(int64_t),
	.read = read_first_column,
};

int store_read_simulated(struct store *store, int64_t comparison, int64_t *simulated_out,
                         struct err *err)
{
	const struct select select = {
		"SELECT coalesce(simulated, 0) FROM comparison WHERE comparison = ?1",
		&comparison,
		1,
	};
	int64_t simulated = 0;
	int rc = select_first(store, &select, &number_rows, &simulated, err);

	if (rc < 0)
		return rc;
	*simulated_out = simulated;
	return 0;
}

int store_last_comparison(struct store *store, int64_t *comparison_out, struct err *err)
{
	const struct select select = {
		.sql = "SELECT comparison FROM comparison ORDER BY comparison DESC LIMIT 1",
	};
	int64_t comparison;
	int rc = select_first(store, &select, &number_rows, &comparison, err);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return err_set(err, -ENOENT, "there is no comparison in '%s' yet", store->path);
	*comparison_out = comparison;
	return 0;
}

static int read_note(sqlite3_stmt *stmt, void *item)
{
	char **note = item;

	*note = column_text(stmt, 0);
	return *note ? 0 : -ENOMEM;
}

static const struct row_kind note_rows = {
	.table = "comparison",
	.item_bytes = sizeof(char *),
	.read = read_note,
};

int store_read_note(struct store *store, int64_t comparison, char **note_out, struct err *err)
{
	const struct select select = {
		"SELECT note FROM comparison WHERE comparison = ?1 AND note <> ''",
		&comparison,
		1,
	};
	char *note = NULL;
	int rc = select_first(store, &select, &note_rows, &note, err);

	if (rc < 0)
		return rc;
	*note_out = note;
	return 0;
}
