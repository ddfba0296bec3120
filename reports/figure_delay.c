/* figure_delay.c - how the iteration time grows with the delay of one link. */
#include <math.h>

#include "reports/figure_internal.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

#define FITTED "delegate_cost=fitted"

static const struct figure_run runs[] = {
	{"one_slow_link", {"delay=10ms", FITTED}, {NULL}, false},
	{"one_slow_link", {"delay=20ms", FITTED}, {NULL}, false},
	{"one_slow_link", {"delay=30ms", FITTED}, {NULL}, false},
	{"one_slow_link", {"delay=40ms", FITTED}, {NULL}, false},
	{"one_slow_link", {"delay=50ms", FITTED}, {NULL}, false},
	{"one_slow_link", {"delay=60ms", FITTED}, {NULL}, false},
};

enum { N_RUNS = sizeof(runs) / sizeof(runs[0]), STEP_MS = 10 };

static const char *const delays_s[N_RUNS] = {"0.01", "0.02", "0.03", "0.04", "0.05", "0.06"};

/* What a ms of delay adds, over the whole range; the time outside of the ops cancels. */
static void add_growth(const struct bars *bars, struct strbuf *out)
{
	const double range_ms = STEP_MS * (N_RUNS - 1);
	const struct bar_group *first, *last;
	struct strbuf text = {0};
	char here[QUANTITY_BYTES], there[QUANTITY_BYTES];

	if (bars->n_groups < N_RUNS)
		return;
	first = &bars->groups[0];
	last = &bars->groups[N_RUNS - 1];
	for (size_t i = 0; i < first->n_bars && i < last->n_bars; i++) {
		double growth = (last->bars[i].value - first->bars[i].value) / range_ms;
		double measured = (last->bars[i].mark - first->bars[i].mark) / range_ms;

		strbuf_addf(&text, "%s %s %s (%s)", i ? "," : "", first->bars[i].name,
		            quantity_number(growth, 1, &page_style, here),
		            quantity_number(measured, 1, &page_style, there));
	}
	html_sentence(out, NULL,
	              "An iteration grows, per ms of delay, by so many ms (measured):%s.",
	              strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void draw(const struct figure_source *source, struct strbuf *out)
{
	struct bars bars =
		figure_bars("Iteration time against the delay of link 6-7, per schedule");

	for (size_t i = 0; i < N_RUNS; i++) {
		const struct measured_key key = {.model = "14B",
		                                 .experiment = "increasing-delay",
		                                 .links = "6_7",
		                                 .delay = delays_s[i]};

		bars_add_group(&bars, "%d ms", STEP_MS * ((int)i + 1));
		figure_add_event(&bars, source, i, 0, key);
	}
	bars_figure(&bars, out);
	add_growth(&bars, out);
	bars_fini(&bars);
}

const struct figure figure_delay = {
	.id = "delay",
	.title = "Delay sensitivity",
	.question = "GPT 14B on 8 stages, 24 microbatches; link 6-7 gets 10 to 60 ms slower. See "
		    "how far apart the schedules are at 60 ms, and how little adaptra's bar grows.",
	.caveats = "Measured times hold about 100 ms an iteration outside of the operators, which "
		   "the simulator leaves out: compare growth rather than height. The published "
		   "delays are occupancy: on the stream plane a message holds the channel of its "
		   "pair, both directions, for the delay; on delegates it holds one of six queues. "
		   "The measured adaptra is the re-scheduled run, which followed the rule of "
		   "adaptra-search, not the paper's Algorithm 2. The cost of a delegated message "
		   "(768 µs) was fitted on the fault-free ALL-CPU run.",
	.source = "medians of iterations 12 to 15 (steady_median in summary.csv, experiment "
		  "increasing-delay) of the published artefact's logs on H800 GPUs.",
	.runs = runs,
	.n_runs = N_RUNS,
	.draw = draw,
};
