/* table.c - a table for the terminal: aligned by display width, cut and split so that it fits. */
#include "reports/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

enum { GAP = 2, GAP_LEAST = 1, HEADER_LINES = 2 };

struct cell {
	char *text;
	enum tone tone;
};

struct column {
	char *title[HEADER_LINES]; /* the second is NULL when there is none */
	enum table_align align;
	int shortest;
	bool is_joined;
};

struct table {
	struct column *columns;
	size_t n_columns, columns_capacity;
	struct cell *cells; /* row-major */
	size_t n_cells, cells_capacity;
	bool is_failed;
};

/* One printing: the table, its style, and the width that every column got. */
struct layout {
	const struct table *table;
	const struct report_style *style;
	size_t n_repeated;
	int gap; /* between columns */
	int *widths;
	struct strbuf *out;
};

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		for (int line = 0; line < HEADER_LINES; line++)
			free(table->columns[i].title[line]);
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->columns);
	free(table->cells);
	free(table);
}

void table_column(struct table *table, const char *title, enum table_align align, int shortest)
{
	size_t n = strcspn(title, "\n");
	struct column *columns, *column;

	if (!table)
		return;
	columns = array_grow(table->columns, &table->columns_capacity, table->n_columns + 1,
	                     sizeof(*columns));
	if (!columns) {
		table->is_failed = true;
		return;
	}
	table->columns = columns;
	column = &columns[table->n_columns++];
	*column = (struct column){.align = align, .shortest = shortest};
	column->title[0] = strndup(title, n);
	if (title[n])
		column->title[1] = strdup(title + n + 1);
	if (!column->title[0] || (title[n] && !column->title[1]))
		table->is_failed = true;
}

void table_join_column(struct table *table)
{
	if (table && table->n_columns > 1)
		table->columns[table->n_columns - 1].is_joined = true;
}

void table_cell(struct table *table, enum tone tone, const char *format, ...)
{
	struct strbuf text = {0};
	struct cell *cells;
	va_list args;

	if (!table)
		return;
	cells = array_grow(table->cells, &table->cells_capacity, table->n_cells + 1,
	                   sizeof(*cells));
	if (!cells) {
		table->is_failed = true;
		return;
	}
	table->cells = cells;
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	cells[table->n_cells] = (struct cell){.text = strbuf_take(&text), .tone = tone};
	if (!cells[table->n_cells++].text)
		table->is_failed = true;
}

static size_t n_rows(const struct table *table)
{
	return table->n_columns ? table->n_cells / table->n_columns : 0;
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->n_columns + column];
}

static int natural_width(const struct layout *layout, size_t column)
{
	const struct table *table = layout->table;
	int width = 0;

	for (int line = 0; line < HEADER_LINES; line++) {
		const char *title = table->columns[column].title[line];
		int title_width = title ? display_width(title, layout->style) : 0;

		width = title_width > width ? title_width : width;
	}
	for (size_t row = 0; row < n_rows(table); row++) {
		int cell_width = display_width(cell_at(table, row, column)->text, layout->style);

		width = cell_width > width ? cell_width : width;
	}
	return width;
}

/* Columns between a column and the one before it on its line. */
static int gap_before(const struct layout *layout, size_t column)
{
	if (column == 0)
		return 0;
	return layout->table->columns[column].is_joined ? GAP_LEAST : layout->gap;
}

static int full_width(const struct layout *layout)
{
	int width = 0;

	for (size_t i = 0; i < layout->table->n_columns; i++)
		width += gap_before(layout, i) + layout->widths[i];
	return width;
}

/* Take what is too much from the columns that may be cut, the widest first; what then still is too
 * much is split. */
static void cut_columns(const struct layout *layout)
{
	const struct table *table = layout->table;
	int excess = full_width(layout) - display_columns(layout->style);

	for (; excess > 0; excess--) {
		size_t widest = table->n_columns;

		for (size_t i = 0; i < table->n_columns; i++)
			if (table->columns[i].shortest > 0 &&
			    layout->widths[i] > table->columns[i].shortest &&
			    (widest == table->n_columns ||
			     layout->widths[i] > layout->widths[widest]))
				widest = i;
		if (widest == table->n_columns)
			return;
		layout->widths[widest]--;
	}
}

/* The column behind those that are joined to column. */
static size_t joined_end(const struct table *table, size_t column)
{
	size_t end = column + 1;

	while (end < table->n_columns && table->columns[end].is_joined)
		end++;
	return end;
}

/* Cut the widest of the columns [first, end) until they fit into room. */
static void cut_group(const struct layout *layout, size_t first, size_t end, int room)
{
	int width = 0;

	for (size_t i = first; i < end; i++)
		width += gap_before(layout, i) + layout->widths[i];
	for (; width > room; width--) {
		size_t widest = first;

		for (size_t i = first; i < end; i++)
			if (layout->widths[i] > layout->widths[widest])
				widest = i;
		if (layout->widths[widest] == 0)
			return;
		layout->widths[widest]--;
	}
}

/* When the table has to be split, the repeated columns get at most half the page, and columns that
 * are joined no more than the rest, whatever their shortest. */
static void cut_to_page(const struct layout *layout)
{
	const struct table *table = layout->table;
	int columns = display_columns(layout->style), repeated = 0;
	size_t end;

	if (full_width(layout) <= columns)
		return;
	cut_group(layout, 0, layout->n_repeated, columns / 2);
	for (size_t i = 0; i < layout->n_repeated; i++)
		repeated += gap_before(layout, i) + layout->widths[i];
	for (size_t i = layout->n_repeated; i < table->n_columns; i = end) {
		end = joined_end(table, i);
		cut_group(layout, i, end, columns - repeated);
	}
}

/* Which columns stand beside each other: the repeated ones, then [first, end). Returns end. */
static size_t group_end(const struct layout *layout, size_t first)
{
	const struct table *table = layout->table;
	int used = 0;
	size_t end = first;

	for (size_t i = 0; i < layout->n_repeated; i++)
		used += gap_before(layout, i) + layout->widths[i];
	while (end < table->n_columns) {
		size_t next = joined_end(table, end);
		int width = 0;

		for (size_t i = end; i < next; i++)
			width += gap_before(layout, i) + layout->widths[i];
		if (end > first && used + width > display_columns(layout->style))
			break;
		used += width;
		end = next;
	}
	return end;
}

/* One cell, the blanks in front of it included. Blanks behind it are owed, so that no line ends
 * with any. */
static void print_cell(const struct layout *layout, size_t column, const struct cell *cell,
                       int *owed)
{
	const char *text = cell->text ? cell->text : "";
	int width = layout->widths[column], text_width = display_width(text, layout->style);
	int padding = text_width < width ? width - text_width : 0;
	bool is_right = layout->table->columns[column].align == TABLE_RIGHT;

	*owed += is_right ? padding : 0;
	if (*text) {
		strbuf_addf(layout->out, "%*s", *owed, "");
		*owed = 0;
		display_begin(layout->out, cell->tone, layout->style);
		display_add_cut(layout->out, text, width, layout->style);
		display_end(layout->out, cell->tone, layout->style);
	}
	*owed += is_right ? 0 : padding;
}

/* One line of the columns of a group; text_of says what stands in each. */
typedef struct cell line_source(const struct table *table, size_t line, size_t column);

static struct cell header_source(const struct table *table, size_t line, size_t column)
{
	char *title = table->columns[column].title[line];

	return (struct cell){.text = title, .tone = TONE_DIM};
}

static struct cell row_source(const struct table *table, size_t line, size_t column)
{
	return *cell_at(table, line, column);
}

static void print_line(const struct layout *layout, size_t line, size_t first, size_t end,
                       line_source *source)
{
	int owed = 0;
	bool is_first = true;

	for (size_t i = 0; i < layout->table->n_columns; i++) {
		struct cell cell;

		if (i >= layout->n_repeated && (i < first || i >= end))
			continue;
		cell = source(layout->table, line, i);
		owed += is_first ? 0 : gap_before(layout, i);
		print_cell(layout, i, &cell, &owed);
		is_first = false;
	}
	strbuf_add_char(layout->out, '\n');
}

static bool has_header_line(const struct table *table, size_t line)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].title[line] && table->columns[i].title[line][0])
			return true;
	return false;
}

static void print_group(const struct layout *layout, size_t first, size_t end)
{
	for (size_t line = 0; line < HEADER_LINES; line++)
		if (has_header_line(layout->table, line))
			print_line(layout, line, first, end, header_source);
	for (size_t row = 0; row < n_rows(layout->table); row++)
		print_line(layout, row, first, end, row_source);
}

void table_print(const struct table *table, size_t n_repeated, const struct report_style *style,
                 struct strbuf *out)
{
	struct layout layout = {table, style, n_repeated, GAP, NULL, out};
	size_t first = n_repeated, end;

	if (!table || table->is_failed ||
	    !(layout.widths = array_new(table->n_columns, sizeof(int)))) {
		out->is_failed = 1;
		return;
	}
	for (size_t i = 0; i < table->n_columns; i++)
		layout.widths[i] = natural_width(&layout, i);
	if (full_width(&layout) > display_columns(style))
		layout.gap = GAP_LEAST;
	if (full_width(&layout) > display_columns(style))
		cut_columns(&layout);
	cut_to_page(&layout);
	do {
		end = group_end(&layout, first);
		if (first > n_repeated)
			strbuf_add_char(out, '\n');
		print_group(&layout, first, end);
		first = end;
	} while (first < table->n_columns);
	free(layout.widths);
}
