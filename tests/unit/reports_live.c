/* reports_live.c - what a person sees of a live comparison beside the simulated one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "tests/reports_live_sample.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

static const struct report_style unicode = {.columns = 80, .has_unicode = true};
static const struct report_style ascii = {.columns = 80};
static const struct report_style colored = {.columns = 80, .has_unicode = true, .has_color = true};

static struct strbuf render_pair(const struct comparison *live, const struct comparison *simulated,
                                 const struct report_style *style)
{
	const struct report_extras extras = {.simulated = simulated};
	struct strbuf out = {0};

	report_terminal(live, &extras, style, &out);
	return out;
}

static struct strbuf render(size_t n_schedules, const struct report_style *style)
{
	struct comparison live = sample_smoke(n_schedules, true);
	struct comparison simulated = sample_smoke(n_schedules, false);
	struct strbuf out = render_pair(&live, &simulated, style);

	comparison_fini(&live);
	comparison_fini(&simulated);
	return out;
}

static void test_golden(void)
{
	struct strbuf out = render(3, &unicode);

	tap_is_golden(strbuf_text(&out), "tests/golden/reports/live_unicode.txt",
	              "a live comparison reads as it did");
	strbuf_fini(&out);
	out = render(3, &ascii);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/live_ascii.txt",
	              "a live comparison reads as it did in ASCII");
	strbuf_fini(&out);
	out = render(3, &colored);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/live_color.txt",
	              "a live comparison reads as it did in colour");
	strbuf_fini(&out);
	out = render(5, &unicode);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/live_five.txt",
	              "five schedules read as they did");
	strbuf_fini(&out);
}

static void test_widths(void)
{
	for (size_t n = 1; n <= 5; n++) {
		struct strbuf out = render(n, &unicode);

		sample_fits(strbuf_text(&out), 80, "%zu schedules fit into 80 columns", n);
		strbuf_fini(&out);
	}
}

/* The line of text that starts with start, without its line feed. */
static const char *line_of(const char *text, const char *start, char out[256])
{
	const char *at = strstr(text, start);

	out[0] = '\0';
	if (at)
		strncat(out, at, strcspn(at, "\n") < 255 ? strcspn(at, "\n") : 255);
	return out;
}

/* A schedule that is missing there, one that did not finish, and an event of another time. */
static void test_unmatched(void)
{
	struct comparison live = sample_smoke(3, true), simulated = sample_smoke(2, false);
	struct strbuf out;
	char line[256];

	free(live.schedules[1].status);
	live.schedules[1].status = strdup("failed: a worker died");
	simulated.events[0].first_iteration++;
	out = render_pair(&live, &simulated, &ascii);
	tap_is_str(line_of(strbuf_text(&out), "total, s", line),
	           "total, s                   24.55 24.30  +1.0  22.59 22.15 -    17.90   - -",
	           "an error needs two runs that are done");
	tap_is_str(line_of(strstr(strbuf_text(&out), "total, s"), "1-2: 25 ms", line),
	           "1-2: 25 ms                 553.1     -     -  604.2     - -    296.8   - -",
	           "and two events of the same iterations");
	strbuf_fini(&out);
	out = render_pair(&live, NULL, &ascii);
	tap_ok(!strstr(strbuf_text(&out), "Measured"),
	       "without a simulated one there is no section");
	strbuf_fini(&out);
	comparison_fini(&live);
	comparison_fini(&simulated);
}

/* What nobody measured has no column, and what was nowhere in force no table. */
static void test_links(void)
{
	struct comparison live = sample_smoke(1, true);
	struct strbuf out = render_pair(&live, NULL, &ascii);
	char line[256];

	tap_is_str(line_of(strstr(strbuf_text(&out), "Faults of links"), "link  schedule", line),
	           "link  schedule           mean      p50      p95   Mbit/s  again",
	           "packets that nobody counted have no column");
	tap_is_str(line_of(strbuf_text(&out), "1->2  asked", line),
	           "1->2  asked     25.00 +- 2.50                    1,000.0",
	           "what was asked for stands above");
	strbuf_fini(&out);
	live.links[0].passed[0].n_resent = NAN;
	out = render_pair(&live, NULL, &ascii);
	tap_ok(!strstr(strbuf_text(&out), "again"), "nor does what TCP does not say");
	strbuf_fini(&out);
	free(live.links[0].passed);
	free(live.links[0].delay_model);
	live.n_links = 0;
	out = render_pair(&live, NULL, &ascii);
	tap_ok(!strstr(strbuf_text(&out), "Faults of links"), "no links, no table");
	strbuf_fini(&out);
	comparison_fini(&live);
}

static void test_difference(void)
{
	struct comparison live = sample_smoke(3, true);
	double *loss = live.schedules[2].losses[0].loss;
	struct strbuf out;

	live.schedules[0].losses[0].loss[17] = live.schedules[1].losses[0].loss[17] = 3.25;
	loss[17] = nextafter(3.25, 9);
	out = render_pair(&live, NULL, &colored);
	tap_contains(strbuf_text(&out),
	             "\033[31mFailed: the losses of iteration 17 differ: 1f1b gives "
	             "3.25 and adaptra\n",
	             "losses that differ are named, in red");
	tap_ok(!strstr(strbuf_text(&out), "bit for bit equal under"), "and not called equal");
	strbuf_fini(&out);
	out = render_pair(&live, NULL, &unicode);
	tap_contains(strbuf_text(&out), "\nadaptra    █", "each schedule has a curve then");
	strbuf_fini(&out);
	comparison_fini(&live);
}

static void test_speed(void)
{
	static const struct {
		double speed;
		const char *want;
	} cases[] = {
		{10, "live, 10 times faster than the profile ("},
		{0.5, "live, 2 times slower than the profile ("},
		{1, "live, as fast as the profile ("},
		{NAN, "live ("},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct comparison live = sample_smoke(1, true);
		struct strbuf out = {0};
		struct report_style wide = {.columns = 120};

		live.speed = cases[i].speed;
		out = render_pair(&live, NULL, &wide);
		tap_contains(strbuf_text(&out), cases[i].want, "speed %g is told", cases[i].speed);
		strbuf_fini(&out);
		comparison_fini(&live);
	}
}

/* The runs failed before their first iteration. */
static void test_no_facts(void)
{
	struct comparison live = sample_smoke(2, true);
	struct strbuf out;

	live.schedules[0].has_facts = false;
	out = render_pair(&live, NULL, &ascii);
	tap_contains(strbuf_text(&out), "\n1f1b            -        -        -        -        -\n",
	             "a schedule whose workers did not start has a row without numbers");
	strbuf_fini(&out);
	live.schedules[1].has_facts = false;
	out = render_pair(&live, NULL, &ascii);
	tap_contains(strbuf_text(&out),
	             "\nNo live run came to an iteration, so there are no facts about its "
	             "workers.\n",
	             "where no workers started, one sentence says so");
	tap_ok(!strstr(strbuf_text(&out), "foreign"), "in place of a table");
	strbuf_fini(&out);
	comparison_fini(&live);
}

static void test_odd_losses(void)
{
	struct comparison live = sample_smoke(1, true);
	struct strbuf out;

	for (int i = 0; i < LIVE_ITERATIONS; i++)
		live.schedules[0].losses[0].loss[i] = i ? NAN : 2.5;
	out = render_pair(&live, NULL, &unicode);
	tap_contains(strbuf_text(&out), "Loss 2.500 → 2.500 over 1 iteration\n\n",
	             "one loss is told, is equal to nothing, and is no curve");
	strbuf_fini(&out);
	comparison_fini(&live);
}

int main(void)
{
	test_golden();
	test_widths();
	test_unmatched();
	test_links();
	test_difference();
	test_speed();
	test_no_facts();
	test_odd_losses();
	return tap_done();
}
