/* reports_random.c - whatever a comparison holds, its page fits the terminal and cannot command it.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "reports/report.h"
#include "tests/reports_live_sample.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

enum { RANDOM_COMPARISONS = 400 };

static const int widths[] = {60, 61, 80, 97, 120};

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static bool has_trailing_blank(const char *text)
{
	return strstr(text, " \n") != NULL;
}

/* As many as there may be schedules. */
static const double totals_s[] = {1e9, NAN, 0, -5, 61, 1e300, 3, 4000, 12};
static const struct report_variant variants[] = {
	{"a label that is longer than any column should be", totals_s},
	{"", totals_s},
};

/* The first rule that the page of seed breaks; NULL: none. */
static const char *broken_rule(uint64_t seed)
{
	struct report_style style = {
		.columns = widths[seed % (sizeof(widths) / sizeof(widths[0]))],
		.has_unicode = seed % 2,
		.has_color = seed % 3 == 0,
	};
	struct comparison comparison = sample_random(seed), other = sample_random(seed + 1);
	const struct comparison *const simulated[] = {NULL, &comparison, &other};
	const struct report_extras extras = {
		.variants = variants,
		.n_variants = seed % 3,
		.simulated = simulated[seed / 3 % 3],
	};
	struct strbuf out = {0};
	const char *rule = NULL;
	int widest;

	sample_add_random_live(&comparison, seed);
	report_terminal(&comparison, &extras, &style, &out);
	widest = sample_widest_line(strbuf_text(&out));
	if (out.is_failed)
		rule = "it fails";
	else if (widest < 0)
		rule = "it has a control character or broken UTF-8";
	else if (widest > style.columns)
		rule = "a line is too wide";
	else if (!style.has_unicode && !is_ascii(strbuf_text(&out)))
		rule = "it is not ASCII";
	else if (!style.has_color && strchr(strbuf_text(&out), '\033'))
		rule = "it has colour that was not asked for";
	else if (!style.has_color && has_trailing_blank(strbuf_text(&out)))
		rule = "a line ends with a blank";
	else if (!strstr(strbuf_text(&out), "\nDatabase: "))
		rule = "it does not say where the database is";
	strbuf_fini(&out);
	comparison_fini(&comparison);
	comparison_fini(&other);
	return rule;
}

int main(void)
{
	int n_broken = 0;

	for (uint64_t seed = 1; seed <= RANDOM_COMPARISONS; seed++) {
		const char *rule = broken_rule(seed);

		if (!rule)
			continue;
		n_broken++;
		tap_note("seed %llu: %s", (unsigned long long)seed, rule);
	}
	tap_is_int(n_broken, 0, "%d random comparisons keep to the page", RANDOM_COMPARISONS);
	return tap_done();
}
