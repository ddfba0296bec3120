/* figure_dynamic.c - delays that change faster than plans can follow. */
#include "reports/figure_internal.h"

static const struct figure_run runs[] = {
	{"dynamic_delays", {"interval=50-100"}, {NULL}, false},
	{"dynamic_delays", {"interval=100-200"}, {NULL}, false},
	{"dynamic_delays", {"interval=200-400"}, {NULL}, false},
};

enum { N_RUNS = sizeof(runs) / sizeof(runs[0]) };

static const struct {
	const char *label, *delay;
} groups[N_RUNS] = {
	{"every 50 to 100 ms", "trace50-100"},
	{"every 100 to 200 ms", "trace100-200"},
	{"every 200 to 400 ms", "trace200-400"},
};

static void add_run(struct bars *bars, const struct figure_source *source, size_t run)
{
	const struct comparison *comparison = source->pages[run].comparison;

	bars_add_group(bars, "%s", groups[run].label);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const char *name = comparison->schedules[i].name;
		const struct measured_key key = {"7B", "dynamic", figure_measured_name(name),
		                                 "0_1,1_2,2_3", groups[run].delay};
		struct bar *bar =
			bars_add(bars, name, figure_colour(name), comparison->schedules[i].p50_ms);

		figure_mark(bar, source->measured, &key, FIGURE_STEADY);
	}
}

static void draw(const struct figure_source *source, struct strbuf *out)
{
	struct bars bars =
		figure_bars("Iteration time while the delays of all links keep changing");

	for (size_t i = 0; i < N_RUNS; i++)
		add_run(&bars, source, i);
	bars_figure(&bars, out);
	bars_fini(&bars);
}

const struct figure figure_dynamic = {
	.id = "dynamic",
	.title = "Dynamic stragglers",
	.question =
		"GPT 7B on 4 stages; all three links change their delay again and again, 8 to "
		"59 ms each. See that adaptra, whose plan is always one change behind, is ahead "
		"all the same: what helps most is that no message holds the device.",
	.caveats = "Bars are medians over all iterations after the warm-up, of which the first few "
		   "are healthy: the delays begin after 3 s. The artefact read its trace every 0.1 "
		   "s and its fault state reached senders up to five iterations late; here a "
		   "change counts at once. Its re-scheduler was told the delays, where adaptra has "
		   "to detect them.",
	.source = "medians of iterations 12 to 15 (steady_median in summary.csv, experiment "
		  "dynamic), H800 GPUs.",
	.runs = runs,
	.n_runs = N_RUNS,
	.draw = draw,
};
