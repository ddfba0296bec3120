/* reports_terminal.c - what a person sees of a comparison: golden files, and the cases without an
 * answer. */
#include "reports/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reports_sample.h"
#include "tests/tap.h"

static const struct report_style unicode = {.columns = 80, .has_unicode = true};
static const struct report_style ascii = {.columns = 80};
static const struct report_style colored = {.columns = 80, .has_unicode = true, .has_color = true};

static const double latency_s[] = {1460, 1390, 1371}, rate_s[] = {2204, NAN, 2050};
static const struct report_variant variants[] = {
	{"delay model latency", latency_s},
	{"delay model rate", rate_s},
};

static const struct report_check checks[] = {
	{"adaptra beats zb", true, ""},
	{"nothing restarts", false, "scenario.lua:7: attempt to compare nil with number"},
};

/* Frees the comparison. */
static struct strbuf render(struct comparison comparison, size_t n_variants,
                            const struct report_style *style)
{
	const struct report_extras extras = {.variants = variants, .n_variants = n_variants};
	struct strbuf out = {0};

	report_terminal(&comparison, &extras, style, &out);
	report_checks(checks, n_variants, style, &out);
	comparison_fini(&comparison);
	return out;
}

static void test_golden(void)
{
	struct strbuf out = render(sample_trace(), 2, &unicode);

	tap_is_golden(strbuf_text(&out), "tests/golden/reports/trace_unicode.txt",
	              "a comparison reads as it did");
	strbuf_fini(&out);
	out = render(sample_trace(), 2, &ascii);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/trace_ascii.txt",
	              "a comparison reads as it did in ASCII");
	strbuf_fini(&out);
	out = render(sample_trace(), 2, &colored);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/trace_color.txt",
	              "a comparison reads as it did in colour");
	strbuf_fini(&out);
	out = render(sample_long_names(8), 0, &unicode);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/long_names.txt",
	              "eight schedules with long names read as they did");
	sample_fits(strbuf_text(&out), 80, "and fit into 80 columns");
	strbuf_fini(&out);
}

static void test_odd_sizes(void)
{
	struct strbuf out = render(sample_single(1, 1), 0, &unicode);

	tap_contains(strbuf_text(&out), "ZB finishes the 1 iteration in 0.7528 s.\n",
	             "one iteration of one schedule is an answer");
	tap_ok(!strstr(strbuf_text(&out), "Speedup"), "one schedule has no speedups");
	strbuf_fini(&out);
	out = render(sample_single(300, 140), 0, &unicode);
	tap_contains(strbuf_text(&out), "interrupted after 140 of 300 iterations",
	             "an interrupted run says how far it got");
	tap_contains(strbuf_text(&out), "≥ 115.1 s", "its total is a lower bound");
	strbuf_fini(&out);
	out = render(sample_single(10, 0), 0, &unicode);
	tap_contains(strbuf_text(&out), "interrupted after 0 of 10 iterations",
	             "a run without a complete iteration says so");
	tap_ok(!strstr(strbuf_text(&out), "Iteration time"), "and has no picture");
	strbuf_fini(&out);
	out = render((struct comparison){.mode = strdup("sim"),
	                                 .scenario_title = strdup(""),
	                                 .store_path = strdup("x.db")},
	             0, &unicode);
	tap_contains(strbuf_text(&out), "Nothing was recorded.", "a comparison of nothing says so");
	strbuf_fini(&out);
}

static void test_one(void)
{
	struct comparison comparison = sample_single(10, 10);
	struct strbuf out;

	comparison.n_warmup = 1;
	out = render(comparison, 0, &unicode);
	tap_contains(strbuf_text(&out), "leave out the first iteration", "one is not counted");
	strbuf_fini(&out);
	out = render(sample_single(1, 1), 0, &unicode);
	tap_contains(strbuf_text(&out), "\niteration  0\n", "the only iteration has one number");
	strbuf_fini(&out);
}

static void test_headline(void)
{
	struct comparison comparison = sample_trace();
	struct strbuf out;

	comparison.schedules[1].total_s = comparison.schedules[2].total_s * 0.8;
	for (size_t i = 0; i < comparison.n_speedups; i++) {
		struct comparison_speedup *speedup = &comparison.speedups[i];

		speedup->ratio = comparison.schedules[speedup->over].total_s /
		                 comparison.schedules[speedup->of].total_s;
	}
	free(comparison.schedules[0].status);
	comparison.schedules[0].status = strdup("failed: no space left on device");
	comparison.speedups[4].ratio = NAN;
	out = render(comparison, 0, &unicode);
	tap_contains(
		strbuf_text(&out),
		"Adaptra finishes the 1,200 iterations in 29 min 00 s: 1.25x slower than ZB. 1F1B\n"
		"did not finish (failed after 1,200 of 1,200 iterations: no space left "
		"on\ndevice).\n",
		"a loss is told like a gain, and who did not finish is named with the reason");
	strbuf_fini(&out);
}

/* A second repeat, each 1 per mille from the mean. */
static void give_repeats(struct comparison_schedule *schedule)
{
	free(schedule->repeat_total_s);
	free(schedule->repeat_p50_ms);
	schedule->n_repeats = 2;
	schedule->repeat_total_s = calloc(2, sizeof(double));
	schedule->repeat_p50_ms = calloc(2, sizeof(double));
	for (int r = 0; r < 2; r++) {
		schedule->repeat_total_s[r] = schedule->total_s * (r ? 0.999 : 1.001);
		schedule->repeat_p50_ms[r] = schedule->p50_ms * (r ? 0.999 : 1.001);
	}
}

static void test_repeats(void)
{
	struct comparison comparison = sample_trace();
	struct strbuf out;

	for (size_t i = 0; i < comparison.n_speedups; i++) {
		comparison.speedups[i].pairs = 3;
		comparison.speedups[i].low = comparison.speedups[i].ratio * 0.9;
		comparison.speedups[i].high = comparison.speedups[i].ratio * 1.1;
		comparison.speedups[i].steady = (struct paired){1.5, 1.2, 1.8, 1.1, 1.9, 3};
	}
	comparison.speedups[5].low = 0.9; /* adaptra over zb */
	for (size_t s = 0; s < comparison.n_schedules; s++)
		give_repeats(&comparison.schedules[s]);
	out = render(comparison, 0, &unicode);
	tap_contains(strbuf_text(&out), "Speedup of adaptra, 3 pairs of interleaved repeats",
	             "how many repeats there are is said");
	tap_contains(strbuf_text(&out),
	             "1f1b  1.477  1.329  1.624   1.500  1.200  1.800  1.100  1.900",
	             "by total and by median they give an interval, and the latter a spread");
	tap_contains(strbuf_text(&out), "Wide: 3 pairs are few", "which is marked as a wide one");
	tap_contains(strbuf_text(&out), "within the spread of ZB",
	             "a gain whose interval holds 1 is not claimed");
	tap_contains(strbuf_text(&out), "±", "repeats give totals a spread");
	tap_contains(
		strbuf_text(&out), "a\nrepeat; the table counts those of all repeats.",
		"what restarts cost is a mean, how many there were is a sum, and both are said");
	sample_fits(strbuf_text(&out), 80, "the wider table fits");
	strbuf_fini(&out);
}

static void test_control(void)
{
	static const struct {
		struct paired steady;
		const char *want, *name;
	} cases[] = {
		{{1.003, 0.995, 1.011, 0.99, 1.02, 6},
	         "Control: zb beside itself, by median 1.003, 95 % from 0.995 to 1.011 (6 pairs):\n"
	         "a speedup within 1.1 % of 1 is none that can be told from chance here.",
	         "a control says how far apart equal things are"},
		{{1.003, 0.9, 1.2, 0.99, 1.02, 4}, "(4 pairs,\nwide)", "and whether that is wide"},
		{{1, 1, 1, 1, 1, 5},
	         "Control: zb beside itself is equal in all 5 pairs.",
	         "one that is equal to the last bit is told so"},
		{{NAN, NAN, NAN, NAN, NAN, 0},
	         "Control: too little of zb beside itself was run to tell anything.",
	         "one without pairs, too"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct comparison comparison = sample_trace();
		struct strbuf out;

		comparison.control.schedule = strdup("zb");
		comparison.control.steady = cases[i].steady;
		out = render(comparison, 0, &unicode);
		tap_contains(strbuf_text(&out), cases[i].want, "%s", cases[i].name);
		strbuf_fini(&out);
	}
}

int main(void)
{
	test_golden();
	test_odd_sizes();
	test_one();
	test_headline();
	test_repeats();
	test_control();
	return tap_done();
}
