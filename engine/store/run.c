/* run.c - the rows of comparisons and runs, from their beginning to their end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/store/row_internal.h"
#include "engine/store/store_internal.h"

enum { TIME_TEXT_BYTES = 32, FINGERPRINT_TEXT_BYTES = 17 };

static void format_now(char out[TIME_TEXT_BYTES])
{
	time_t now = (time_t)(clock_realtime_ns() / NS_PER_S);
	struct tm utc;

	if (!gmtime_r(&now, &utc) || !strftime(out, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc))
		out[0] = '\0';
}

static void format_fingerprint(uint64_t fingerprint, char out[FINGERPRINT_TEXT_BYTES])
{
	snprintf(out, FINGERPRINT_TEXT_BYTES, "%016" PRIx64, fingerprint);
}

int store_begin_comparison(struct store *store, const struct scenario *scenario,
                           int64_t *comparison_out, struct err *err)
{
	char now[TIME_TEXT_BYTES], fingerprint[FINGERPRINT_TEXT_BYTES];
	struct row row = {0};
	int64_t comparison;
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	format_now(now);
	format_fingerprint(scenario_workload_fingerprint(scenario), fingerprint);
	row_text(&row, "created", now);
	row_text(&row, "scenario_title", scenario->title);
	row_text(&row, "scenario_path", scenario->path);
	row_text(&row, "scenario_digest", scenario->text_digest);
	row_text(&row, "workload_fingerprint", fingerprint);
	row_text(&row, "note", scenario->note ? scenario->note : "");
	rc = row_insert(&row, store, "comparison", NULL, err);
	comparison = sqlite3_last_insert_rowid(store->db);
	rc = batch_end_alone(store, rc, err);
	if (!rc)
		*comparison_out = comparison;
	return rc;
}

static void add_what_was_asked(struct row *row, const struct record_run *run)
{
	row_text(row, "scenario_title", run->scenario_title);
	row_text(row, "scenario_path", run->scenario_path);
	row_text(row, "scenario_digest", run->scenario_digest);
	row_text(row, "schedule", run->schedule);
	row_text(row, "plane", plane_kind_name(run->plane));
	row_int(row, "is_oracle", run->is_oracle);
	row_int(row, "seed", (int64_t)run->seed);
	row_int(row, "repeat", run->repeat);
	row_int(row, "repeat_seed", (int64_t)run->repeat_seed);
	row_int(row, "place", run->place);
	row_int(row, "is_control", run->is_control);
	row_int(row, "n_iterations", run->n_iterations);
	row_int(row, "n_warmup", run->n_warmup);
	row_real(row, "speed", run->speed);
	row_int(row, "n_stages", run->n_stages);
	row_int(row, "n_replicas", run->n_replicas);
	row_int(row, "n_microbatches", run->n_microbatches);
	row_int(row, "samples_per_iteration", run->samples_per_iteration);
	row_text(row, "settings_json",
	         run->settings_json && *run->settings_json ? run->settings_json : "{}");
}

static void add_how_it_is_made(struct row *row, const struct record_run *run)
{
	row_text(row, "mode", run->mode);
	row_text(row, "timer", record_timer_name(run->timer));
	row_text(row, "device", run->device);
	row_text(row, "transport", run->transport);
	row_text(row, "injector", run->injector);
	row_text(row, "host", run->host);
	row_text(row, "version", run->version);
}

static void add_scenario(struct row *row, const struct scenario *scenario)
{
	row_int(row, "n_hosts", scenario->topology.n_hosts);
	row_int(row, "n_rails", scenario->topology.n_rails);
	row_int(row, "link_delay_ns", scenario->topology.link_delay_ns);
	row_int(row, "link_rate_bits_per_s", scenario->topology.link_rate_bits_per_s);
	row_text(row, "profile", scenario->profile.name);
	row_int(row, "message_bytes", scenario->profile.message_bytes);
	row_int(row, "activation_limit", scenario->activation_limit);
	row_int(row, "n_queues", scenario->n_queues);
	row_int(row, "window_bytes", scenario->window_bytes);
	row_int(row, "delegate_cost_ns", scenario->delegate_cost_ns);
	row_int(row, "checkpoint_every", scenario->recovery.checkpoint_every);
	row_int(row, "restart_ns", scenario->recovery.restart_ns);
	row_int(row, "failover_ns", scenario->recovery.failover_ns);
	row_int(row, "threshold_ns", scenario->detection.threshold_ns);
	row_int(row, "confirm_iterations", scenario->detection.confirm_iterations);
	row_int(row, "clear_iterations", scenario->detection.clear_iterations);
}

int store_begin_run(struct store *store, const struct store_new_run *new_run, int64_t *run_out,
                    struct record_sink **sink_out, struct err *err)
{
	const struct record_run *run = new_run->run;
	char now[TIME_TEXT_BYTES], fingerprint[FINGERPRINT_TEXT_BYTES];
	struct row row = {0};
	struct record_sink *sink;
	int64_t number;
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	format_now(now);
	format_fingerprint(run->workload_fingerprint, fingerprint);
	row_int_if(&row, "comparison", new_run->comparison != 0, new_run->comparison);
	row_text(&row, "created", now);
	row_text(&row, "status", "running");
	row_text(&row, "reason", "");
	row_text(&row, "workload_fingerprint", fingerprint);
	row_int(&row, "keeps_ops", new_run->keeps_ops);
	add_what_was_asked(&row, run);
	add_how_it_is_made(&row, run);
	add_scenario(&row, new_run->scenario);
	rc = row_insert(&row, store, "run", NULL, err);
	number = sqlite3_last_insert_rowid(store->db);
	if (!rc)
		rc = asked_insert(store, number, new_run->scenario, err);
	rc = batch_end_alone(store, rc, err);
	if (!rc)
		rc = run_sink_new(store, number, new_run, &sink, err);
	if (rc)
		return rc;
	*run_out = number;
	*sink_out = sink;
	return 0;
}

/* Run an UPDATE whose parameters are ?1, a number, and texts from ?2 on, in a transaction of its
 * own. */
static int update(struct store *store, const char *sql, const char *verb_phrase, int64_t number,
                  const char *const *texts, struct err *err)
{
	sqlite3_stmt *stmt;
	bool is_done;
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	rc = store_prepare(store, sql, &stmt, err);
	if (rc)
		return batch_end_alone(store, rc, err);
	is_done = sqlite3_bind_int64(stmt, 1, number) == SQLITE_OK;
	for (int i = 0; texts[i] && is_done; i++)
		is_done = sqlite3_bind_text(stmt, i + 2, texts[i], -1, SQLITE_STATIC) == SQLITE_OK;
	if (!is_done || sqlite3_step(stmt) != SQLITE_DONE)
		rc = store_fail(store, verb_phrase, err);
	else if (sqlite3_changes(store->db) == 0)
		rc = err_set(err, -EINVAL, "cannot %s in '%s': there is no number %" PRId64,
		             verb_phrase, store->path, number);
	sqlite3_finalize(stmt);
	return batch_end_alone(store, rc, err);
}
static int write_end(struct store *store, int64_t run, const char *status, const char *reason,
                     struct err *err)
{
	char now[TIME_TEXT_BYTES];
	const char *texts[] = {status, reason ? reason : "", now, NULL};

	format_now(now);
	return update(store, "UPDATE run SET status = ?2, reason = ?3, ended = ?4 WHERE run = ?1",
	              "end a run", run, texts, err);
}

int store_put_simulated(struct store *store, int64_t comparison, int64_t simulated, struct err *err)
{
	char number[24];
	const char *texts[] = {number, NULL};

	snprintf(number, sizeof(number), "%" PRId64, simulated);
	return update(store,
	              "UPDATE comparison SET simulated = CAST(?2 AS INTEGER) WHERE comparison = ?1",
	              "store what belongs to a comparison", comparison, texts, err);
}

static int check_open(const struct store *store, int64_t run, struct err *err)
{
	if (run_sink_is_open(store, run))
		return 0;
	return err_set(err, -EINVAL, "run %" PRId64 " is not under way in '%s'", run, store->path);
}

int store_put_facts(struct store *store, int64_t run, const char *json, struct err *err)
{
	const char *texts[] = {json, NULL};
	int rc = check_open(store, run, err);

	return rc ? rc
	          : update(store, "UPDATE run SET facts_json = ?2 WHERE run = ?1",
	                   "store the facts of a run", run, texts, err);
}

int store_end_run(struct store *store, int64_t run, const char *status, const char *reason,
                  struct err *err)
{
	int rc = check_open(store, run, err);

	if (rc)
		return rc;
	run_sink_free(store, run);
	rc = batch_commit(store, err);
	if (!rc)
		return write_end(store, run, status, reason, err);
	/* The last batch is lost, for want of space perhaps; there may still be enough for this. */
	(void)write_end(store, run, "failed", err ? err->text : "its last part was not stored",
	                NULL);
	return rc;
}
