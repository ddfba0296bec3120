/* csv_table.h - CSV with a header row, for data that is read by column name. */
#ifndef ENGINE_FORMAT_CSV_TABLE_H
#define ENGINE_FORMAT_CSV_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct csv_table;

/* Quoted fields, LF or CR LF, empty lines skipped, no ragged rows. name stands in sentences.
 * -EINVAL: not such a table; -EFBIG: larger than 64 MiB or 16 Mi fields. */
int csv_table_parse(const char *name, const char *text, size_t n_bytes, struct csv_table **out,
                    struct err *err);
int csv_table_read(const char *path, struct csv_table **out, struct err *err);
void csv_table_free(struct csv_table *table);

/* Without the header. */
size_t csv_table_n_rows(const struct csv_table *table);

/* Column's number; -1 and a sentence with the nearest name when there is none, or more than one. */
int csv_table_column(const struct csv_table *table, const char *name, struct err *err);

/* The line of the file in which row starts, from 1; for the caller's own sentences. */
size_t csv_table_line(const struct csv_table *table, size_t row);

/* Never NULL; "" for an empty field. The table's. */
const char *csv_table_text(const struct csv_table *table, size_t row, int column);

/* -EINVAL: empty or not a finite decimal number; err names file, line and column. */
int csv_table_number(const struct csv_table *table, size_t row, int column, double *out,
                     struct err *err);
int csv_table_int(const struct csv_table *table, size_t row, int column, int64_t *out,
                  struct err *err);

#endif
