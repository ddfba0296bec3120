/* csv_internal.h - cuts CSV text into cells; shared by the readers of this folder.
 *
 * Cells may be quoted, with "" for a quote inside; lines end with LF or CR LF. A reader works in a
 * copy of the text, in which every cell becomes a string of its own. */
#ifndef ENGINE_FORMAT_CSV_INTERNAL_H
#define ENGINE_FORMAT_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct csv_reader {
	const char *name;
	char *buffer; /* owned */
	char *at;
	char *end;
	uint32_t line;
	uint32_t column;
	bool is_row_open; /* a separator was read, so a cell follows even at the end of the text */
};

/* line is the one the cell starts in, from 1; column counts the cells of its row, from 1. */
struct csv_cell {
	char *text; /* NUL-terminated, in the reader's buffer */
	size_t length;
	uint32_t line;
	uint32_t column;
	bool is_quoted;
	bool ends_row;
};

int csv_open(struct csv_reader *reader, const char *name, const char *text, size_t n_bytes,
             struct err *err);
void csv_close(struct csv_reader *reader);

/* 1: *cell is set; 0: the text has ended; -EINVAL: quotes that do not match. An empty line is one
 * empty cell. */
int csv_next(struct csv_reader *reader, struct csv_cell *cell, struct err *err);

#endif
