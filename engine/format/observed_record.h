/* observed_record.h - what foreign files say happened, as the record of a run: whole iterations, an
 * op and the message that left after it in one.
 *
 * A file may hold several runs, its segments; each is a record of its own. Iterations are numbered
 * from 0, as everywhere in records; numbers are the source's. One lasts from the start of its first
 * forward or backward to the end of its last. */
#ifndef ENGINE_FORMAT_OBSERVED_RECORD_H
#define ENGINE_FORMAT_OBSERVED_RECORD_H

#include "engine/format/observed.h"
#include "engine/record/record.h"

/* Borrows what was observed; observed_record_fini(). */
struct observed_record {
	const struct observed *observed;
	int segment;
	int n_stages, n_replicas, n_microbatches;
	int n_warmup;          /* as a profile leaves them out */
	size_t n_left_out;     /* iterations that lack ops, or have some twice */
	int64_t message_bytes; /* median; 0: no transfer says */
	enum record_timer timer;
	bool has_messages;
	bool is_laid_out; /* the clock starts anew in each iteration: they were put one behind the
	                     other */
	bool has_whole_backwards; /* B is for the input and the weights; there is no W */

	const struct observed_op **ops; /* by iteration and start */
	size_t n_ops;
	struct observed_slice *iterations; /* the whole ones */
	size_t n_iterations;
	int16_t *ranks;         /* [n_stages × n_replicas], ascending per stage */
	uint32_t *places;       /* of an op among those of its iteration, from 1; 0: none */
	int64_t *until_ns;      /* [n_stages × n_replicas], of one iteration */
	struct record_op *made; /* of one iteration */
};

struct observed_slice {
	size_t first, n;        /* ops */
	int32_t number;         /* the source's */
	int64_t from_ns, to_ns; /* on the source's clock */
	int64_t start_ns;       /* in the record */
};

/* How many runs there are in the files. */
int observed_n_segments(const struct observed *observed);

/* -EINVAL: no op of any stage, a stage or a rank is missing, or no iteration is whole; -EFBIG: more
 * than a run may have. *out is set only on success. */
int observed_record_make(const struct observed *observed, int segment, struct observed_record *out,
                         struct err *err);
void observed_record_fini(struct observed_record *record);

/* The i-th iteration; its ops are the record's and valid until the next. What held a stage was not
 * measured, so all of its idle time is waiting. */
struct record_iteration observed_record_iteration(struct observed_record *record, size_t i);

#endif
