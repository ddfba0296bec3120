/* read_pipeline.c - reads back on what a run was made, as far as its ops need it to be drawn. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/scenario/topology.h"
#include "engine/store/store_internal.h"

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

/* They have no column; the settings have them when the run was made from a scenario. */
static int read_activations(struct store *store, int64_t run, struct stored_pipeline *pipeline,
                            struct err *err)
{
	bool is_damaged = false;
	sqlite3_stmt *stmt;
	int rc = store_select(store,
	                      "SELECT size.key, size.value FROM (SELECT settings_json FROM run"
	                      " WHERE run = ?1 AND json_valid(settings_json)),"
	                      " json_each(settings_json, '$.\"profile.activation_bytes\"') size"
	                      " WHERE typeof(size.key) = 'integer'"
	                      " AND typeof(size.value) = 'integer'",
	                      &run, 1, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		int64_t stage = sqlite3_column_int64(stmt, 0);

		if (stage >= 0 && stage < pipeline->n_stages)
			pipeline->activation_bytes[stage] =
				column_int(stmt, 1, 0, INT64_MAX, &is_damaged);
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int read_columns(struct store *store, int64_t run, struct stored_pipeline *pipeline,
                        struct err *err)
{
	bool is_damaged = false;
	sqlite3_stmt *stmt;
	int rc = store_select(store,
	                      "SELECT n_stages, n_replicas, n_hosts, message_bytes, timer,"
	                      " (SELECT count(*) FROM iteration i"
	                      " WHERE i.run = run.run AND n_ops > 0) FROM run WHERE run = ?1",
	                      &run, 1, &stmt, err);

	if (rc)
		return rc;
	rc = store_step(store, stmt, err);
	if (rc > 0)
		*pipeline = (struct stored_pipeline){
			.n_stages = (int)column_int(stmt, 0, 1, TOPOLOGY_STAGES_MAX, &is_damaged),
			.n_replicas =
				(int)column_int(stmt, 1, 1, TOPOLOGY_REPLICAS_MAX, &is_damaged),
			.n_hosts = (int)column_int(stmt, 2, 0, INT_MAX, &is_damaged),
			.message_bytes = column_int(stmt, 3, 0, INT64_MAX, &is_damaged),
			.timer = read_timer(stmt, 4, &is_damaged),
			.n_iterations_with_ops = sqlite3_column_int64(stmt, 5),
		};
	else if (rc == 0)
		rc = err_set(err, -ENOENT, "there is no run %" PRId64 " in '%s'", run, store->path);
	sqlite3_finalize(stmt);
	if (rc < 0)
		return rc;
	return is_damaged ? store_fail_damaged(store, "run", err) : 0;
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
