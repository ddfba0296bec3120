/* measured.h - iteration times of the measured runs, found by what was run: summary.csv alone. */
#ifndef ENGINE_VALIDATE_MEASURED_H
#define ENGINE_VALIDATE_MEASURED_H

#include <stdbool.h>

#include "engine/base/err.h"

struct measurements;

/* As summary.csv names them: "14B", "increasing-delay", "ZB", "6_7", "0.01". */
struct measured_key {
	const char *model, *experiment, *schedule, *links, *delay;
};

/* Of the run's last segment; NaN: not measured. */
struct measured_run {
	int run_id;
	double clean_ms;  /* median of the iterations before the fault */
	double steady_ms; /* under it */
};

/* Read folder's summary.csv. -ENOENT: there is none, or a column is missing; -EINVAL: a cell is not
 * what it should be. */
int measurements_open(const char *folder, struct measurements **out, struct err *err);
void measurements_close(struct measurements *measurements);

/* false: there is no such run. */
bool measurements_find(const struct measurements *measurements, const struct measured_key *key,
                       struct measured_run *out);

#endif
