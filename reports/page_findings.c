/* page_findings.c - what was found beyond the runs: totals under other options, and which of the
 * scenario's checks held. */
#include <math.h>
#include <string.h>

#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

static double largest_total(const struct page *page)
{
	const struct report_extras *extras = &page->extras;
	size_t n = page->comparison->n_schedules;
	double largest = 0;

	for (size_t i = 0; i < extras->n_variants; i++)
		largest = fmax(largest, quantity_largest(extras->variants[i].total_s, n));
	for (size_t s = 0; s < n; s++)
		if (isfinite(page->comparison->schedules[s].total_s))
			largest = fmax(largest, page->comparison->schedules[s].total_s);
	return largest;
}

static void add_total(double total_s, double largest_s, struct strbuf *out)
{
	char text[QUANTITY_BYTES];

	html_cell(out, isfinite(total_s) ? "n" : "n faint", "%s",
	          quantity_span(total_s, largest_s, &page_style, text));
}

/* What ran first, to compare with. */
static void add_itself(const struct page *page, double largest_s, struct strbuf *out)
{
	html_row(out);
	html_row_head(out, "label strong", "as it ran");
	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		add_total(page->comparison->schedules[s].total_s, largest_s, out);
	html_row_end(out);
}

void page_variants(const struct page *page, struct strbuf *out)
{
	const struct report_extras *extras = &page->extras;
	double largest_s = largest_total(page);

	if (extras->n_variants == 0)
		return;
	html_sentence(out, "caption",
	              "Total time in virtual time under other options of the script%s.",
	              strcmp(page->comparison->mode, "live") == 0 ? "; as it ran is measured" : "");
	html_table(out, "Totals under other options");
	html_head(out, "", "options");
	for (size_t s = 0; s < page->comparison->n_schedules; s++) {
		char name[REPORT_NAME_BYTES];

		html_head(out, "n", "%s", page_name(page, s, name));
	}
	html_rows(out);
	add_itself(page, largest_s, out);
	for (size_t i = 0; i < extras->n_variants; i++) {
		html_row(out);
		html_row_head(out, "label", "%s", extras->variants[i].label);
		for (size_t s = 0; s < page->comparison->n_schedules; s++)
			add_total(extras->variants[i].total_s[s], largest_s, out);
		html_row_end(out);
	}
	html_table_end(out);
}

void page_checks(const struct page *page, struct strbuf *out)
{
	const struct report_extras *extras = &page->extras;

	if (extras->n_checks == 0)
		return;
	html_table(out, "Checks of the scenario");
	html_head(out, "", "verdict");
	html_head(out, "", "check");
	html_head(out, "", "why it could not be told");
	html_rows(out);
	for (size_t i = 0; i < extras->n_checks; i++) {
		const struct report_check *check = &extras->checks[i];

		html_row(out);
		html_cell(out, check->has_held ? "good" : "bad", "%s",
		          check->has_held ? "✓ held" : "✗ failed");
		html_row_head(out, "label", "%s", check->name);
		html_cell(out, "text", "%s", check->detail);
		html_row_end(out);
	}
	html_table_end(out);
}
