/* order_file.h - pipeline orders from files: PyTorch pipelining CSV (both dialects), letter grids,
 * Adaptra schedule text, simulator dumps.
 *
 * FORMATS.md sections 1.2, 4 and 5. Sentences name a place by row, the line of the file, and
 * column, the cell or character in it, both from 1. */
#ifndef ENGINE_FORMAT_ORDER_FILE_H
#define ENGINE_FORMAT_ORDER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/schedule/plan.h"

/* What a reader saw besides the order. */
struct order_notes {
	const char *format; /* static: "PyTorch pipelining CSV", "letter grid", … */
	size_t n_actions;   /* read, transfers included */
	size_t n_skipped;   /* UNSHARD, RESHARD and REDUCE_GRAD */
	bool has_transfers; /* the compute_comms dialect; they are checked, then dropped */
	char warning[PLAN_WARNING_BYTES]; /* "" or: ends only because sends are buffered */
};

/* Read an order; the format is told by its content. Whole backwards (B without W) become B directly
 * followed by W, and merges_backward is set when all are. The plan is checked (FORMATS.md 4.3), its
 * warmups are set, and it is untimed. name stands in sentences: "file.csv: row 2, column 7: …".
 * -EINVAL: not an order, an order that cannot run, or one with several stages a rank (not supported
 * here, said so). -EFBIG: larger than 64 MiB or 8 Mi actions. */
int order_file_parse(const char *name, const char *text, size_t n_bytes, struct plan *out,
                     struct err *err);

/* The same; notes may be NULL and are set only on success. */
int order_file_parse_noted(const char *name, const char *text, size_t n_bytes,
                           struct order_notes *notes, struct plan *out, struct err *err);

/* file_read() and order_file_parse(). */
int order_file_read(const char *path, struct plan *out, struct err *err);

/* PyTorch compute_only dialect, or compute_comms with transfers (FORMATS.md 4.4). merges_backward
 * plans are written with B, others with I and W. -EINVAL: merges_backward is claimed of an order in
 * which a B isn't followed by its W. What plan_verify() says of the plan when transfers are asked
 * for. */
int order_file_write_csv(const struct plan *plan, bool has_transfers, struct strbuf *out,
                         struct err *err);

#endif
