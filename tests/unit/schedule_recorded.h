/* schedule_recorded.h - tables of the ground truth in tests/data/pipemorph, read by column name. */
#ifndef TESTS_UNIT_SCHEDULE_RECORDED_H
#define TESTS_UNIT_SCHEDULE_RECORDED_H

#include <stdio.h>
#include <stdlib.h>

#include "engine/format/csv_table.h"
#include "tests/tap.h"

/* NULL and a failed check when it cannot be read. */
static inline struct csv_table *recorded_open(const char *name)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	struct csv_table *table;
	struct err err = {0};
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/data/pipemorph/%s", root ? root : ".", name);
	if (csv_table_read(path, &table, &err)) {
		tap_ok(false, "%s is read: %s", name, err.text);
		return NULL;
	}
	return table;
}

static inline const char *recorded_text(const struct csv_table *table, size_t row,
                                        const char *column)
{
	return csv_table_text(table, row, csv_table_column(table, column, NULL));
}

static inline int64_t recorded_number(const struct csv_table *table, size_t row, const char *column)
{
	return strtoll(recorded_text(table, row, column), NULL, 10);
}

#endif
