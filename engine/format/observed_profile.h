/* observed_profile.h - what a workload costs on each stage, as foreign files say.
 *
 * A stage's time of a kind is the median over all its ops after warm-up: means of measured op times
 * follow the few that waited for something. */
#ifndef ENGINE_FORMAT_OBSERVED_PROFILE_H
#define ENGINE_FORMAT_OBSERVED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/observed.h"
#include "engine/schedule/plan.h"

/* Iterations left out at the start of each run, where there are more: they compile and allocate. */
enum { OBSERVED_WARMUP = 2 };

/* n 0: there were none. low and high: the 10th and 90th percentile. */
struct observed_times {
	int64_t median_ns;
	int64_t low_ns;
	int64_t high_ns;
	size_t n;
};

/* Owns stages, [n_stages][OP_KINDS]. */
struct observed_profile {
	int n_stages;
	int n_microbatches;
	int n_iterations; /* that counted, of the run with most of them */
	int n_warmup;     /* most that were left out of a run */
	struct observed_times (*stages)[OP_KINDS];
	bool is_halved;        /* only whole backwards were seen: B and W are half of them each */
	int64_t message_bytes; /* median; 0: no transfer says */
};

/* Ops on the device's clock take from start to end, others what the device measured (busy_ns), or
 * from start to end where nothing did. -EINVAL: no ops, too many stages, one without forwards or
 * backwards, or one whose time is 0. */
int observed_profile_make(const struct observed *observed, struct observed_profile *out,
                          struct err *err);
void observed_profile_fini(struct observed_profile *profile);

/* Iterations that are left out of a run with that many. */
int observed_warmup_of(size_t n_iterations);

/* *first_out[source]: the first iteration behind the source's warm-up; INT32_MIN: all count. The
 * caller frees it. Returns most that were left out; -ENOMEM. */
int observed_warmup(const struct observed *observed, int32_t **first_out, struct err *err);

#endif
