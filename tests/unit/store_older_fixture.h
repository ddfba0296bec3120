/* store_older_fixture.h - databases as older versions made them: their tables, from
 * tests/data/schema, with the rows of a database of today. */
#ifndef TESTS_UNIT_STORE_OLDER_FIXTURE_H
#define TESTS_UNIT_STORE_OLDER_FIXTURE_H

#include <glob.h>

#include "tests/unit/store_rows_fixture.h"

static inline void older_run(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message)) {
		printf("# %s\n", message);
		must(false, "cannot make a database");
	}
}

/* The files of tests/data/schema; the caller's to globfree(). */
static inline void older_schemas(glob_t *out)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	char pattern[PATH_BYTES];

	snprintf(pattern, sizeof(pattern), "%s/tests/data/schema/*.sql", root ? root : ".");
	must(!glob(pattern, 0, NULL, out), "no schemas of before");
}

static inline const char *older_name(const char *schema)
{
	return strrchr(schema, '/') + 1;
}

/* The file of tests/data/schema with this name; valid until the next call. */
static inline const char *older_schema(const char *name)
{
	static char path[PATH_BYTES];
	const char *root = getenv("ADAPTRA_SOURCE");

	snprintf(path, sizeof(path), "%s/tests/data/schema/%s.sql", root ? root : ".", name);
	return path;
}

static inline void older_run_file(sqlite3 *db, const char *schema)
{
	FILE *file = fopen(schema, "r");
	char text[65536];
	size_t n;

	must(file != NULL, "cannot open a schema");
	n = fread(text, 1, sizeof(text) - 1, file);
	must(n > 0 && feof(file), "cannot read a schema");
	fclose(file);
	text[n] = '\0';
	older_run(db, text);
}

/* Columns of table that both databases have, joined by ", ". */
static inline const char *older_columns(sqlite3 *db, const char *table, char out[CELL_BYTES])
{
	char sql[CELL_BYTES];

	snprintf(
		sql, sizeof(sql),
		"SELECT group_concat(name, ', ') FROM pragma_table_info('%s', 'main') WHERE name IN"
		" (SELECT name FROM pragma_table_info('%s', 'today'))",
		table, table);
	return fixture_ask(db, sql, out);
}

/* Make the database at path by that schema; its rows are those of the database at today, as far as
 * it has columns for them. */
static inline void older_make(const char *schema, const char *today, const char *path)
{
	char tables[CELL_BYTES], columns[CELL_BYTES], sql[3 * CELL_BYTES];
	sqlite3 *db;

	must(!sqlite3_open(path, &db), "cannot open a new database");
	older_run_file(db, schema);
	snprintf(sql, sizeof(sql), "PRAGMA journal_mode = WAL; ATTACH '%s' AS today; BEGIN", today);
	older_run(db, sql);
	fixture_ask(db, "SELECT name FROM sqlite_master WHERE type = 'table'", tables);
	for (char *table = strtok(tables, " "); table; table = strtok(NULL, " ")) {
		older_columns(db, table, columns);
		snprintf(sql, sizeof(sql), "INSERT INTO main.%s (%s) SELECT %s FROM today.%s",
		         table, columns, columns, table);
		older_run(db, sql);
	}
	older_run(db, "COMMIT; DETACH today");
	must(!sqlite3_close(db), "cannot close a database");
}

#endif
