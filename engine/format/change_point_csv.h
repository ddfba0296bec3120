/* change_point_csv.h - a history for change-point tools: a row a night, a column a metric. */
#ifndef ENGINE_FORMAT_CHANGE_POINT_CSV_H
#define ENGINE_FORMAT_CHANGE_POINT_CSV_H

#include <stddef.h>

#include "engine/base/strbuf.h"

struct change_point_night {
	const char *time;   /* ISO 8601 with its zone */
	const char *commit; /* what was measured */
	double *values;     /* [n_columns]; NaN: missing */
};

struct change_point_table {
	const char *const *columns; /* names with their unit; see change_point_name() */
	size_t n_columns;
	const struct change_point_night *nights; /* oldest first */
	size_t n_nights;
};

/* Add name to out with '_' for all but letters, digits and '_', which every tool takes. */
void change_point_name(const char *name, struct strbuf *out);

/* "time,commit,COLUMN…", then the nights. */
void change_point_csv_write(const struct change_point_table *table, struct strbuf *out);

#endif
