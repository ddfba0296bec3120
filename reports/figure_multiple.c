/* figure_multiple.c - one, two and three slow links at once. */
#include "reports/figure_internal.h"

static const struct figure_run runs[] = {{"several_slow_links", {NULL}, {NULL}, false}};

/* The scenario's events, as they were measured. */
static const struct {
	const char *label, *links, *experiment;
} groups[] = {
	{"link 6-7", "6_7", "increasing-delay"},
	{"links 0-1, 6-7", "0_1,6_7", "multiple"},
	{"links 0-1, 3-4, 6-7", "0_1,3_4,6_7", "multiple"},
};

enum { N_GROUPS = sizeof(groups) / sizeof(groups[0]) };

static void draw(const struct figure_source *source, struct strbuf *out)
{
	struct bars bars = figure_bars("Iteration time with one, two and three slow links");
	const struct comparison *comparison = source->pages[0].comparison;

	for (size_t e = 0; e < N_GROUPS && e < comparison->n_events; e++) {
		const struct measured_key key = {.model = "14B",
		                                 .experiment = groups[e].experiment,
		                                 .links = groups[e].links,
		                                 .delay = "0.03"};

		bars_add_group(&bars, "%s", groups[e].label);
		figure_add_event(&bars, source, 0, e, key);
	}
	bars_figure(&bars, out);
	bars_fini(&bars);
}

const struct figure figure_multiple = {
	.id = "multiple",
	.title = "Several slow links",
	.question =
		"GPT 14B on 8 stages; one, two and three links are 30 ms slower at once. See "
		"that the first one costs most: stages wait for the same messages one after the "
		"other, so that further ones add little.",
	.caveats = "Measured times hold about 100 ms an iteration outside of the operators, which "
		   "the simulator leaves out. The delegate cost was fitted on the fault-free "
		   "ALL-CPU run; the measured adaptra followed the rule of adaptra-search.",
	.source = "medians of iterations 12 to 15 (steady_median in summary.csv, experiments "
		  "increasing-delay and multiple), H800 GPUs.",
	.runs = runs,
	.n_runs = 1,
	.draw = draw,
};
