/* row.c - one row on its way into a table.
 *
 * The statement is made from the columns that were added, so that a column and its value stand in
 * one place; a table with fifty columns would otherwise be a list of fifty names and one of fifty
 * values to keep in step. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "engine/base/strbuf.h"
#include "engine/store/row_internal.h"

enum { PHRASE_BYTES = 64 };

static struct row_value *add_value(struct row *row, const char *column, enum row_type type)
{
	struct row_value *value = &row->values[row->n_values++];

	assert(row->n_values <= ROW_VALUES_MAX);
	*value = (struct row_value){.column = column, .type = type};
	return value;
}

void row_int(struct row *row, const char *column, int64_t value)
{
	add_value(row, column, ROW_INT)->integer = value;
}

void row_int_if(struct row *row, const char *column, bool is_there, int64_t value)
{
	if (is_there)
		row_int(row, column, value);
	else
		add_value(row, column, ROW_NULL);
}

void row_real(struct row *row, const char *column, double value)
{
	if (isnan(value))
		add_value(row, column, ROW_NULL);
	else
		add_value(row, column, ROW_REAL)->real = value;
}

void row_text(struct row *row, const char *column, const char *value)
{
	add_value(row, column, ROW_TEXT)->text = value ? value : "";
}

void row_text_if(struct row *row, const char *column, bool is_there, const char *value)
{
	if (is_there)
		row_text(row, column, value);
	else
		add_value(row, column, ROW_NULL);
}

static int prepare_insert(const struct row *row, struct store *store, const char *table,
                          sqlite3_stmt **out, struct err *err)
{
	struct strbuf sql = {0};
	int rc;

	strbuf_addf(&sql, "INSERT INTO %s (", table);
	for (int i = 0; i < row->n_values; i++)
		strbuf_addf(&sql, "%s%s", i ? ", " : "", row->values[i].column);
	strbuf_add(&sql, ") VALUES (");
	for (int i = 0; i < row->n_values; i++)
		strbuf_add(&sql, i ? ", ?" : "?");
	strbuf_add(&sql, ")");
	rc = sql.is_failed ? store_fail_memory(store, err)
	                   : store_prepare(store, strbuf_text(&sql), out, err);
	strbuf_fini(&sql);
	return rc;
}

static int bind_value(sqlite3_stmt *stmt, int parameter, const struct row_value *value)
{
	switch (value->type) {
	case ROW_INT:
		return sqlite3_bind_int64(stmt, parameter, value->integer);
	case ROW_REAL:
		return sqlite3_bind_double(stmt, parameter, value->real);
	case ROW_TEXT:
		return sqlite3_bind_text(stmt, parameter, value->text, -1, SQLITE_STATIC);
	case ROW_NULL:
		break;
	}
	return sqlite3_bind_null(stmt, parameter);
}

int row_insert(const struct row *row, struct store *store, const char *table, sqlite3_stmt **kept,
               struct err *err)
{
	sqlite3_stmt *stmt = kept ? *kept : NULL;
	char phrase[PHRASE_BYTES];
	bool is_done = true;
	int rc = 0;

	if (!stmt)
		rc = prepare_insert(row, store, table, &stmt, err);
	if (rc)
		return rc;
	if (kept)
		*kept = stmt;
	for (int i = 0; i < row->n_values && is_done; i++)
		is_done = bind_value(stmt, i + 1, &row->values[i]) == SQLITE_OK;
	is_done = is_done && sqlite3_step(stmt) == SQLITE_DONE;
	if (!is_done) {
		snprintf(phrase, sizeof(phrase), "store a row of the table %s", table);
		rc = store_fail(store, phrase, err);
	}
	/* The texts are the caller's: the statement must not keep them. */
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	if (!kept)
		sqlite3_finalize(stmt);
	return rc;
}
