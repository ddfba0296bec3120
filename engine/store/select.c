/* select.c - the rows of a query, each read into an item. */
#include "engine/store/select_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

static void item_fini(const struct row_kind *kind, void *item)
{
	if (kind->fini)
		kind->fini(item);
}

void rows_fini(const struct row_kind *kind, void *items, size_t n_items)
{
	for (size_t i = 0; i < n_items; i++)
		item_fini(kind, (char *)items + i * kind->item_bytes);
	free(items);
}

int row_check(bool is_damaged)
{
	return is_damaged ? -EMEDIUMTYPE : 0;
}

static int prepare(struct store *store, const struct select *select, sqlite3_stmt **out,
                   struct err *err)
{
	return store_select(store, select->sql, select->ids, select->n_ids, out, err);
}

/* Read the row that stmt is at. */
static int read_row(struct store *store, sqlite3_stmt *stmt, const struct row_kind *kind,
                    void *item, struct err *err)
{
	int rc;

	memset(item, 0, kind->item_bytes);
	rc = kind->read(stmt, item);
	if (!rc)
		return 0;
	return rc == -ENOMEM ? store_fail_memory(store, err)
	                     : store_fail_damaged(store, kind->table, err);
}

static int add_row(struct store *store, sqlite3_stmt *stmt, const struct row_kind *kind,
                   struct rows *rows, size_t *capacity, struct err *err)
{
	void *grown = array_grow(rows->items, capacity, rows->n_items + 1, kind->item_bytes);
	char *item;

	if (!grown)
		return store_fail_memory(store, err);
	rows->items = grown;
	item = (char *)grown + rows->n_items++ * kind->item_bytes;
	return read_row(store, stmt, kind, item, err);
}

int select_rows(struct store *store, const struct select *select, const struct row_kind *kind,
                struct rows *out, struct err *err)
{
	struct rows rows = {0};
	size_t capacity = 0;
	sqlite3_stmt *stmt;
	int rc = prepare(store, select, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		rc = add_row(store, stmt, kind, &rows, &capacity, err);
		if (rc)
			break;
	}
	sqlite3_finalize(stmt);
	if (rc)
		rows_fini(kind, rows.items, rows.n_items);
	else
		*out = rows;
	return rc;
}

int select_first(struct store *store, const struct select *select, const struct row_kind *kind,
                 void *item, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = prepare(store, select, &stmt, err);

	if (rc)
		return rc;
	rc = store_step(store, stmt, err);
	if (rc > 0) {
		int rc_read = read_row(store, stmt, kind, item, err);

		if (rc_read)
			item_fini(kind, item);
		rc = rc_read ? rc_read : 1;
	}
	sqlite3_finalize(stmt);
	return rc;
}
