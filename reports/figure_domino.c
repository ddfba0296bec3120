/* figure_domino.c - how far one late message falls through the pipeline.
 *
 * Ops of the iteration with the late message are compared with those of a healthy one: each that
 * starts later than it would have has been hit. */
#include <math.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "reports/figure_internal.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

static const struct figure_run runs[] = {
	{"domino", {"delay=10ms"}, {NULL}, true},
	{"domino", {"delay=20ms"}, {NULL}, true},
	{"domino", {"delay=40ms"}, {NULL}, true},
	{"domino", {"delay=60ms"}, {NULL}, true},
	{"domino", {"delay=80ms"}, {NULL}, true},
	{"domino", {"delay=40ms"}, {"1f1b", "hold"}, true},
};

enum { N_DELAYS = 5, DRAWN = N_DELAYS, N_RUNS = sizeof(runs) / sizeof(runs[0]) };

static const int delays_ms[N_DELAYS] = {10, 20, 40, 60, 80};

static const struct record_op *find_op(const struct page_iteration *iteration,
                                       const struct record_op *like)
{
	for (size_t i = 0; i < iteration->n_ops; i++) {
		const struct record_op *op = &iteration->ops[i];

		if (op->stage == like->stage && op->kind == like->kind &&
		    op->microbatch == like->microbatch)
			return op;
	}
	return NULL;
}

static size_t count_late(const struct page_iteration *healthy, const struct page_iteration *faulty)
{
	size_t n = 0;

	for (size_t i = 0; i < faulty->n_ops; i++) {
		const struct record_op *op = &faulty->ops[i];
		const struct record_op *before = find_op(healthy, op);

		n += before &&
		     op->start_ns - faulty->start_ns > before->start_ns - healthy->start_ns;
	}
	return n;
}

static double longer_ms(const struct page_run *run)
{
	const struct page_iteration *healthy = &run->chosen[PAGE_HEALTHY];
	const struct page_iteration *faulty = &run->chosen[PAGE_FAULTY];

	if (healthy->n_ops == 0 || faulty->n_ops == 0)
		return NAN;
	return (double)(faulty->duration_ns - healthy->duration_ns) / NS_PER_MS;
}

static void add_delay(struct bars *bars, const struct page *page, int delay_ms)
{
	bars_add_group(bars, "%d ms late", delay_ms);
	for (size_t i = 0; i < page->comparison->n_schedules; i++) {
		const char *name = page->comparison->schedules[i].name;
		struct bar *bar =
			bars_add(bars, name, figure_colour(name), longer_ms(&page->runs[i]));

		bar->mark = delay_ms;
		snprintf(bar->source, sizeof(bar->source), "ms, what the message was late");
	}
}

static void add_hit(const struct page *page, int delay_ms, struct strbuf *out)
{
	struct strbuf text = {0};
	size_t n_ops = 0;

	for (size_t i = 0; i < page->comparison->n_schedules; i++) {
		const struct page_iteration *faulty = &page->runs[i].chosen[PAGE_FAULTY];

		strbuf_addf(&text, "%s %s %zu", i ? "," : "", page->comparison->schedules[i].name,
		            count_late(&page->runs[i].chosen[PAGE_HEALTHY], faulty));
		n_ops = faulty->n_ops;
	}
	html_sentence(out, NULL,
	              "So many of the %zu ops start late because of the one message that is %d ms "
	              "late:%s.",
	              n_ops, delay_ms, strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void draw(const struct figure_source *source, struct strbuf *out)
{
	struct bars bars = {
		.label = "How much longer an iteration takes because of one late message",
		.unit = "ms longer",
		.value_head = "here",
		.mark_head = "the delay",
	};

	for (size_t i = 0; i < N_DELAYS; i++)
		add_delay(&bars, &source->pages[i], delays_ms[i]);
	bars_figure(&bars, out);
	add_hit(&source->pages[2], delays_ms[2], out);
	page_timelines(&source->pages[DRAWN], out);
	bars_fini(&bars);
}

const struct figure figure_domino = {
	.id = "domino",
	.title = "The domino effect of one delay",
	.question = "Four stages, 12 microbatches, every op 10 ms. One single message, the "
		    "activation of microbatch 5 from stage 1 to 2, is late; bars are how much "
		    "longer its iteration takes. See that 1f1b hands on all of it, to the end, "
		    "while the zero-bubble orders have other work to do meanwhile: 30 ms vanish in "
		    "them. Below: the same op by op, for 40 ms.",
	.caveats = "Made up so that it can be followed by hand. The message is late and nothing "
		   "else (latency): it holds neither the channel nor the device, so that nothing "
		   "but dependencies is seen. A link that stays slow does this with every message.",
	.source = "nothing was measured for this case; a diamond stands at the delay itself, "
		  "which is the most that a single late message can add.",
	.runs = runs,
	.n_runs = N_RUNS,
	.draw = draw,
};
