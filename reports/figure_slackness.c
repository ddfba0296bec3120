/* figure_slackness.c - the delay at which a slow link starts a cascade, beside the paper's
 * threshold. */
#include <math.h>
#include <stdio.h>

#include "reports/figure_internal.h"

static const struct figure_run runs[] = {{"slackness", {NULL}, {NULL}, false}};

/* The scenario's delays; its stages have x = 7 and 1, and ops of 10 ms. */
static const int delays_ms[] = {5, 10, 15, 20, 30, 40, 50};
enum { N_DELAYS = sizeof(delays_ms) / sizeof(delays_ms[0]), SLACKNESS = 6, OP_MS = 10 };

/* Equation 1: no cascade if and only if tF + tB + 2c <= slackness × (tF + tB); then an iteration
 * takes longer by the delay itself. NaN: it promises nothing. */
static double promised_ms(int delay_ms)
{
	bool is_promised = 2 * OP_MS + 2 * delay_ms <= SLACKNESS * 2 * OP_MS;

	return is_promised ? (double)delay_ms : (double)NAN;
}

/* Of the iteration before the first fault. */
static double healthy_ms(const struct comparison *comparison, size_t schedule)
{
	int first = comparison->events[0].first_iteration;

	return first > 0 ? comparison->schedules[schedule].iteration_ms[first - 1] : NAN;
}

static void add_delay(struct bars *bars, const struct comparison *comparison, size_t e)
{
	bars_add_group(bars, "%d ms", delays_ms[e]);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const char *name = comparison->schedules[i].name;
		double ms = comparison->events[e].p50_ms[i] - healthy_ms(comparison, i);
		struct bar *bar;

		if (figure_colour(name) == FIGURE_COLOURS)
			continue; /* adaptra-published, which is as adaptra here */
		bar = bars_add(bars, name, figure_colour(name), ms);
		bar->mark = promised_ms(delays_ms[e]);
		snprintf(bar->source, sizeof(bar->source), "ms, by Equation 1 of the paper");
	}
}

static void draw(const struct figure_source *source, struct strbuf *out)
{
	const struct comparison *comparison = source->pages[0].comparison;
	struct bars bars = {
		.label = "How much longer an iteration takes, per delay of the link",
		.unit = "ms longer",
		.value_head = "here",
		.mark_head = "promised",
	};

	for (size_t e = 0; e < N_DELAYS && e < comparison->n_events; e++)
		add_delay(&bars, comparison, e);
	bars_figure(&bars, out);
	bars_fini(&bars);
}

const struct figure figure_slackness = {
	.id = "slackness",
	.title = "The slackness threshold",
	.question =
		"Two stages, 30 microbatches, every op 10 ms, warm-ups of 7 and 1 forwards: a "
		"slackness of 6. The link's messages are 5 to 50 ms late; bars are how much "
		"longer an iteration takes than a healthy one. See that hold pays the delay and "
		"no more, as promised, and that adaptra-static falls into a cascade between 10 "
		"and 15 ms.",
	.caveats = "The paper's Equation 1 says: no cascade if and only if tF + tB + 2c is at most "
		   "the slackness times tF + tB; here, up to c = 50 ms. It is false for orders "
		   "that were built by B before F before W without knowing the delay "
		   "(adaptra-static): they spend the lead of the warm-up on the first backwards, "
		   "and a slackness of 2 is left. adaptra knows the delay and orders for it; "
		   "adaptra-published, left out here, is equal to it.",
	.source = "not measured, but what Equation 1 of the paper promises: the delay itself.",
	.runs = runs,
	.n_runs = 1,
	.draw = draw,
};
