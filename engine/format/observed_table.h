/* observed_table.h - what foreign files say happened, as CSV: one row an op, or where there are no
 * ops one an iteration. */
#ifndef ENGINE_FORMAT_OBSERVED_TABLE_H
#define ENGINE_FORMAT_OBSERVED_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/strbuf.h"
#include "engine/format/observed.h"

/* Borrows what was observed. Times on devices' clocks are shown since origin_ns, the first start.
 */
struct observed_table {
	const struct observed *observed;
	int64_t origin_ns;
	size_t n_rows; /* 0: there is nothing to write */
};

struct observed_table observed_table_of(const struct observed *observed);

/* Append up to n rows from row first on, with row 0 the header. What is not known is empty. */
void observed_table_add(const struct observed_table *table, size_t first, size_t n,
                        struct strbuf *out);

#endif
