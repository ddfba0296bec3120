/* change_point_csv.c - a history for change-point tools. */
#include "engine/format/change_point_csv.h"

#include <ctype.h>
#include <math.h>

#include "engine/format/csv_write.h"

void change_point_name(const char *name, struct strbuf *out)
{
	for (const char *c = name; *c; c++)
		strbuf_add_char(out, isascii(*c) && isalnum((unsigned char)*c) ? *c : '_');
}

void change_point_csv_write(const struct change_point_table *table, struct strbuf *out)
{
	strbuf_add(out, "time,commit");
	for (size_t c = 0; c < table->n_columns; c++) {
		strbuf_add_char(out, ',');
		csv_add_quoted(table->columns[c], out);
	}
	strbuf_add_char(out, '\n');
	for (size_t i = 0; i < table->n_nights; i++) {
		const struct change_point_night *night = &table->nights[i];

		csv_add_quoted(night->time, out);
		strbuf_add_char(out, ',');
		csv_add_quoted(night->commit, out);
		for (size_t c = 0; c < table->n_columns; c++) {
			strbuf_add_char(out, ',');
			if (isfinite(night->values[c]))
				strbuf_add_number(out, night->values[c]);
		}
		strbuf_add_char(out, '\n');
	}
}
