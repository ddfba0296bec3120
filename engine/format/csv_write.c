/* csv_write.c - rows of CSV as RFC 4180 has them, cell by cell. */
#include "engine/format/csv_write.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { INT_BYTES = 20 }; /* of the longest: a sign and 19 digits */

void csv_add_quoted(const char *text, struct strbuf *out)
{
	if (!strpbrk(text, ",\"\r\n")) {
		strbuf_add(out, text);
		return;
	}
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}

static void begin_cell(struct csv_write *csv)
{
	if (csv->is_in_row)
		strbuf_add_char(csv->out, ',');
	csv->is_in_row = true;
}

void csv_text(struct csv_write *csv, const char *text)
{
	begin_cell(csv);
	if (text)
		csv_add_quoted(text, csv->out);
}

/* By hand, since tables are mostly numbers: of two million ops printf() takes half the time. */
void csv_int(struct csv_write *csv, int64_t value)
{
	char digits[INT_BYTES], *at = digits + INT_BYTES;
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	begin_cell(csv);
	do
		*--at = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (value < 0)
		*--at = '-';
	strbuf_add_bytes(csv->out, at, (size_t)(digits + INT_BYTES - at));
}

void csv_count(struct csv_write *csv, int64_t value)
{
	if (value < 0)
		csv_text(csv, NULL);
	else
		csv_int(csv, value);
}

void csv_number(struct csv_write *csv, double value)
{
	begin_cell(csv);
	if (isfinite(value))
		strbuf_add_number(csv->out, value);
}

void csv_end_row(struct csv_write *csv)
{
	strbuf_add(csv->out, "\r\n");
	csv->is_in_row = false;
}
