/* select_internal.h - the rows of a query, each read into an item. */
#ifndef ENGINE_STORE_SELECT_INTERNAL_H
#define ENGINE_STORE_SELECT_INTERNAL_H

#include "engine/store/store_internal.h"

struct select {
	const char *sql;
	const int64_t *ids; /* of its parameters ?1, ?2, … in that order */
	int n_ids;
};

/* What a row becomes. */
struct row_kind {
	const char *table; /* for sentences */
	size_t item_bytes;

	/* Read the row into item, which is zeroed; -ENOMEM, or -EMEDIUMTYPE for a value that cannot
	 * be. What was set of the item is released by fini then, too. */
	int (*read)(sqlite3_stmt *stmt, void *item);

	/* Release what the item holds. NULL: nothing. */
	void (*fini)(void *item);
};

struct rows {
	void *items;
	size_t n_items;
};

/* What a read returns that has seen every column. */
int row_check(bool is_damaged);

/* All rows, in order; the caller releases out with rows_fini(). */
int select_rows(struct store *store, const struct select *select, const struct row_kind *kind,
                struct rows *out, struct err *err);
void rows_fini(const struct row_kind *kind, void *items, size_t n_items);

/* The first row: 1 it is in item, 0 there is none and item is untouched, else an errno and item
 * holds nothing to release. */
int select_first(struct store *store, const struct select *select, const struct row_kind *kind,
                 void *item, struct err *err);

#endif
