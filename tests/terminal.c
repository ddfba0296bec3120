/* terminal.c - a small terminal: what a program wrote becomes what a person sees. */
#include "tests/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"

enum { COLUMNS_MOST = 512, SEQUENCE_BYTES = 64 };

struct row {
	uint32_t cells[COLUMNS_MOST]; /* UTF-8 bytes of a character, the first in the lowest */
	int n;
	bool goes_on; /* its line does, in the next row */
};

struct terminal {
	struct row *rows; /* since the beginning */
	int n_rows, capacity;
	int columns, height;
	int row, column; /* of the cursor */
	char sequence[SEQUENCE_BYTES];
	int n_sequence; /* bytes of one that has begun */
	uint32_t character;
	int n_missing; /* bytes of a character that has begun */
	int n_character;
	int n_strange;
	struct strbuf text;
};

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static struct row *need_row(struct terminal *terminal, int row)
{
	while (row >= terminal->n_rows) {
		if (terminal->n_rows == terminal->capacity) {
			terminal->capacity = 2 * terminal->capacity + 8;
			terminal->rows = need(realloc(terminal->rows, (size_t)terminal->capacity *
			                                                      sizeof(struct row)));
		}
		terminal->rows[terminal->n_rows++] = (struct row){.n = 0};
	}
	return &terminal->rows[row];
}

struct terminal *terminal_new(int columns, int rows)
{
	struct terminal *terminal = need(calloc(1, sizeof(*terminal)));

	terminal->columns = columns;
	terminal->height = rows;
	(void)need_row(terminal, 0);
	return terminal;
}

void terminal_free(struct terminal *terminal)
{
	strbuf_fini(&terminal->text);
	free(terminal->rows);
	free(terminal);
}

static int top_row(const struct terminal *terminal)
{
	int top = terminal->n_rows - terminal->height;

	return top > 0 ? top : 0;
}

static void put(struct terminal *terminal, uint32_t character)
{
	struct row *row = need_row(terminal, terminal->row);

	if (terminal->column == terminal->columns) {
		row->goes_on = true;
		terminal->column = 0;
		row = need_row(terminal, ++terminal->row);
	}
	while (row->n <= terminal->column)
		row->cells[row->n++] = ' ';
	row->cells[terminal->column++] = character;
}

static void erase_line(struct terminal *terminal)
{
	struct row *row = need_row(terminal, terminal->row);

	if (row->n > terminal->column)
		row->n = terminal->column;
	row->goes_on = false;
}

static void run_sequence(struct terminal *terminal, const char *parameters, char last)
{
	int n = atoi(parameters);

	switch (last) {
	case 'A':
		terminal->row -= n > 0 ? n : 1;
		if (terminal->row < top_row(terminal))
			terminal->row = top_row(terminal);
		return;
	case 'K':
		erase_line(terminal);
		return;
	case 'J':
		erase_line(terminal);
		for (int row = terminal->row + 1; row < terminal->n_rows; row++)
			terminal->rows[row] = (struct row){.n = 0};
		return;
	case 'm':
		return;
	}
	terminal->n_strange++;
}

/* A byte of ESC [ … letter. */
static void take_sequence(struct terminal *terminal, char byte)
{
	if (terminal->n_sequence == SEQUENCE_BYTES - 1) {
		terminal->n_strange++;
		terminal->n_sequence = 0;
		return;
	}
	terminal->sequence[terminal->n_sequence++] = byte;
	if (terminal->n_sequence == 2 && byte != '[') {
		terminal->n_strange++;
		terminal->n_sequence = 0;
	} else if (terminal->n_sequence > 2 && byte >= '@') {
		terminal->sequence[terminal->n_sequence - 1] = '\0';
		terminal->n_sequence = 0;
		run_sequence(terminal, terminal->sequence + 2, byte);
	}
}

static void take_text(struct terminal *terminal, unsigned char byte)
{
	if ((byte & 0xc0) == 0x80 && terminal->n_missing > 0) {
		terminal->character |= (uint32_t)byte << 8 * terminal->n_character++;
		if (--terminal->n_missing == 0)
			put(terminal, terminal->character);
		return;
	}
	terminal->character = byte;
	terminal->n_character = 1;
	terminal->n_missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
	if (terminal->n_missing == 0)
		put(terminal, byte);
}

void terminal_feed(struct terminal *terminal, const char *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		char byte = bytes[i];

		if (terminal->n_sequence > 0 || byte == '\033')
			take_sequence(terminal, byte);
		else if (byte == '\r')
			terminal->column = 0;
		else if (byte == '\n')
			(void)need_row(terminal, ++terminal->row);
		else
			take_text(terminal, (unsigned char)byte);
	}
}

/* Put the line that starts at row first into rows of the new width; returns the row behind it. */
static int break_line(const struct terminal *from, int first, struct terminal *to, int *cursor_row)
{
	for (int at = first;; at++) {
		const struct row *row = &from->rows[at];

		for (int i = 0; i < row->n; i++)
			put(to, row->cells[i]);
		if (at == from->row)
			*cursor_row = to->row;
		if (!row->goes_on)
			return at + 1;
	}
}

void terminal_resize(struct terminal *terminal, int columns, int rows)
{
	struct terminal *other = terminal_new(columns, rows);
	int cursor_row = 0;

	for (int at = 0; at < terminal->n_rows;) {
		at = break_line(terminal, at, other, &cursor_row);
		other->row++;
		other->column = 0;
		if (at < terminal->n_rows)
			(void)need_row(other, other->row);
	}
	other->row = cursor_row;
	other->column = terminal->column < columns ? terminal->column : columns;
	other->n_strange = terminal->n_strange;
	strbuf_fini(&terminal->text);
	free(terminal->rows);
	*terminal = *other;
	free(other);
}

static void add_row(struct strbuf *out, const struct row *row)
{
	int n = row->n;

	while (n > 0 && row->cells[n - 1] == ' ')
		n--;
	for (int i = 0; i < n; i++)
		for (uint32_t left = row->cells[i]; left; left >>= 8)
			strbuf_add_char(out, (char)(left & 0xff));
	strbuf_add_char(out, '\n');
}

const char *terminal_text(struct terminal *terminal)
{
	int n = terminal->n_rows;

	while (n > 0 && terminal->rows[n - 1].n == 0)
		n--;
	strbuf_clear(&terminal->text);
	for (int i = 0; i < n; i++)
		add_row(&terminal->text, &terminal->rows[i]);
	return strbuf_text(&terminal->text);
}

int terminal_n_strange(const struct terminal *terminal)
{
	return terminal->n_strange;
}
