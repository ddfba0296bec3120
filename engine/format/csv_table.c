/* csv_table.c - CSV with a header row, for data that is read by column name. */
#include "engine/format/csv_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/file.h"
#include "engine/base/nearest.h"
#include "engine/format/csv_internal.h"
#include "engine/format/text_internal.h"

enum { TABLE_COLUMNS_MAX = 4096, TABLE_FIELDS_MAX = 16 << 20 };

/* Row-major, the header first. A field is the place of its string in buffer: half the memory of a
 * pointer. */
struct csv_table {
	char *name;
	char *buffer;
	uint32_t *fields;
	size_t n_fields;
	size_t fields_capacity;
	uint32_t *lines; /* one a row, the header's too */
	size_t n_lines;
	size_t lines_capacity;
	size_t n_columns;
	const char **names;
};

static int out_of_memory(const char *name, struct err *err)
{
	return err_set(err, -ENOMEM, "%s: out of memory", name);
}

static int add_field(struct csv_table *table, const struct csv_cell *cell, struct err *err)
{
	uint32_t *fields = array_grow(table->fields, &table->fields_capacity, table->n_fields + 1,
	                              sizeof(*fields));

	if (fields == NULL)
		return out_of_memory(table->name, err);
	table->fields = fields;
	if (table->n_fields == TABLE_FIELDS_MAX)
		return err_set(err, -EFBIG, "%s: line %u: more than %d fields", table->name,
		               cell->line, TABLE_FIELDS_MAX);
	fields[table->n_fields++] = (uint32_t)(cell->text - table->buffer);
	return 0;
}

/* The cell ended a row; the first row sets how many columns there are. */
static int end_row(struct csv_table *table, const struct csv_cell *cell, uint32_t first_line,
                   struct err *err)
{
	uint32_t *lines = array_grow(table->lines, &table->lines_capacity, table->n_lines + 1,
	                             sizeof(*lines));

	if (lines == NULL)
		return out_of_memory(table->name, err);
	table->lines = lines;
	if (table->n_lines == 0)
		table->n_columns = cell->column;
	if (table->n_columns > TABLE_COLUMNS_MAX)
		return err_set(err, -EINVAL, "%s: line %u: %zu columns; at most %d are read",
		               table->name, first_line, table->n_columns, TABLE_COLUMNS_MAX);
	if (cell->column != table->n_columns)
		return err_set(err, -EINVAL, "%s: line %u: %u fields, but the header has %zu",
		               table->name, first_line, cell->column, table->n_columns);
	lines[table->n_lines++] = first_line;
	return 0;
}

static int read_cells(struct csv_table *table, struct csv_reader *reader, struct err *err)
{
	struct csv_cell cell;
	uint32_t first_line = 1;
	int rc;

	while ((rc = csv_next(reader, &cell, err)) > 0) {
		if (cell.column == 1 && cell.ends_row && cell.length == 0 && !cell.is_quoted)
			continue;
		if (cell.column == 1)
			first_line = cell.line;
		rc = add_field(table, &cell, err);
		if (rc == 0 && cell.ends_row)
			rc = end_row(table, &cell, first_line, err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && table->n_lines == 0)
		return err_set(err, -EINVAL, "%s: is empty; wanted a header row", table->name);
	return rc;
}

static int name_columns(struct csv_table *table, struct err *err)
{
	table->names = array_new(table->n_columns, sizeof(*table->names));
	if (table->names == NULL)
		return out_of_memory(table->name, err);
	for (size_t i = 0; i < table->n_columns; i++)
		table->names[i] = table->buffer + table->fields[i];
	return 0;
}

int csv_table_parse(const char *name, const char *text, size_t n_bytes, struct csv_table **out,
                    struct err *err)
{
	struct csv_table *table = calloc(1, sizeof(*table));
	struct csv_reader reader;
	int rc;

	if (table == NULL)
		return out_of_memory(name, err);
	table->name = strdup(name);
	rc = table->name ? csv_open(&reader, name, text, n_bytes, err) : out_of_memory(name, err);
	if (rc < 0)
		goto free_table;
	table->buffer = reader.buffer;
	rc = read_cells(table, &reader, err);
	if (rc == 0)
		rc = name_columns(table, err);
	if (rc < 0)
		goto free_table;
	*out = table;
	return 0;

free_table:
	csv_table_free(table);
	return rc;
}

int csv_table_read(const char *path, struct csv_table **out, struct err *err)
{
	char *text;
	size_t n_bytes;
	int rc = file_read(path, TEXT_BYTES_MAX, &text, &n_bytes, err);

	if (rc < 0)
		return rc;
	rc = csv_table_parse(path, text, n_bytes, out, err);
	free(text);
	return rc;
}

void csv_table_free(struct csv_table *table)
{
	if (table == NULL)
		return;
	free(table->names);
	free(table->lines);
	free(table->fields);
	free(table->buffer);
	free(table->name);
	free(table);
}

size_t csv_table_n_rows(const struct csv_table *table)
{
	return table->n_lines - 1;
}

int csv_table_column(const struct csv_table *table, const char *name, struct err *err)
{
	const char *nearest;
	int found = -1;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->names[i], name) != 0)
			continue;
		if (found >= 0) {
			err_set(err, -EINVAL, "%s: columns %d and %zu are both named '%s'",
			        table->name, found + 1, i + 1, name);
			return -1;
		}
		found = (int)i;
	}
	if (found >= 0)
		return found;
	nearest = nearest_name(name, table->names, table->n_columns);
	err_set(err, -ENOENT, "%s: no column '%s'%s%s%s", table->name, name,
	        nearest ? "; is '" : "", nearest ? nearest : "", nearest ? "' meant?" : "");
	return -1;
}

size_t csv_table_line(const struct csv_table *table, size_t row)
{
	return table->lines[row + 1];
}

const char *csv_table_text(const struct csv_table *table, size_t row, int column)
{
	return table->buffer + table->fields[(row + 1) * table->n_columns + (size_t)column];
}

static int not_a_number(const struct csv_table *table, size_t row, int column, const char *wanted,
                        struct err *err)
{
	const char *text = csv_table_text(table, row, column);
	char shown[TEXT_SHOWN_BYTES];

	return err_set(err, -EINVAL, "%s: line %zu, column '%s': found '%s', wanted %s",
	               table->name, csv_table_line(table, row), table->names[column],
	               text_show((struct text_span){text, strlen(text)}, shown), wanted);
}

static bool is_all_blank(const char *text)
{
	while (text_is_blank(*text))
		text++;
	return *text == '\0';
}

int csv_table_number(const struct csv_table *table, size_t row, int column, double *out,
                     struct err *err)
{
	const char *text = csv_table_text(table, row, column);
	double value;
	char *end;

	/* strtod() also takes nan, inf and hexadecimal, which no table of measurements means. */
	value = strtod(text, &end);
	if (end == text || !is_all_blank(end) || strpbrk(text, "xXnN") != NULL || !isfinite(value))
		return not_a_number(table, row, column, "a number", err);
	*out = value;
	return 0;
}

int csv_table_int(const struct csv_table *table, size_t row, int column, int64_t *out,
                  struct err *err)
{
	const char *text = csv_table_text(table, row, column);
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || !is_all_blank(end) || errno == ERANGE)
		return not_a_number(table, row, column, "a whole number", err);
	*out = value;
	return 0;
}
