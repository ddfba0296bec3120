/* reports_figures.c - whatever runs give, the figures are well-formed; bars read as they did. */
#include "reports/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/bars.h"
#include "tests/markup_check.h"
#include "tests/page_sample.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

enum { RANDOM_ROUNDS = 20 };

static struct measurements *open_measurements(void)
{
	const char *source = getenv("ADAPTRA_SOURCE");
	struct measurements *measured = NULL;
	struct strbuf folder = {0};
	struct err err = {0};

	strbuf_addf(&folder, "%s/tests/data/pipemorph", source ? source : ".");
	if (measurements_open(strbuf_text(&folder), &measured, &err))
		tap_ok(false, "the measurements open: %s", err.text);
	strbuf_fini(&folder);
	return measured;
}

/* The figure drawn from runs made by chance: what is wrong with it, or NULL. */
static const char *broken_rule(const struct figure *figure, const struct measurements *measured,
                               uint64_t seed)
{
	struct comparison *comparisons = calloc(figure->n_runs, sizeof(*comparisons));
	struct page *pages = calloc(figure->n_runs, sizeof(*pages));
	const struct figure_source source = {pages, measured};
	struct strbuf out = {0};
	const char *rule;

	if (!comparisons || !pages)
		abort();
	for (size_t i = 0; i < figure->n_runs; i++) {
		comparisons[i] = sample_random(seed + i);
		pages[i] = sample_page(&comparisons[i], NULL, seed + i);
	}
	figures_begin("test", &out);
	figures_add(figure, &source, &out);
	figures_end(&out);
	rule = out.is_failed ? "it fails" : markup_complaint(strbuf_text(&out));
	if (!rule && (strstr(strbuf_text(&out), "nan") || strstr(strbuf_text(&out), ">inf")))
		rule = "it shows what is no number";
	for (size_t i = 0; i < figure->n_runs; i++) {
		page_fini(&pages[i]);
		comparison_fini(&comparisons[i]);
	}
	strbuf_fini(&out);
	free(comparisons);
	free(pages);
	return rule;
}

static void test_random(void)
{
	struct measurements *measured = open_measurements();

	for (size_t f = 0; measured && f < figures_count(); f++) {
		const char *rule = NULL;

		for (uint64_t seed = 1; seed <= RANDOM_ROUNDS && !rule; seed++)
			rule = broken_rule(figures_at(f), measured, 100 * seed);
		tap_is_str(rule, NULL, "figure %s is well-formed whatever its runs give",
		           figures_at(f)->id);
	}
	measurements_close(measured);
}

/* Sections are anchors, so each has a name of its own; each says where its marks are from. */
static void test_table(void)
{
	int n_same = 0, n_bare = 0;

	for (size_t i = 0; i < figures_count(); i++) {
		const struct figure *figure = figures_at(i);

		for (size_t j = 0; j < i; j++)
			n_same += strcmp(figures_at(j)->id, figure->id) == 0;
		n_bare += !*figure->title || !*figure->question || !*figure->caveats ||
		          !*figure->source || figure->n_runs == 0;
	}
	tap_ok(figures_count() >= 8, "there are at least the eight studies of the paper");
	tap_is_int(n_same, 0, "each has a name of its own");
	tap_is_int(n_bare, 0, "and says what to see, what to mind, and where its marks are from");
}

static void test_bars(void)
{
	struct bars bars = {
		.label = "Two groups", .unit = "ms", .value_head = "here", .mark_head = "there"};
	struct strbuf out = {0};
	struct bar *bar;

	bars_figure(&bars, &out);
	tap_is_str(strbuf_text(&out), "", "nothing is drawn of nothing");
	bars_add_group(&bars, "one & only");
	bar = bars_add(&bars, "zb", 1, 1234.5);
	bar->mark = 1000;
	snprintf(bar->source, sizeof(bar->source), "ms, run 7");
	bars_add(&bars, "a name that is much longer than there is room for on a phone", 2, 0);
	bars_add_group(&bars, "two");
	bars_add(&bars, "none", 0, NAN);
	bars_figure(&bars, &out);
	tap_ok(!out.is_failed, "bars are drawn");
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/bars.svg", "as they were");
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "well-formed");
	bars_fini(&bars);
	strbuf_fini(&out);
}

/* A bar without a group has nowhere to go; that shows, and nothing else happens. */
static void test_no_group(void)
{
	struct bars bars = {.label = "", .unit = "", .value_head = "", .mark_head = ""};
	struct strbuf out = {0};

	bars_add(&bars, "zb", 1, 1)->mark = 2;
	bars_figure(&bars, &out);
	tap_ok(out.is_failed, "a bar without a group is a failure, not a crash");
	bars_fini(&bars);
	strbuf_fini(&out);
}

int main(void)
{
	test_table();
	test_random();
	test_bars();
	test_no_group();
	return tap_done();
}
