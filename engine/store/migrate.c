/* migrate.c - brings a database of an older schema to the current one.
 *
 * One transaction makes it all, so a kill, a full disk or a mistake leaves the database of before.
 * A table whose statement has become another is made again beside its rows, which are copied
 * (older.c has what the new columns hold); others stay where they are. ALTER TABLE would be faster
 * for columns, but cannot change a CHECK, and what it leaves reads in no other way than by hand:
 * now a database has the tables of schema.sql, however old it was.
 *
 * A user's own tables, views, indexes and triggers stay. A column that no version knows is refused,
 * for it would be lost. */
#include <errno.h>
#include <string.h>

#include "engine/store/schema_internal.h"

static const char verb_phrase[] = "bring the tables to the current schema";

struct migration {
	struct store *store;
	struct schema current, older;
};

static bool is_table(const struct schema_object *object)
{
	return strcmp(object->type, "table") == 0;
}

/* Run what was put together. */
static int run_sql(const struct migration *migration, struct strbuf *sql, struct err *err)
{
	int rc = sql->is_failed ? store_fail_memory(migration->store, err)
	                        : store_exec(migration->store, strbuf_text(sql), verb_phrase, err);

	strbuf_fini(sql);
	return rc;
}

static int check_columns(const struct migration *migration, const char *table, struct err *err)
{
	for (size_t i = 0; i < migration->older.n_columns; i++) {
		const struct schema_column *column = &migration->older.columns[i];

		if (strcmp(column->table, table) == 0 &&
		    !schema_has_column(&migration->current, table, column->name))
			return err_set(err, -EMEDIUMTYPE,
			               "cannot %s in '%s': its table %s has a column %s, which "
			               "would be lost; drop it, or name another file with --store",
			               verb_phrase, migration->store->path, table, column->name);
	}
	return 0;
}

/* A user's indexes and triggers went with the table. */
static void add_own_objects(const struct migration *migration, const char *table,
                            struct strbuf *sql)
{
	for (size_t i = 0; i < migration->older.n_objects; i++) {
		const struct schema_object *object = &migration->older.objects[i];

		if (strcmp(object->table, table) == 0 && !is_table(object) &&
		    !schema_find(&migration->current, object->name))
			strbuf_addf(sql, ";%s", object->sql);
	}
}

static int make_again(const struct migration *migration, const struct schema_object *table,
                      struct err *err)
{
	const char *name = table->name;
	struct strbuf sql = {0};
	int rc = check_columns(migration, name, err);

	if (rc)
		return rc;
	strbuf_addf(&sql, "ALTER TABLE %s RENAME TO %s_of_before;%s;INSERT INTO %s ", name, name,
	            table->sql, name);
	older_add_select(&migration->current, &migration->older, name, &sql);
	strbuf_addf(&sql, " FROM %s_of_before;DROP TABLE %s_of_before", name, name);
	add_own_objects(migration, name, &sql);
	return run_sql(migration, &sql, err);
}

static int bring_object(const struct migration *migration, const struct schema_object *object,
                        struct err *err)
{
	const struct schema_object *before = schema_find(&migration->older, object->name);
	struct strbuf sql = {0};

	if (before && strcmp(before->type, object->type) != 0)
		return err_set(err, -EMEDIUMTYPE,
		               "cannot %s in '%s': it has a %s of the name %s; drop it, or name "
		               "another file with --store",
		               verb_phrase, migration->store->path, before->type, object->name);
	if (is_table(object) && before) {
		if (schema_is_same_sql(before->sql, object->sql))
			return 0;
		return make_again(migration, object, err);
	}
	if (before)
		strbuf_addf(&sql, "DROP %s IF EXISTS %s;", object->type, object->name);
	strbuf_add(&sql, object->sql);
	return run_sql(migration, &sql, err);
}

static int bring_all(const struct migration *migration, struct err *err)
{
	struct strbuf sql = {0};
	int rc = 0;

	for (size_t i = 0; i < migration->current.n_objects && rc == 0; i++)
		rc = bring_object(migration, &migration->current.objects[i], err);
	if (rc)
		return rc;
	strbuf_addf(&sql, "PRAGMA user_version = %d", STORE_SCHEMA_VERSION);
	return run_sql(migration, &sql, err);
}

/* The schema of before is read within the transaction, so nobody else changes it meanwhile. */
static int migrate(struct migration *migration, struct err *err)
{
	struct store *store = migration->store;
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	rc = schema_read(store, &migration->older, err);
	if (rc == 0) {
		rc = bring_all(migration, err);
		schema_fini(&migration->older);
	}
	return batch_end_alone(store, rc, err);
}

int store_migrate(struct store *store, struct err *err)
{
	struct migration migration = {.store = store};
	/* So that a table's new name is not put into what refers to it, and no row is deleted that
	 * refers to one of a table that is dropped. */
	int rc = store_exec(store, "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON",
	                    verb_phrase, err);

	rc = rc ? rc : older_prepare(store, err);
	rc = rc ? rc : schema_read_current(store->path, &migration.current, err);
	if (rc)
		return rc;
	rc = migrate(&migration, err);
	schema_fini(&migration.current);
	return rc ? rc : store_exec(store, "PRAGMA legacy_alter_table = OFF", verb_phrase, err);
}
