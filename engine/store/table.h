/* table.h - the tables of a database as they are: every column, row by row.
 *
 * For whoever takes the numbers elsewhere; reports read stored.h. Rows are read one at a time, so
 * memory does not grow with the table. */
#ifndef ENGINE_STORE_TABLE_H
#define ENGINE_STORE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/store/store.h"

struct store_table;

enum stored_type { STORED_NULL, STORED_INT, STORED_REAL, STORED_TEXT };

/* text is valid until the next row. */
struct stored_cell {
	enum stored_type type;
	int64_t integer;
	double real;
	const char *text;
};

/* The tables that can be read, in the order of schema.sql. */
size_t store_n_tables(void);
const char *store_table_name(size_t i);

/* The rows of table i that belong to run, in the order in which they happened; none where there is
 * no such run. Close *out before the store. */
int store_table_open(struct store *store, size_t i, int64_t run, struct store_table **out,
                     struct err *err);
void store_table_close(struct store_table *table);

int store_table_n_columns(const struct store_table *table);
const char *store_table_column(const struct store_table *table, int column);

/* 1: there is a next row; 0: there is none; else an errno. */
int store_table_next(struct store_table *table, struct err *err);
struct stored_cell store_table_cell(const struct store_table *table, int column);

#endif
