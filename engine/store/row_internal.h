/* row_internal.h - one row on its way into a table; columns are added by name.
 *
 * Start zeroed. Names and texts are borrowed until the insert. */
#ifndef ENGINE_STORE_ROW_INTERNAL_H
#define ENGINE_STORE_ROW_INTERNAL_H

#include "engine/store/store_internal.h"

enum { ROW_VALUES_MAX = 64 };

enum row_type { ROW_INT, ROW_REAL, ROW_TEXT, ROW_NULL };

struct row_value {
	const char *column;
	enum row_type type;
	union {
		int64_t integer;
		double real;
		const char *text;
	};
};

struct row {
	int n_values;
	struct row_value values[ROW_VALUES_MAX];
};

void row_int(struct row *row, const char *column, int64_t value);
void row_real(struct row *row, const char *column, double value);      /* NaN: NULL */
void row_text(struct row *row, const char *column, const char *value); /* NULL: '' */

/* The value, or NULL when it is not there. */
void row_text_if(struct row *row, const char *column, bool is_there, const char *value);
void row_int_if(struct row *row, const char *column, bool is_there, int64_t value);

/* Insert into table. *kept, when not NULL, is the statement of an earlier row with the same
 * columns, and the caller's to finalize. */
int row_insert(const struct row *row, struct store *store, const char *table, sqlite3_stmt **kept,
               struct err *err);

#endif
