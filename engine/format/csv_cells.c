/* csv_cells.c - cuts CSV text into cells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/format/csv_internal.h"
#include "engine/format/text_internal.h"

int csv_open(struct csv_reader *reader, const char *name, const char *text, size_t n_bytes,
             struct err *err)
{
	struct text_lines lines;
	size_t n_kept;
	int rc = text_lines_init(&lines, name, text, n_bytes, err);

	if (rc < 0)
		return rc;
	n_kept = (size_t)(lines.end - lines.at);
	*reader = (struct csv_reader){.name = name, .line = 1};
	reader->buffer = malloc(n_kept + 1);
	if (reader->buffer == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", name);
	if (n_kept > 0)
		memcpy(reader->buffer, lines.at, n_kept);
	reader->buffer[n_kept] = '\0';
	reader->at = reader->buffer;
	reader->end = reader->buffer + n_kept;
	return 0;
}

void csv_close(struct csv_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

/* Take the quoted cell that starts at reader->at, putting its characters together in place. */
static int take_quoted(struct csv_reader *reader, struct csv_cell *cell, struct err *err)
{
	char *from = reader->at + 1;
	char *to = from;

	cell->text = to;
	cell->is_quoted = true;
	for (; from < reader->end; from++) {
		if (*from == '"' && from + 1 < reader->end && from[1] == '"')
			from++;
		else if (*from == '"')
			break;
		reader->line += *from == '\n';
		*to++ = *from;
	}
	if (from == reader->end)
		return err_set(err, -EINVAL,
		               "%s: line %u, column %u: the quote that opens here is never closed",
		               reader->name, cell->line, cell->column);
	cell->length = (size_t)(to - cell->text);
	reader->at = from + 1;
	/* The Python writer's CR before the LF is part of the line's end. */
	if (reader->at < reader->end && *reader->at == '\r' &&
	    (reader->at + 1 == reader->end || reader->at[1] == '\n'))
		reader->at++;
	if (reader->at < reader->end && *reader->at != ',' && *reader->at != '\n')
		return err_set(
			err, -EINVAL,
			"%s: line %u, column %u: text after the closing quote; wanted a comma",
			reader->name, reader->line, cell->column);
	return 0;
}

static void take_plain(struct csv_reader *reader, struct csv_cell *cell)
{
	char *stop = reader->at;

	while (stop < reader->end && *stop != ',' && *stop != '\n')
		stop++;
	cell->text = reader->at;
	cell->length = (size_t)(stop - reader->at);
	if (cell->length > 0 && stop[-1] == '\r' && (stop == reader->end || *stop == '\n'))
		cell->length--;
	reader->at = stop;
}

int csv_next(struct csv_reader *reader, struct csv_cell *cell, struct err *err)
{
	int rc = 0;

	if (reader->at == reader->end && !reader->is_row_open)
		return 0;
	*cell = (struct csv_cell){.line = reader->line, .column = reader->column + 1};
	if (reader->at < reader->end && *reader->at == '"')
		rc = take_quoted(reader, cell, err);
	else
		take_plain(reader, cell);
	if (rc < 0)
		return rc;
	reader->is_row_open = reader->at < reader->end && *reader->at == ',';
	cell->ends_row = !reader->is_row_open;
	reader->column = cell->ends_row ? 0 : cell->column;
	if (reader->at < reader->end) {
		reader->line += *reader->at == '\n';
		reader->at++;
	}
	cell->text[cell->length] = '\0';
	return 1;
}
