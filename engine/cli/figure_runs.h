/* figure_runs.h - makes the runs that a figure is drawn from. */
#ifndef ENGINE_CLI_FIGURE_RUNS_H
#define ENGINE_CLI_FIGURE_RUNS_H

#include "engine/cli/options.h"
#include "engine/cli/paths.h"
#include "engine/store/store.h"
#include "reports/figures.h"

/* Start zeroed; figure_runs_fini() in any case. */
struct figure_runs {
	struct comparison *comparisons;
	struct page *pages; /* [n_read], for struct figure_source */
	size_t n_read;
};

/* Simulate every run of the figure into the store, and read it back. Returns an exit code after
 * saying what is wrong. */
int figure_runs_make(const struct figure *figure, const struct options *options,
                     const struct paths *paths, struct store *store, struct figure_runs *out);
void figure_runs_fini(struct figure_runs *runs);

#endif
