/* table.c - the tables of a database as they are: every column, row by row. */
#include "engine/store/table.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/store/store_internal.h"

struct store_table {
	struct store *store;
	sqlite3_stmt *stmt;
};

/* Ops and messages have no index by run: those of an iteration are found by their ids, as
 * schema.sql says, one iteration after the other (CROSS JOIN keeps that order). */
static const struct {
	const char *name, *sql;
} tables[] = {
	{"run", "SELECT * FROM run WHERE run = ?1"},
	{"iteration", "SELECT * FROM iteration WHERE run = ?1 ORDER BY attempt, iteration"},
	{"op", "SELECT op.* FROM iteration i CROSS JOIN op"
               " ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1"
               " WHERE i.run = ?1 ORDER BY i.attempt, i.iteration, op.id"},
	{"message", "SELECT message.* FROM iteration i CROSS JOIN message"
                    " ON message.id BETWEEN i.first_message AND i.first_message + i.n_messages - 1"
                    " WHERE i.run = ?1 ORDER BY i.attempt, i.iteration, message.id"},
	{"event", "SELECT * FROM event WHERE run = ?1 ORDER BY event"},
	{"event_published",
         "SELECT * FROM event_published WHERE run = ?1 ORDER BY event, schedule"},
	{"fault", "SELECT * FROM fault WHERE run = ?1 ORDER BY fault"},
	{"fault_applied", "SELECT * FROM fault_applied WHERE run = ?1 ORDER BY id"},
	{"decision", "SELECT * FROM decision WHERE run = ?1 ORDER BY id"},
};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

size_t store_n_tables(void)
{
	return N_TABLES;
}

const char *store_table_name(size_t i)
{
	return tables[i].name;
}

int store_table_open(struct store *store, size_t i, int64_t run, struct store_table **out,
                     struct err *err)
{
	struct store_table *table = array_new(1, sizeof(*table));
	int rc;

	assert(i < N_TABLES);
	if (!table)
		return store_fail_memory(store, err);
	table->store = store;
	rc = store_select(store, tables[i].sql, &run, 1, &table->stmt, err);
	if (rc)
		free(table);
	else
		*out = table;
	return rc;
}

void store_table_close(struct store_table *table)
{
	if (!table)
		return;
	sqlite3_finalize(table->stmt);
	free(table);
}

int store_table_n_columns(const struct store_table *table)
{
	return sqlite3_column_count(table->stmt);
}

const char *store_table_column(const struct store_table *table, int column)
{
	const char *name = sqlite3_column_name(table->stmt, column);

	return name ? name : "";
}

int store_table_next(struct store_table *table, struct err *err)
{
	return store_step(table->store, table->stmt, err);
}

struct stored_cell store_table_cell(const struct store_table *table, int column)
{
	switch (sqlite3_column_type(table->stmt, column)) {
	case SQLITE_INTEGER:
		return (struct stored_cell){.type = STORED_INT,
		                            .integer = sqlite3_column_int64(table->stmt, column)};
	case SQLITE_FLOAT:
		return (struct stored_cell){.type = STORED_REAL,
		                            .real = sqlite3_column_double(table->stmt, column)};
	case SQLITE_TEXT:
		return (struct stored_cell){.type = STORED_TEXT,
		                            .text = (const char *)sqlite3_column_text(table->stmt,
		                                                                      column)};
	default: /* NULL; the schema is STRICT and has no blobs */
		return (struct stored_cell){.type = STORED_NULL};
	}
}
