/* schema_internal.h - the tables that a database has, and what an older one has of today's. */
#ifndef ENGINE_STORE_SCHEMA_INTERNAL_H
#define ENGINE_STORE_SCHEMA_INTERNAL_H

#include "engine/base/strbuf.h"
#include "engine/store/store_internal.h"

/* A table, an index, a view or a trigger. */
struct schema_object {
	char *type, *name;
	char *table; /* it is of; a table's is itself */
	char *sql;   /* that makes it */
};

struct schema_column {
	char *table, *name;
	char *fallback; /* SQL of its DEFAULT; NULL: none */
};

struct schema {
	struct schema_object *objects; /* in the order in which they were made */
	struct schema_column *columns; /* of tables, in order */
	size_t n_objects, n_columns;
};

/* ---- schema.c */

/* Make the tables of schema.sql in an empty database; path is for sentences. */
int schema_make(sqlite3 *db, const char *path, struct err *err);

/* What the database has, or what a fresh one would have; the caller's to schema_fini(). */
int schema_read(struct store *store, struct schema *out, struct err *err);
int schema_read_current(const char *path, struct schema *out, struct err *err);
void schema_fini(struct schema *schema);

/* NULL: there is none. */
const struct schema_object *schema_find(const struct schema *schema, const char *name);
bool schema_has_column(const struct schema *schema, const char *table, const char *column);

/* Do both statements say the same, but for comments and blanks? */
bool schema_is_same_sql(const char *a, const char *b);

/* ---- older.c */

/* What values in older.c need of the connection. */
int older_prepare(struct store *store, struct err *err);

/* Add "SELECT …", the current columns of table in order, each by what the older table has. */
void older_add_select(const struct schema *current, const struct schema *older, const char *table,
                      struct strbuf *sql);

/* Let whoever reads through this connection see a database of an older schema as one of the current
 * schema; the file is left alone. */
int older_show(struct store *store, struct err *err);

/* ---- migrate.c */

/* Bring a database of an older schema to the current one, whole or not at all. */
int store_migrate(struct store *store, struct err *err);

#endif
