/* reports_page.c - whatever a comparison holds, its page is well-formed; a small one reads as it
 * did; a large one stays small. */
#include "reports/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/html.h"
#include "tests/markup_check.h"
#include "tests/page_sample.h"
#include "tests/reports_live_sample.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

enum { RANDOM_PAGES = 150, MOST_BYTES = 5000000, LARGE_STAGES = 64, LARGE_MICROBATCHES = 500 };
enum { LARGE_COLUMNS = 300, MANY_DECISIONS = 10 * LIVE_ITERATIONS };

/* The first rule that the page of seed breaks; NULL: none. */
static const char *broken_rule(uint64_t seed)
{
	struct comparison comparison = sample_random(seed), other = sample_random(seed + 1);
	struct strbuf out = {0};
	const char *rule;
	struct page page;

	sample_add_random_live(&comparison, seed);
	page = sample_page(&comparison, seed % 3 ? NULL : &other, seed);
	page_write(&page, &out);
	rule = markup_complaint(strbuf_text(&out));
	if (out.is_failed)
		rule = "it fails";
	else if (!rule && (strstr(strbuf_text(&out), "nan") || strstr(strbuf_text(&out), ">inf")))
		rule = "it shows what is no number";
	else if (!rule && strstr(strbuf_text(&out), "<script"))
		rule = "a script came in";
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&comparison);
	comparison_fini(&other);
	return rule;
}

static int count(const char *text, const char *part)
{
	int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void test_random(void)
{
	int n_broken = 0;

	for (uint64_t seed = 1; seed <= RANDOM_PAGES; seed++) {
		const char *rule = broken_rule(seed);

		if (!rule)
			continue;
		n_broken++;
		tap_note("seed %llu: %s", (unsigned long long)seed, rule);
	}
	tap_is_int(n_broken, 0, "%d random pages are well-formed", RANDOM_PAGES);
}

static void test_golden(void)
{
	static const double totals_s[] = {1.25, NAN, 0.75};
	static const struct report_variant variant = {"delay model <rate>", totals_s};
	static const struct report_check checks[] = {
		{"adaptra is not slower", true, ""},
		{"zb is \"there\"", false, "x.lua:3: no such field"},
	};
	struct comparison live = sample_smoke(3, true), simulated = sample_smoke(3, false);
	struct page page = {
		.comparison = &live,
		.simulated = &simulated,
		.extras = {.variants = &variant,
	                   .n_variants = 1,
	                   .checks = checks,
	                   .n_checks = sizeof(checks) / sizeof(checks[0])},
	};
	struct strbuf out = {0};

	page.event = live.n_events;
	page.runs = calloc(live.n_schedules, sizeof(*page.runs));
	if (!page.runs)
		abort();
	page.runs[0].chosen[PAGE_HEALTHY] = sample_iteration(2, 2, 500000);
	page_write(&page, &out);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/page.html",
	              "a page reads as it did");
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "and is well-formed");
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&live);
	comparison_fini(&simulated);
}

/* All stages at once, kinds in turn: nothing that could be drawn as one. */
static void crowd(struct page_iteration *iteration)
{
	int64_t slot_ns = iteration->duration_ns / LARGE_COLUMNS;

	for (size_t i = 0; i < iteration->n_ops; i++) {
		struct record_op *op = &iteration->ops[i];

		op->start_ns = (OP_KINDS * op->microbatch + (int)op->kind) * slot_ns;
		op->end_ns = op->start_ns + slot_ns;
	}
}

/* Six drawn iterations of so many stages; their page's text. */
static struct strbuf large_page(int n_stages, double *seconds_out)
{
	struct comparison comparison = sample_trace();
	struct page page = {.comparison = &comparison, .event = 0};
	struct strbuf out = {0};
	clock_t start;

	comparison.n_stages = n_stages;
	comparison.n_microbatches = LARGE_MICROBATCHES;
	page.runs = calloc(comparison.n_schedules, sizeof(*page.runs));
	if (!page.runs)
		abort();
	for (size_t i = 0; i < comparison.n_schedules; i++)
		for (int kind = 0; kind < PAGE_KINDS; kind++) {
			page.runs[i].chosen[kind] =
				sample_iteration(n_stages, LARGE_MICROBATCHES, 1000);
			crowd(&page.runs[i].chosen[kind]);
		}
	start = clock();
	page_write(&page, &out);
	*seconds_out = (double)(clock() - start) / CLOCKS_PER_SEC;
	page_fini(&page);
	comparison_fini(&comparison);
	return out;
}

static void test_large(void)
{
	double seconds;
	struct strbuf out = large_page(LARGE_STAGES, &seconds);

	tap_note("%zu bytes in %.2f s", out.length, seconds);
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "a page of 64 stages is well-formed");
	tap_ok(out.length < MOST_BYTES, "and stays below 5 MB: %zu bytes", out.length);
	tap_contains(strbuf_text(&out), "An iteration has 96,000 ops, too many to be drawn",
	             "and says what it leaves out");
	strbuf_fini(&out);
	out = large_page(2 * LARGE_STAGES, &seconds);
	tap_contains(strbuf_text(&out), "Drawn is every 2nd of 128 stages",
	             "and so does one of more stages than there is room for");
	tap_ok(out.length < MOST_BYTES, "which is no larger: %zu bytes", out.length);
	strbuf_fini(&out);
}

static void test_nothing(void)
{
	struct comparison comparison = sample_single(1, 0);
	struct page page = {.comparison = &comparison};
	struct strbuf out = {0};

	page.runs = calloc(1, sizeof(*page.runs));
	if (!page.runs)
		abort();
	page_write(&page, &out);
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL,
	           "a page of a run without an iteration is well-formed");
	tap_ok(!strstr(strbuf_text(&out), "id=\"timelines\""),
	       "a section that has nothing to say is not there");
	tap_ok(!strstr(strbuf_text(&out), "#timelines"), "nor a link to it");
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

/* A fault that strikes at a time, in iterations 20 to 39 of one schedule. */
static void test_timed(void)
{
	struct comparison comparison = sample_smoke(1, true);
	struct page page = {.comparison = &comparison, .event = comparison.n_events};
	struct trace_source *source;
	struct strbuf out = {0};

	page.runs = calloc(1, sizeof(*page.runs));
	source = page.runs ? &page.runs[0].source : NULL;
	if (!source ||
	    !(source->iterations = calloc(LIVE_ITERATIONS, sizeof(*source->iterations))) ||
	    !(source->faults = calloc(2, sizeof(*source->faults))))
		abort();
	source->n_iterations = LIVE_ITERATIONS;
	for (int i = 0; i < LIVE_ITERATIONS; i++)
		source->iterations[i] = (struct record_iteration){
			.iteration = i, .start_ns = 1000 * i, .duration_ns = 1000};
	comparison.events[0].event = 7;
	free(comparison.events[0].label);
	comparison.events[0].label = strdup("by the clock");
	comparison.events[0].first_iteration = -1;
	comparison.events[1].first_iteration = -1;
	source->n_faults = 2;
	source->faults[0] = source->faults[1] = (struct stored_fault){.event = 7,
	                                                              .applied_ns = 20500,
	                                                              .cleared_ns = 39500,
	                                                              .delay_ns = -1,
	                                                              .measured_ns = -1,
	                                                              .asked_ns = -1,
	                                                              .from_stage = 1,
	                                                              .to_stage = 2};
	for (int i = 0; i < 2; i++) {
		source->faults[i].kind = strdup("delay");
		source->faults[i].label = strdup("");
	}
	page_write(&page, &out);
	tap_contains(strbuf_text(&out), "<title>by the clock</title>",
	             "what starts at a time is shaded");
	tap_is_int(count(strbuf_text(&out), "<rect class=\"shade\""), 2,
	           "once in each of two pictures, though it is two faults");
	tap_contains(strbuf_text(&out), ">no. 1<", "and numbered as in the table of events");
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

static void test_decisions(void)
{
	struct comparison comparison = sample_smoke(1, true);
	struct page page = {.comparison = &comparison, .event = comparison.n_events};
	struct trace_source *source;
	struct strbuf out = {0};

	page.runs = calloc(1, sizeof(*page.runs));
	source = page.runs ? &page.runs[0].source : NULL;
	if (!source || !(source->decisions = calloc(MANY_DECISIONS, sizeof(*source->decisions))))
		abort();
	source->n_decisions = MANY_DECISIONS;
	for (int i = 0; i < MANY_DECISIONS; i++)
		source->decisions[i] =
			(struct stored_decision){.kind = strdup("replan"),
		                                 .iteration = i / 10,
		                                 .plane = strdup("stream"),
		                                 .warmups = strdup("8 5 3 1"),
		                                 .clamped = strdup(""),
		                                 .reason = strdup("link 1-2 is slow")};
	page_write(&page, &out);
	tap_contains(strbuf_text(&out),
	             "<title>before iteration 3: replan, link 1-2 is slow</title>",
	             "a decision is marked");
	tap_is_int(count(strbuf_text(&out), "class=\"decision\""), 2 * LIVE_ITERATIONS,
	           "one of many at a place stands for them, in each of two pictures");
	tap_contains(strbuf_text(&out), "The first 200 of 600;", "and the first are told in words");
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

static void test_escapes(void)
{
	struct strbuf out = {0};

	html_begin(&out, "</title><b>");
	tap_contains(strbuf_text(&out), "<title>&lt;/title&gt;&lt;b&gt;</title>",
	             "a title cannot end itself");
	strbuf_clear(&out);
	html_cell(&out, "a\"b", "%s", "<&\"'>\n");
	tap_is_str(strbuf_text(&out), "<td class=\"a&quot;b\">&lt;&amp;&quot;&#39;&gt;?</td>\n",
	           "a cell's text is escaped, and so is its class");
	strbuf_fini(&out);
}

/* The command has what somebody decided about where and over what a live run went. */
static void test_reproduced(void)
{
	struct comparison comparison = sample_smoke(1, true);
	struct page page = sample_page(&comparison, NULL, 1);
	struct stored_run *run = page.runs[0].source.run;
	struct strbuf out = {0};

	free(run->mode);
	free(run->settings_json);
	run->mode = strdup("live");
	run->settings_json = strdup("{\"lab\":\"netns\",\"rdma_devices\":\"mlx5_0,mlx5_1:2\"}");
	page_write(&page, &out);
	tap_contains(strbuf_text(&out), " --lab netns --rdma-device mlx5_0,mlx5_1:2",
	             "a lab and RDMA devices are in the command");
	page_fini(&page);
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

int main(void)
{
	test_escapes();
	test_golden();
	test_nothing();
	test_timed();
	test_decisions();
	test_reproduced();
	test_large();
	test_random();
	return tap_done();
}
