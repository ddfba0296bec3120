/* variants.h - the scenario under other options: their totals stand below the comparison. */
#ifndef ENGINE_CLI_VARIANTS_H
#define ENGINE_CLI_VARIANTS_H

#include <stddef.h>

#include "engine/cli/load.h"
#include "reports/comparison.h"
#include "reports/report.h"

struct variant_run {
	struct loaded loaded;
	double *total_s; /* [comparison's schedules] once it has run */
};

/* Start zeroed. */
struct variants {
	struct variant_run *runs;
	struct report_variant *reports; /* [n_runs], for the reports */
	size_t n_runs;
};

/* Load the script once more for each of the scenario's variants, before anything runs. Returns an
 * exit code after printing what is wrong. */
int variants_load(const struct options *options, const struct paths *paths,
                  const struct loaded *base, struct variants *out);

/* They stand below a live run: their messages are as large as its own. */
void variants_set_live_messages(struct variants *variants);

/* Simulate every schedule of every variant once; nothing is stored. Returns an exit code. */
int variants_run(struct variants *variants, const struct options *options,
                 const struct comparison *comparison);

void variants_fini(struct variants *variants);

#endif
