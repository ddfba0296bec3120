/* store_fixture.h - a folder, a scenario and a run for the tests of engine/store. */
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/store.h"
#include "tests/folder.h"
#include "tests/tap.h"

enum { PATH_BYTES = 256, CELL_BYTES = 4096 };

static char fixture_folder[PATH_BYTES];

/* End the test at once: what cannot be set up cannot be tested. */
static inline void must(bool has_held, const char *what)
{
	if (has_held)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static inline void fixture_make_folder(void)
{
	snprintf(fixture_folder, sizeof(fixture_folder), "%s", folder_open());
}

static inline const char *fixture_path(const char *name, char out[PATH_BYTES])
{
	must(snprintf(out, PATH_BYTES, "%s/%s", fixture_folder, name) < PATH_BYTES, "long path");
	return out;
}

static inline struct store *fixture_open(const char *path, enum store_mode mode)
{
	struct store *store = NULL;
	struct err err = {0};

	if (store_open(path, mode, &store, &err)) {
		printf("# %s\n", err.text);
		must(false, "cannot open the store");
	}
	return store;
}

/* Names in the folder, each with a blank behind it, sorted; removes nothing. */
static inline const char *fixture_list(char out[CELL_BYTES])
{
	struct dirent **entries;
	int n = scandir(fixture_folder, &entries, NULL, alphasort);

	must(n >= 0, "cannot list the folder");
	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		size_t used = strlen(out);

		if (entries[i]->d_name[0] != '.')
			snprintf(out + used, CELL_BYTES - used, "%s ", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return out;
}

static inline void fixture_remove_folder(void)
{
	char names[CELL_BYTES], path[PATH_BYTES];

	for (char *name = strtok((char *)(size_t)fixture_list(names), " "); name;
	     name = strtok(NULL, " "))
		(void)(unlink(fixture_path(name, path)) && rmdir(path));
	must(rmdir(fixture_folder) == 0, "the test's folder is not empty");
}

static inline struct scenario fixture_scenario(void)
{
	struct scenario scenario;

	scenario_init(&scenario);
	scenario.title = (char *)(size_t) "a title with 'quotes'";
	scenario.path = (char *)(size_t) "scenarios/x.lua";
	scenario.text_digest = (char *)(size_t) "0123456789abcdef";
	scenario.topology.n_stages = 4;
	scenario.topology.n_hosts = 2;
	scenario.profile.name = (char *)(size_t) "gpt";
	scenario.profile.source = (char *)(size_t) "";
	scenario.n_microbatches = 2;
	return scenario;
}

static inline struct record_run fixture_run(void)
{
	return (struct record_run){
		.scenario_title = "a title with 'quotes'",
		.scenario_path = "scenarios/x.lua",
		.scenario_digest = "0123456789abcdef",
		.workload_fingerprint = 0xfedcba9876543210,
		.schedule = "zb",
		.plane = PLANE_DELEGATE,
		.mode = "sim",
		.device = "none",
		.transport = "virtual",
		.injector = "sim",
		.timer = TIMER_VIRTUAL,
		.seed = UINT64_MAX - 5,
		.repeat_seed = UINT64_MAX - 7,
		.repeat = 2,
		.place = 11,
		.is_control = true,
		.n_stages = 4,
		.n_replicas = 1,
		.n_microbatches = 2,
		.samples_per_iteration = 16,
		.n_iterations = 100,
		.n_warmup = 1,
		.is_oracle = true,
		.speed = 1.5,
		.host = "machine",
		.version = "0.1",
		.settings_json = "{\"seed\": 1}",
	};
}

/* An activation leaves every stage but the last, a gradient every one but the first. */
static inline bool fixture_sends(int stage, enum op_kind kind)
{
	return kind == OP_F ? stage < 3 : kind == OP_B && stage > 0;
}

/* 24 ops of iteration number iteration, 12 of which send a message. */
static inline struct record_iteration fixture_iteration(int iteration, struct record_op ops[24])
{
	int64_t start_ns = iteration * INT64_C(1000000000);

	for (int i = 0; i < 24; i++) {
		bool has_message = fixture_sends(i / 6, (enum op_kind)(i % 3));
		int64_t end_ns = start_ns + i * 1000 + 900;

		ops[i] = (struct record_op){
			.stage = i / 6,
			.replica = 0,
			.kind = (enum op_kind)(i % 3),
			.microbatch = i / 3 % 2,
			.start_ns = start_ns + i * 1000,
			.end_ns = end_ns,
			.message_request_ns = has_message ? end_ns : -1,
			.message_start_ns = has_message ? end_ns + 1 : -1,
			.message_end_ns = has_message ? end_ns + 2 : -1,
			.message_arrive_ns = has_message ? end_ns + 3 : -1,
			.message_rail = has_message ? i % 2 : -1,
			.message_queue = has_message && i % 4 > 0 ? i % 4 : -1,
			.message_n_resends = has_message && i == 10,
			.late_ns = i * 7,
		};
	}
	return (struct record_iteration){
		.attempt = 0,
		.iteration = iteration,
		.is_complete = true,
		.plane = PLANE_STREAM,
		.start_ns = start_ns,
		.duration_ns = 25000 + iteration,
		.compute_ns = 60000,
		.wait_ns = 39000,
		.blocked_ns = 1000 + 4 * iteration,
		.loss = NAN,
		.message_bytes = 4096,
		.ops = ops,
		.n_ops = 24,
	};
}

/* The rows of a query as text: columns joined by '|', rows by ' '. */
static inline const char *fixture_ask(sqlite3 *db, const char *sql, char out[CELL_BYTES])
{
	sqlite3_stmt *stmt;
	size_t used = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
		snprintf(out, CELL_BYTES, "%s", sqlite3_errmsg(db));
		return out;
	}
	out[0] = '\0';
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt) && used < CELL_BYTES; i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			used += (size_t)snprintf(out + used, CELL_BYTES - used, "%s%s",
			                         i      ? "|"
			                         : used ? " "
			                                : "",
			                         text ? text : "NULL");
		}
	}
	sqlite3_finalize(stmt);
	must(used < CELL_BYTES, "a query's answer is too long for the test");
	return out;
}

/* The same of a database that is opened for this, through SQLite itself, not through the store. */
static inline const char *fixture_query(const char *path, const char *sql, char out[CELL_BYTES])
{
	sqlite3 *db;

	must(!sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), "cannot open the database");
	sqlite3_busy_timeout(db, 5000);
	fixture_ask(db, sql, out);
	sqlite3_close(db);
	return out;
}

/* Begin a run of the scenario above in its own comparison. */
static inline int64_t fixture_begin(struct store *store, bool keeps_ops,
                                    struct record_sink **sink_out)
{
	struct scenario scenario = fixture_scenario();
	struct record_run row = fixture_run();
	struct err err = {0};
	int64_t comparison, run = 0;

	if (store_begin_comparison(store, &scenario, &comparison, &err) ||
	    store_begin_run(store,
	                    &(struct store_new_run){comparison, &row, &scenario, keeps_ops,
	                                            keeps_ops},
	                    &run, sink_out, &err)) {
		printf("# %s\n", err.text);
		must(false, "cannot begin a run");
	}
	return run;
}

#endif
