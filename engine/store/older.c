/* older.c - what the rows of a database of an older schema are by today's.
 *
 * A database is brought to the current schema (migrate.c), or looked at as if it were
 * (older_show()), by the columns that it has: number 7 was given to two schemas, and others grew
 * before the next number. What a column that it lacks holds in rows from before is, in this order:
 * the value below, the column's DEFAULT, NULL. So whoever makes schema N + 1
 *
 *   - changes schema.sql, its user_version and STORE_SCHEMA_VERSION,
 *   - adds a row below for each new column that is NOT NULL without a DEFAULT, or that replaces
 *     another: its value may use any column that the older table has,
 *   - adds a line to the list here, and the schema of before to tests/data/schema.
 *
 * Version 2: run.facts_json, comparison.simulated, op.late_ns
 *         3: the ops at which a fault starts and ends; messages with their way
 *         4: run.place, repeat_seed, is_control
 *         5: night_value, alarm
 *         6: faults that lose packets, and those that may reorder them
 *         7: runs of mode 'imported'; or these and check_result, variant_total, when an RNIC's end
 *            was noticed and overcome
 *         8: all of that
 *         9: what passed while a fault was in force */
#include <string.h>

#include "engine/base/rng.h"
#include "engine/store/schema_internal.h"

static const struct older_value {
	const char *table, *column;
	const char *value; /* SQL over a row of the older table */
} older_values[] = {
	{"run", "place",
         "CASE WHEN comparison IS NULL THEN 0"
         " ELSE row_number() OVER (PARTITION BY comparison ORDER BY run) - 1 END"},
	{"run", "repeat_seed", "older_repeat_seed(seed, repeat)"},
	{"run", "is_control", "0"},
	{"iteration", "n_messages", "0"},
	{"op", "late_ns", "0"},
	/* Nothing was ever stored in that table. */
	{"message", "kind", "CASE WHEN from_stage < to_stage THEN 'F' ELSE 'B' END"},
};

/* The same as scenario_repeat_seed(), which every version drew from. */
static void repeat_seed(sqlite3_context *context, int n_arguments, sqlite3_value **arguments)
{
	sqlite3_int64 seed = sqlite3_value_int64(arguments[0]);
	sqlite3_int64 repeat = sqlite3_value_int64(arguments[1]);

	(void)n_arguments; /* SQLite saw to it that there are two */
	if (repeat > 0)
		seed = (sqlite3_int64)rng_mix((uint64_t)seed, (uint64_t)repeat);
	sqlite3_result_int64(context, seed);
}

int older_prepare(struct store *store, struct err *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

	if (sqlite3_create_function(store->db, "older_repeat_seed", 2, flags, NULL, repeat_seed,
	                            NULL, NULL))
		return store_fail(store, "look at the tables", err);
	return 0;
}

static const char *value_of(const struct schema_column *column)
{
	for (size_t i = 0; i < sizeof(older_values) / sizeof(older_values[0]); i++)
		if (strcmp(older_values[i].table, column->table) == 0 &&
		    strcmp(older_values[i].column, column->name) == 0)
			return older_values[i].value;
	return column->fallback ? column->fallback : "NULL";
}

void older_add_select(const struct schema *current, const struct schema *older, const char *table,
                      struct strbuf *sql)
{
	const char *separator = "SELECT ";
	bool is_there = schema_find(older, table) != NULL;

	for (size_t i = 0; i < current->n_columns; i++) {
		const struct schema_column *column = &current->columns[i];

		if (strcmp(column->table, table) != 0)
			continue;
		strbuf_add(sql, separator);
		if (!schema_has_column(older, table, column->name))
			strbuf_addf(sql, "%s AS ", is_there ? value_of(column) : "NULL");
		strbuf_add(sql, column->name);
		separator = ", ";
	}
}

static bool lacks_columns(const struct schema *current, const struct schema *older,
                          const char *table)
{
	for (size_t i = 0; i < current->n_columns; i++)
		if (strcmp(current->columns[i].table, table) == 0 &&
		    !schema_has_column(older, table, current->columns[i].name))
			return true;
	return false;
}

/* Views of this connection stand in front of the tables of their names. */
static int make_views(struct store *store, const struct schema *current, const struct schema *older,
                      struct err *err)
{
	struct strbuf sql = {0};
	int rc;

	for (size_t i = 0; i < current->n_objects; i++) {
		const char *table = current->objects[i].name;

		if (strcmp(current->objects[i].type, "table") != 0 ||
		    !lacks_columns(current, older, table))
			continue;
		strbuf_addf(&sql, "CREATE TEMP VIEW %s AS ", table);
		older_add_select(current, older, table, &sql);
		if (schema_find(older, table))
			strbuf_addf(&sql, " FROM main.%s;", table);
		else
			strbuf_add(&sql, " WHERE 0;");
	}
	rc = sql.is_failed ? store_fail_memory(store, err)
	                   : store_exec(store, strbuf_text(&sql), "look at the tables", err);
	strbuf_fini(&sql);
	return rc;
}

int older_show(struct store *store, struct err *err)
{
	struct schema current, older;
	int rc = older_prepare(store, err);

	rc = rc ? rc : schema_read_current(store->path, &current, err);
	if (rc)
		return rc;
	rc = schema_read(store, &older, err);
	if (rc == 0) {
		rc = make_views(store, &current, &older, err);
		schema_fini(&older);
	}
	schema_fini(&current);
	return rc;
}
