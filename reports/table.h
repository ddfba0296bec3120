/* table.h - a table for the terminal: aligned by display width, cut and split so that it fits.
 *
 *	struct table *table = table_new();
 *	table_column(table, "p50\nms", TABLE_RIGHT, 0);
 *	table_cell(table, TONE_GOOD, "%d", 12);        row by row, left to right
 *	table_print(table, 0, style, out);
 *
 * When memory runs out the table stays usable and table_print() marks out as failed. All calls take
 *NULL for that reason. */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include "engine/base/strbuf.h"
#include "reports/display.h"
#include "reports/style.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table;

struct table *table_new(void);
void table_free(struct table *table);

/* Add a column, before the first cell. A line feed in title starts the header's second line
 * (units). The column may be cut down to shortest columns when the table is too wide; 0: never. */
void table_column(struct table *table, const char *title, enum table_align align, int shortest);

/* The column added last stays beside the one before it when the table is split, one blank apart
 * instead of two. */
void table_join_column(struct table *table);

/* The next cell, left to right, row after row. */
void table_cell(struct table *table, enum tone tone, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Where the columns do not fit beside each other, further tables follow below, each starting with
 * the first n_repeated columns. No trailing blanks. */
void table_print(const struct table *table, size_t n_repeated, const struct report_style *style,
                 struct strbuf *out);

#endif
