/* store_older.c - a database of any older schema becomes one of the current schema when it is
 * written to, and is seen as one when it is read; no row of it is lost. */
#include "engine/base/rng.h"
#include "engine/store/schema_internal.h"
#include "tests/unit/store_older_fixture.h"

static char path[PATH_BYTES], today[PATH_BYTES];
static char answer[CELL_BYTES], wanted[CELL_BYTES];

static sqlite3 *open_both(void)
{
	char sql[PATH_BYTES + 64];
	sqlite3 *db;

	must(!sqlite3_open(path, &db), "cannot open the database");
	snprintf(sql, sizeof(sql), "ATTACH '%s' AS today", today);
	older_run(db, sql);
	return db;
}

/* What the tables of the database %1$s are like. */
static const struct {
	const char *what, *sql;
} shapes[] = {
	{"objects", "SELECT type, name, tbl_name FROM %1$s.sqlite_master"},
	{"columns",
         "SELECT t.name, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk, c.hidden FROM"
         " %1$s.sqlite_master t, pragma_table_xinfo(t.name, '%1$s') c"},
	{"indexes", "SELECT t.name, i.name, i.\"unique\", i.origin, c.seqno, c.cid FROM"
                    " %1$s.sqlite_master t, pragma_index_list(t.name, '%1$s') i,"
                    " pragma_index_xinfo(i.name, '%1$s') c WHERE t.type = 'table'"},
	{"references", "SELECT t.name, f.id, f.\"table\", f.\"from\", f.\"to\", f.on_delete FROM"
                       " %1$s.sqlite_master t, pragma_foreign_key_list(t.name, '%1$s') f"},
	{"kinds", "SELECT name, type, ncol, wr, strict FROM pragma_table_list"
                  " WHERE schema = '%1$s'"},
};

static void check_shape(sqlite3 *db, const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		char got[CELL_BYTES], want[CELL_BYTES], sql[6 * CELL_BYTES];

		snprintf(got, sizeof(got), shapes[i].sql, "main");
		snprintf(want, sizeof(want), shapes[i].sql, "today");
		snprintf(sql, sizeof(sql),
		         "SELECT (SELECT count(*) > 2 FROM (%s)), (SELECT count(*) FROM (%s EXCEPT"
		         " %s)), (SELECT count(*) FROM (%s EXCEPT %s))",
		         want, got, want, want, got);
		tap_is_str(fixture_ask(db, sql, answer), "1|0|0", "%s: its %s are today's", name,
		           shapes[i].what);
	}
}

/* The statements that made its tables, too, with each CHECK. */
static void check_statements(sqlite3 *db, const char *name)
{
	sqlite3_stmt *stmt;
	int n = 0, n_same = 0;

	must(!sqlite3_prepare_v2(db,
	                         "SELECT a.sql, b.sql FROM main.sqlite_master a JOIN"
	                         " today.sqlite_master b USING (name) WHERE a.sql IS NOT NULL",
	                         -1, &stmt, NULL),
	     "cannot ask for the tables");
	for (; sqlite3_step(stmt) == SQLITE_ROW; n++)
		n_same += schema_is_same_sql((const char *)sqlite3_column_text(stmt, 0),
		                             (const char *)sqlite3_column_text(stmt, 1));
	sqlite3_finalize(stmt);
	tap_ok(n > 20 && n_same == n, "%s: %d of %d statements are today's", name, n_same, n);
}

/* Every row that the older one had is there, with all that it held. */
static void check_rows(sqlite3 *db, const char *schema, const char *name)
{
	char tables[CELL_BYTES], columns[CELL_BYTES], sql[4 * CELL_BYTES];
	sqlite3 *bare;

	must(!sqlite3_open(":memory:", &bare), "cannot open a database");
	older_run_file(bare, schema);
	fixture_ask(bare, "SELECT name FROM sqlite_master WHERE type = 'table'", tables);
	for (char *table = strtok(tables, " "); table; table = strtok(NULL, " ")) {
		snprintf(sql, sizeof(sql),
		         "SELECT group_concat(name, ', ') FROM pragma_table_info('%s')", table);
		fixture_ask(bare, sql, columns);
		snprintf(sql, sizeof(sql),
		         "SELECT (SELECT count(*) > 0 FROM main.%s),"
		         " (SELECT count(*) FROM main.%s) - (SELECT count(*) FROM today.%s),"
		         " (SELECT count(*) FROM (SELECT %s FROM today.%s EXCEPT"
		         " SELECT %s FROM main.%s))",
		         table, table, table, columns, table, columns, table);
		tap_is_str(fixture_ask(db, sql, answer), "1|0|0", "%s: all rows of %s are there",
		           name, table);
	}
	sqlite3_close(bare);
}

/* What rows from before have in columns that came later. */
static void check_values(sqlite3 *db, int version, const char *name)
{
	const uint64_t seed = fixture_run().seed;

	if (version < 4) {
		tap_is_str(fixture_ask(db,
		                       "SELECT run, place, is_control FROM main.run ORDER BY run",
		                       answer),
		           "1|0|0 2|1|0 3|0|0 4|1|0 5|0|0",
		           "%s: runs know their place in their comparison", name);
		snprintf(wanted, sizeof(wanted), "0|%lld 1|%lld 0|%lld 1|%lld 3|%lld",
		         (long long)seed, (long long)rng_mix(seed, 1), (long long)seed,
		         (long long)rng_mix(seed, 1), (long long)rng_mix(seed, 3));
		tap_is_str(fixture_ask(db, "SELECT repeat, repeat_seed FROM main.run ORDER BY run",
		                       answer),
		           wanted, "%s: and what their repeat drew from", name);
	}
	if (version < 2)
		tap_is_str(fixture_ask(db,
		                       "SELECT (SELECT max(late_ns) FROM main.op),"
		                       " (SELECT group_concat(facts_json, ' ') FROM main.run),"
		                       " (SELECT count(simulated) FROM main.comparison)",
		                       answer),
		           "0|{} {} {} {} {}|0", "%s: what was not measured is not made up", name);
	if (version < 3)
		tap_is_str(fixture_ask(db,
		                       "SELECT max(n_messages), count(first_message) FROM"
		                       " main.iteration",
		                       answer),
		           "0|0", "%s: iterations know of no messages", name);
}

static void write_to(int version, const char *name)
{
	struct store *store = fixture_open(path, STORE_WRITE);
	struct record_sink *sink;
	struct err err = {0};
	struct record_op ops[24];
	struct record_iteration iteration = fixture_iteration(0, ops);
	int64_t run;

	tap_is_int(store_older_version(store), version, "%s: its version is told", name);
	run = fixture_begin(store, true, &sink);
	tap_ok(run == 6 && !record_put_iteration(sink, &iteration, &err) &&
	               !store_end_run(store, run, "done", "", &err) && !store_close(store, &err),
	       "%s: a run is added: %s", name, err.text);
	tap_is_str(fixture_query(path, "DELETE FROM message WHERE run = 6", answer), "",
	           "messages");
	fixture_query(path, "DELETE FROM op WHERE run = 6", answer);
	fixture_query(path, "DELETE FROM iteration WHERE run = 6", answer);
	fixture_query(path, "DELETE FROM run WHERE run = 6", answer);
	fixture_query(path, "DELETE FROM comparison WHERE comparison = 3", answer);
}

static void check_sound(sqlite3 *db, const char *name)
{
	tap_is_int(atoi(fixture_ask(db, "PRAGMA main.user_version", answer)), STORE_SCHEMA_VERSION,
	           "%s: it is of the current version", name);
	tap_is_str(fixture_ask(db, "PRAGMA main.integrity_check", answer), "ok", "%s: it is sound",
	           name);
	tap_is_str(fixture_ask(db, "PRAGMA main.foreign_key_check", answer), "",
	           "%s: nothing refers to what is not there", name);
	tap_is_str(fixture_ask(db, "PRAGMA main.page_size", answer), "16384",
	           "%s: its pages are as large", name);
}

static void test_written(const char *schema, int version)
{
	const char *name = older_name(schema);
	struct store *store;
	sqlite3 *db;

	older_make(schema, today, path);
	write_to(version, name);
	db = open_both();
	check_sound(db, name);
	check_shape(db, name);
	check_statements(db, name);
	check_rows(db, schema, name);
	check_values(db, version, name);
	sqlite3_close(db);
	store = fixture_open(path, STORE_WRITE);
	tap_is_int(store_older_version(store), 0, "%s: the next time it is current", name);
	must(!store_close(store, NULL), "cannot close");
	tap_is_str(fixture_list(answer), "a.db today.db ", "%s: nothing is left beside it", name);
	unlink(path);
}

static void check_nights(struct store *store, int version, const char *name)
{
	struct night_value *values = NULL;
	struct stored_check *checks = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_nights(store, 7, &values, &n, &err) && n == (version < 5 ? 0 : 2),
	       "%s: its nights are read: %zu %s", name, n, err.text);
	stored_nights_fini(values, n);
	tap_ok(!store_read_checks(store, 1, &checks, &n, &err) &&
	               n == (version > 7 || strcmp(name, "7_checks.sql") == 0),
	       "%s: and which checks held: %zu %s", name, n, err.text);
	stored_checks_fini(checks, n);
}

static void test_read(const char *schema, int version)
{
	const char *name = older_name(schema);
	struct stored_run *runs = NULL;
	struct record_op *ops = NULL;
	struct stored_fault *faults = NULL;
	struct store *store;
	struct err err = {0};
	size_t n = 0;

	older_make(schema, today, path);
	fixture_query(path, "PRAGMA schema_version", wanted);
	store = fixture_open(path, STORE_READ);
	tap_ok(!store_read_runs(store, &(struct store_query){0}, &runs, &n, &err) && n == 5,
	       "%s: its runs are read: %zu %s", name, n, err.text);
	tap_is_int(n > 1 ? runs[1].place : -1, version < 4 ? 1 : 11, "%s: with their places", name);
	tap_is_str(n > 1 ? runs[1].facts_json : "", version < 2 ? "{}" : "{\"foreign\": 1}",
	           "%s: and their facts", name);
	stored_runs_fini(runs, n);
	n = 0;
	tap_ok(!store_read_ops(store, &(struct store_iteration){4, 0, 1}, &ops, &n, &err) &&
	               n == 24,
	       "%s: its ops are read: %zu %s", name, n, err.text);
	tap_ok(n == 24 && ops[10].late_ns == (version < 2 ? 0 : 70),
	       "%s: each with what was measured of it", name);
	tap_ok(n == 24 && ops[10].message_n_resends == (version < 4 ? 0 : 1),
	       "%s: and the way of its message, if that was stored", name);
	free(ops);
	tap_ok(!store_read_faults(store, 1, &faults, &n, &err) && n == 1,
	       "%s: its faults are read: %zu %s", name, n, err.text);
	stored_faults_fini(faults, n);
	check_nights(store, version, name);
	must(!store_close(store, NULL), "cannot close");
	tap_is_str(fixture_query(path, "PRAGMA schema_version", answer), wanted,
	           "%s: reading leaves it as it was", name);
	snprintf(wanted, sizeof(wanted), "%d", version);
	tap_is_str(fixture_query(path, "PRAGMA user_version", answer), wanted,
	           "%s: its version, too", name);
	unlink(path);
}

static void test_all(void)
{
	bool is_tested[STORE_SCHEMA_VERSION] = {false};
	glob_t schemas;

	older_schemas(&schemas);
	for (size_t i = 0; i < schemas.gl_pathc; i++) {
		int version = atoi(older_name(schemas.gl_pathv[i]));

		must(version >= 1 && version < STORE_SCHEMA_VERSION, "a schema's file has a name");
		is_tested[version] = true;
		test_read(schemas.gl_pathv[i], version);
		test_written(schemas.gl_pathv[i], version);
	}
	globfree(&schemas);
	for (int version = 1; version < STORE_SCHEMA_VERSION; version++)
		tap_ok(is_tested[version], "version %d is among the schemas of before", version);
}

/* What the user has put beside our tables. */
static void test_own_objects(void)
{
	struct store *store;
	struct err err = {0};

	older_make(older_schema("6"), today, path);
	fixture_query(path, "CREATE TABLE mine (x)", answer);
	fixture_query(path, "CREATE INDEX my_runs ON run (schedule)", answer);
	fixture_query(path, "CREATE INDEX my_ops ON op (run)", answer);
	fixture_query(path, "CREATE VIEW my_view AS SELECT run, mode FROM run", answer);
	fixture_query(path,
	              "CREATE TRIGGER my_trigger AFTER DELETE ON run BEGIN"
	              " INSERT INTO mine VALUES (old.run); END",
	              answer);
	fixture_query(path, "SELECT rootpage FROM sqlite_master WHERE name = 'op'", wanted);
	must(!store_close(fixture_open(path, STORE_WRITE), NULL), "cannot close");
	tap_is_str(fixture_query(path,
	                         "SELECT name FROM sqlite_master WHERE name LIKE 'm_%' AND name <>"
	                         " 'message' AND name <> 'message_ms' ORDER BY name",
	                         answer),
	           "mine my_ops my_runs my_trigger my_view", "what the user has made stays");
	tap_is_str(fixture_query(path, "SELECT rootpage FROM sqlite_master WHERE name = 'op'",
	                         answer),
	           wanted, "a table that is as it was is not copied");
	tap_is_str(fixture_query(path, "SELECT count(*), min(mode) FROM my_view", answer), "5|sim",
	           "the view shows runs");
	fixture_query(path, "PRAGMA user_version = 7", answer);
	fixture_query(path, "ALTER TABLE run ADD COLUMN weather TEXT", answer);
	fixture_query(path, "ALTER TABLE run DROP COLUMN is_control", answer);
	tap_is_int(store_open(path, STORE_WRITE, &store, &err), -EMEDIUMTYPE,
	           "a column that no version knows is refused");
	tap_contains(err.text, "its table run has a column weather, which would be lost",
	             "in a sentence");
	tap_is_str(fixture_query(path, "SELECT count(weather), count(*) FROM run", answer), "0|5",
	           "and stays");
	unlink(path);
}

static void test_same_sql(void)
{
	tap_ok(schema_is_same_sql("CREATE TABLE a (x, -- a comment's\n y)",
	                          "CREATE TABLE a (x, y )"),
	       "comments and blanks make no difference");
	tap_ok(!schema_is_same_sql("CREATE TABLE a (x)", "CREATE TABLE a (x, y)"), "columns do");
	tap_ok(!schema_is_same_sql("CHECK (x = 'a b')", "CHECK (x = 'ab')"),
	       "blanks in a text do, too");
	tap_ok(!schema_is_same_sql("DEFAULT '--a'", "DEFAULT '--b'"),
	       "and what only looks like a comment");
	tap_ok(!schema_is_same_sql("a", "a b") && !schema_is_same_sql("a b", "a"),
	       "and an end that comes early");
}

int main(void)
{
	fixture_make_folder();
	fixture_path("a.db", path);
	fixture_path("today.db", today);
	rows_make(today, 3);
	test_same_sql();
	test_all();
	test_own_objects();
	unlink(today);
	tap_is_str(fixture_list(answer), "", "nothing is left of all this");
	fixture_remove_folder();
	return tap_done();
}
