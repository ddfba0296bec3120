/* figure_overhead.c - what delegates cost while nothing is wrong. */
#include "reports/figure_internal.h"

static const struct figure_run runs[] = {
	{"overhead", {"model=7b"}, {NULL}, false},
	{"overhead", {"model=14b"}, {NULL}, false},
	{"overhead", {"model=30b"}, {NULL}, false},
	{"overhead", {"model=60b"}, {NULL}, false},
};

enum { N_RUNS = sizeof(runs) / sizeof(runs[0]) };

static const char *const models[N_RUNS] = {"7B", "14B", "30B", "60B"};

static void add_run(struct bars *bars, const struct figure_source *source, size_t run)
{
	/* Any ZB run has healthy iterations before its fault; this one there is for all models. */
	const struct measured_key stream = {models[run], "single", "ZB", "0_1", "0.03"};
	const struct measured_key delegated = {models[run], "overhead", "ALL-CPU", "", ""};
	const struct comparison *comparison = source->pages[run].comparison;

	bars_add_group(bars, "%s", models[run]);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];
		bool is_delegated = i > 0;
		struct bar *bar = bars_add(bars, is_delegated ? "on delegates" : "on the stream",
		                           figure_colour(schedule->name), schedule->p50_ms);

		figure_mark(bar, source->measured, is_delegated ? &delegated : &stream,
		            FIGURE_CLEAN);
	}
}

static void draw(const struct figure_source *source, struct strbuf *out)
{
	struct bars bars = figure_bars("Healthy iteration time, on the stream and on delegates");

	for (size_t i = 0; i < N_RUNS; i++)
		add_run(&bars, source, i);
	bars_figure(&bars, out);
	bars_fini(&bars);
}

const struct figure figure_overhead = {
	.id = "overhead",
	.title = "Overhead",
	.question =
		"The zero-bubble order without any fault: over the device's own queue, and over "
		"delegates. See what adaptra pays while it is on delegates, and why it starts "
		"without them.",
	.caveats = "The cost of a delegated message, one number a model, was fitted on these very "
		   "ALL-CPU runs: that a delegated bar exceeds the other as the measured one does "
		   "confirms nothing. 30B and 60B are noisy and drift upward. Measured times hold "
		   "time outside of the operators, which the simulator leaves out.",
	.source = "medians of healthy iterations (clean_median in summary.csv): of experiment "
		  "overhead, ALL-CPU, on delegates, and of experiment single, ZB, link 0-1, 30 "
		  "ms, before the fault; H800 GPUs.",
	.runs = runs,
	.n_runs = N_RUNS,
	.draw = draw,
};
