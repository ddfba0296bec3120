/* schema.c - the tables that a database has. */
#include "engine/store/schema_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/embedded.h"
#include "engine/store/select_internal.h"

int schema_make(sqlite3 *db, const char *path, struct err *err)
{
	if (sqlite3_exec(db, embedded_schema_sql, NULL, NULL, NULL))
		return err_set(err, -EIO, "cannot make the tables for '%s': %s", path,
		               sqlite3_errmsg(db));
	return 0;
}

static int read_object(sqlite3_stmt *stmt, void *item)
{
	struct schema_object *object = item;

	*object = (struct schema_object){
		.type = column_text(stmt, 0),
		.name = column_text(stmt, 1),
		.table = column_text(stmt, 2),
		.sql = column_text(stmt, 3),
	};
	return object->type && object->name && object->table && object->sql ? 0 : -ENOMEM;
}

static void object_fini(void *item)
{
	struct schema_object *object = item;

	free(object->type);
	free(object->name);
	free(object->table);
	free(object->sql);
}

static const struct row_kind object_rows = {
	.table = "sqlite_master",
	.item_bytes = sizeof(struct schema_object),
	.read = read_object,
	.fini = object_fini,
};

static int read_column(sqlite3_stmt *stmt, void *item)
{
	struct schema_column *column = item;
	bool has_fallback = sqlite3_column_type(stmt, 2) != SQLITE_NULL;

	*column = (struct schema_column){
		.table = column_text(stmt, 0),
		.name = column_text(stmt, 1),
		.fallback = has_fallback ? column_text(stmt, 2) : NULL,
	};
	return column->table && column->name && (column->fallback || !has_fallback) ? 0 : -ENOMEM;
}

static void column_fini(void *item)
{
	struct schema_column *column = item;

	free(column->table);
	free(column->name);
	free(column->fallback);
}

static const struct row_kind column_rows = {
	.table = "sqlite_master",
	.item_bytes = sizeof(struct schema_column),
	.read = read_column,
	.fini = column_fini,
};

int schema_read(struct store *store, struct schema *out, struct err *err)
{
	/* What SQLite makes for itself has no text. A virtual table's columns would have to be
	 * asked of whatever module the file names. */
	static const struct select objects = {
		.sql = "SELECT type, name, tbl_name, sql FROM main.sqlite_master"
		       " WHERE sql IS NOT NULL ORDER BY rowid"};
	static const struct select columns = {
		.sql = "SELECT t.name, c.name, c.dflt_value FROM main.sqlite_master t"
		       " JOIN pragma_table_info(t.name, 'main') c WHERE t.type = 'table'"
		       " AND t.sql LIKE 'CREATE TABLE%' ORDER BY t.rowid, c.cid"};
	struct rows object_items, column_items;
	int rc = select_rows(store, &objects, &object_rows, &object_items, err);

	if (rc)
		return rc;
	rc = select_rows(store, &columns, &column_rows, &column_items, err);
	if (rc) {
		rows_fini(&object_rows, object_items.items, object_items.n_items);
		return rc;
	}
	*out = (struct schema){
		.objects = object_items.items,
		.columns = column_items.items,
		.n_objects = object_items.n_items,
		.n_columns = column_items.n_items,
	};
	return 0;
}

int schema_read_current(const char *path, struct schema *out, struct err *err)
{
	struct store fresh = {.path = (char *)path};
	int rc;

	if (sqlite3_open_v2(":memory:", &fresh.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
	                    NULL))
		rc = store_fail_memory(&fresh, err);
	else
		rc = schema_make(fresh.db, path, err);
	rc = rc ? rc : schema_read(&fresh, out, err);
	sqlite3_close(fresh.db);
	return rc;
}

void schema_fini(struct schema *schema)
{
	rows_fini(&object_rows, schema->objects, schema->n_objects);
	rows_fini(&column_rows, schema->columns, schema->n_columns);
}

const struct schema_object *schema_find(const struct schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->n_objects; i++)
		if (strcmp(schema->objects[i].name, name) == 0)
			return &schema->objects[i];
	return NULL;
}

bool schema_has_column(const struct schema *schema, const char *table, const char *column)
{
	for (size_t i = 0; i < schema->n_columns; i++)
		if (strcmp(schema->columns[i].table, table) == 0 &&
		    strcmp(schema->columns[i].name, column) == 0)
			return true;
	return false;
}

/* Past blanks and comments to the line's end, of which alone schema.sql has any. */
static const char *skip_blanks(const char *sql)
{
	for (;;) {
		while (isspace((unsigned char)*sql))
			sql++;
		if (strncmp(sql, "--", 2) != 0)
			return sql;
		sql += strcspn(sql, "\n");
	}
}

bool schema_is_same_sql(const char *a, const char *b)
{
	bool is_quoted = false;

	for (;; a++, b++) {
		if (!is_quoted) {
			a = skip_blanks(a);
			b = skip_blanks(b);
		}
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		is_quoted ^= *a == '\'';
	}
}
