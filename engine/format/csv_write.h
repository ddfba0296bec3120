/* csv_write.h - rows of CSV as RFC 4180 has them, cell by cell.
 *
 * A cell with a comma, a quote or a line end stands in quotes. What is not known is an empty cell.
 * Start zeroed but for out. */
#ifndef ENGINE_FORMAT_CSV_WRITE_H
#define ENGINE_FORMAT_CSV_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/strbuf.h"

struct csv_write {
	struct strbuf *out;
	bool is_in_row;
};

void csv_text(struct csv_write *csv, const char *text); /* NULL: empty */
void csv_int(struct csv_write *csv, int64_t value);
void csv_count(struct csv_write *csv, int64_t value); /* negative: empty */
void csv_number(struct csv_write *csv, double value); /* not finite: empty */
void csv_end_row(struct csv_write *csv);              /* CR LF */

/* text as a cell, without what separates cells; for writers of other dialects. */
void csv_add_quoted(const char *text, struct strbuf *out);

#endif
