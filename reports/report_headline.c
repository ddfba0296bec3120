/* report_headline.c - what a comparison says, in one sentence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

enum { CLAUSES_MOST = 4 };

/* Below half a percent two totals are told apart by nothing that a reader should act upon. */
static const double SAME_RATIO = 0.005;

/* How the literature writes the names; others stand as they are. */
static void add_name(struct strbuf *out, const char *name)
{
	static const struct {
		const char *name, *written;
	} names[] = {
		{"1f1b", "1F1B"},       {"zb", "ZB"},
		{"zb-cpu", "ZB-CPU"},   {"gpipe", "GPipe"},
		{"adaptra", "Adaptra"}, {"adaptra-cpu", "Adaptra-CPU"},
		{"hold", "Hold"},       {"adaptra-search", "Adaptra-Search"},
	};
	size_t n = strcspn(name, " ");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) != n || strncmp(name, names[i].name, n) != 0)
			continue;
		strbuf_addf(out, "%s%s", names[i].written, name + n);
		return;
	}
	strbuf_add(out, name);
}

static void add_iterations(struct strbuf *out, int n)
{
	char number[QUANTITY_BYTES];

	strbuf_addf(out, "%s iteration%s", quantity_count(n, number), n == 1 ? "" : "s");
}

/* "1.61x faster than ZB" */
static void add_clause(struct strbuf *out, const struct comparison *comparison,
                       const struct comparison_speedup *speedup, const struct report_style *style)
{
	char number[QUANTITY_BYTES];
	double ratio = speedup->ratio;
	const char *name = comparison->schedules[speedup->over].name;

	if (speedup->low <= 1 && speedup->high >= 1 && speedup->low < speedup->high)
		strbuf_add(out, "within the spread of ");
	else if (fabs(ratio - 1) < SAME_RATIO)
		strbuf_add(out, "as fast as ");
	else if (ratio > 1)
		strbuf_addf(out, "%s faster than ", quantity_ratio(ratio, style, number));
	else
		strbuf_addf(out, "%s slower than ", quantity_ratio(1 / ratio, style, number));
	add_name(out, name);
}

static int compare_ratios(const void *a, const void *b)
{
	const struct comparison_speedup *x = *(const struct comparison_speedup *const *)a;
	const struct comparison_speedup *y = *(const struct comparison_speedup *const *)b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? 1 : -1;
	return x->over < y->over ? -1 : 1;
}

/* The clauses over every other schedule that finished, the largest gain first. */
static void add_clauses(struct strbuf *out, const struct comparison *comparison, size_t subject,
                        const struct report_style *style)
{
	const struct comparison_speedup **found = array_new(comparison->n_speedups, sizeof(*found));
	size_t n = 0;

	if (!found) {
		out->is_failed = 1;
		return;
	}
	for (size_t i = 0; i < comparison->n_speedups; i++)
		if (comparison->speedups[i].of == subject &&
		    isfinite(comparison->speedups[i].ratio))
			found[n++] = &comparison->speedups[i];
	qsort(found, n, sizeof(*found), compare_ratios);
	for (size_t i = 0; i < n && i < CLAUSES_MOST; i++) {
		strbuf_add(out, i ? ", " : ": ");
		add_clause(out, comparison, found[i], style);
	}
	if (n > CLAUSES_MOST)
		strbuf_addf(out, "; %zu more below", n - CLAUSES_MOST);
	free(found);
}

/* "ZB did not finish (interrupted after 512 of 1,200 iterations)." for every schedule that did not.
 */
static void add_unfinished(struct strbuf *out, const struct comparison *comparison)
{
	char number[QUANTITY_BYTES];

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];

		if (comparison_is_done(schedule))
			continue;
		strbuf_add_char(out, ' ');
		add_name(out, schedule->name);
		strbuf_addf(out, " did not finish (%.*s after %s of ",
		            (int)strcspn(schedule->status, ":"), schedule->status,
		            quantity_count(schedule->n_iterations, number));
		add_iterations(out, comparison->n_iterations_asked);
		strbuf_addf(out, "%s).", schedule->status + strcspn(schedule->status, ":"));
	}
}

static void add_finished(struct strbuf *out, const struct comparison *comparison, size_t subject,
                         const struct report_style *style)
{
	const struct comparison_schedule *schedule = &comparison->schedules[subject];
	char number[QUANTITY_BYTES];

	add_name(out, schedule->name);
	strbuf_add(out, " finishes the ");
	add_iterations(out, schedule->n_iterations);
	strbuf_addf(out, " in %s",
	            quantity_span(schedule->total_s, schedule->total_s, style, number));
	if (comparison->n_schedules == 1 && schedule->n_iterations > 1 &&
	    isfinite(schedule->p50_ms))
		strbuf_addf(out, ", half of them within %s",
		            quantity_duration(schedule->p50_ms, style, number));
	add_clauses(out, comparison, subject, style);
	strbuf_add_char(out, '.');
}

void report_headline(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out)
{
	struct strbuf text = {0};
	size_t subject = comparison_subject(comparison);

	if (comparison->n_schedules == 0)
		strbuf_add(&text, "Nothing was recorded.");
	else if (comparison_is_done(&comparison->schedules[subject]))
		add_finished(&text, comparison, subject, style);
	else if (!report_has_numbers(comparison))
		strbuf_add(&text, "No schedule came to an iteration.");
	else
		strbuf_add(&text, "No schedule finished: the numbers below cover only what was "
		                  "recorded and are not comparable.");
	add_unfinished(&text, comparison);
	report_sentence(out, TONE_STRONG, style, "%s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}
