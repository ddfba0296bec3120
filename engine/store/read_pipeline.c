/* read_pipeline.c - reads back on what a run was made, as far as its ops need it to be drawn. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/scenario/topology.h"
#include "engine/store/select_internal.h"

void stored_pipeline_fini(struct stored_pipeline *pipeline)
{
	free(pipeline->activation_bytes);
}

static enum record_timer read_timer(sqlite3_stmt *stmt, int column, bool *is_damaged)
{
	const char *name = (const char *)sqlite3_column_text(stmt, column);

	for (int timer = TIMER_VIRTUAL; name && timer <= TIMER_CUDA_EVENT; timer++)
		if (strcmp(name, record_timer_name((enum record_timer)timer)) == 0)
			return (enum record_timer)timer;
	*is_damaged = true;
	return TIMER_VIRTUAL;
}

struct activation {
	int64_t stage;
	int64_t bytes;
};

static int read_activation(sqlite3_stmt *stmt, void *item)
{
	struct activation *activation = item;

	activation->stage = sqlite3_column_int64(stmt, 0);
	activation->bytes = sqlite3_column_int64(stmt, 1);
	return 0;
}

static const struct row_kind activation_rows = {
	.table = "run",
	.item_bytes = sizeof(struct activation),
	.read = read_activation,
};

/* They have no column; the settings have them when the run was made from a scenario. What cannot be
 * is as good as not known. */
static int read_activations(struct store *store, int64_t run, struct stored_pipeline *pipeline,
                            struct err *err)
{
	const struct select select = {
		"SELECT size.key, size.value FROM (SELECT settings_json FROM run"
		" WHERE run = ?1 AND json_valid(settings_json)),"
		" json_each(settings_json, '$.\"profile.activation_bytes\"') size"
		" WHERE typeof(size.key) = 'integer' AND typeof(size.value) = 'integer'",
		&run,
		1,
	};
	const struct activation *activations;
	struct rows rows;
	int rc = select_rows(store, &select, &activation_rows, &rows, err);

	if (rc)
		return rc;
	activations = rows.items;
	for (size_t i = 0; i < rows.n_items; i++) {
		int64_t stage = activations[i].stage;

		if (stage >= 0 && stage < pipeline->n_stages && activations[i].bytes > 0)
			pipeline->activation_bytes[stage] = activations[i].bytes;
	}
	rows_fini(&activation_rows, rows.items, rows.n_items);
	return 0;
}

static int read_pipeline(sqlite3_stmt *stmt, void *item)
{
	struct stored_pipeline *pipeline = item;
	bool is_damaged = false;

	*pipeline = (struct stored_pipeline){
		.n_stages = (int)column_int(stmt, 0, 1, TOPOLOGY_STAGES_MAX, &is_damaged),
		.n_replicas = (int)column_int(stmt, 1, 1, TOPOLOGY_REPLICAS_MAX, &is_damaged),
		.n_hosts = (int)column_int(stmt, 2, 0, INT_MAX, &is_damaged),
		.message_bytes = column_int(stmt, 3, 0, INT64_MAX, &is_damaged),
		.timer = read_timer(stmt, 4, &is_damaged),
		.n_iterations_with_ops = sqlite3_column_int64(stmt, 5),
	};
	return row_check(is_damaged);
}

static const struct row_kind pipeline_rows = {
	.table = "run",
	.item_bytes = sizeof(struct stored_pipeline),
	.read = read_pipeline,
};

static int read_columns(struct store *store, int64_t run, struct stored_pipeline *pipeline,
                        struct err *err)
{
	const struct select select = {
		"SELECT n_stages, n_replicas, n_hosts, message_bytes, timer,"
		" (SELECT count(*) FROM iteration i WHERE i.run = run.run AND n_ops > 0)"
		" FROM run WHERE run = ?1",
		&run,
		1,
	};
	int rc = select_first(store, &select, &pipeline_rows, pipeline, err);

	if (rc == 0)
		return err_set(err, -ENOENT, "there is no run %" PRId64 " in '%s'", run,
		               store->path);
	return rc < 0 ? rc : 0;
}

int store_read_pipeline(struct store *store, int64_t run, struct stored_pipeline *out,
                        struct err *err)
{
	struct stored_pipeline pipeline = {0};
	int rc = read_columns(store, run, &pipeline, err);

	if (rc)
		return rc;
	pipeline.activation_bytes = array_new((size_t)pipeline.n_stages, sizeof(int64_t));
	if (!pipeline.activation_bytes)
		return store_fail_memory(store, err);
	rc = read_activations(store, run, &pipeline, err);
	if (rc) {
		stored_pipeline_fini(&pipeline);
		return rc;
	}
	*out = pipeline;
	return 0;
}
