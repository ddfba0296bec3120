/* page_simulated.c - a live comparison beside the same in virtual time. */
#include <math.h>

#include "reports/beside.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

/* Beyond these a difference is shown as one: a little under a total's, of a single event's p50
 * more, as in the terminal. */
static const double TOTAL_ERROR = 0.05, EVENT_ERROR = 0.1;

static void add_cells(struct beside beside, double error_most, struct strbuf *out)
{
	double largest =
		fmax(quantity_largest(&beside.measured, 1), quantity_largest(&beside.simulated, 1));
	int decimals = quantity_decimals(largest);
	char text[QUANTITY_BYTES];

	html_cell(out, "n", "%s", quantity_number(beside.measured, decimals, &page_style, text));
	html_cell(out, "n faint", "%s",
	          quantity_number(beside.simulated, decimals, &page_style, text));
	if (isfinite(beside.error_ratio) && fabs(beside.error_ratio) < 1e6)
		html_cell(out, fabs(beside.error_ratio) > error_most ? "n bad" : "n", "%+.1f %%",
		          100 * beside.error_ratio);
	else
		html_cell(out, "n faint", "—");
}

static void add_row(const struct page *page, const char *label,
                    struct beside (*beside_of)(const struct comparison *live,
                                               const struct comparison *simulated, size_t schedule),
                    struct strbuf *out)
{
	html_row(out);
	html_row_head(out, "strong", "%s", label);
	for (size_t i = 0; i < page->comparison->n_schedules; i++)
		add_cells(beside_of(page->comparison, page->simulated, i), TOTAL_ERROR, out);
	html_row_end(out);
}

static void add_event(const struct page *page, size_t event, struct strbuf *out)
{
	html_row(out);
	html_row_head(out, "", "%s, p50, ms", page->comparison->events[event].label);
	for (size_t i = 0; i < page->comparison->n_schedules; i++)
		add_cells(beside_event_ms(page->comparison, page->simulated, event, i), EVENT_ERROR,
		          out);
	html_row_end(out);
}

void page_simulated(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	if (!page->simulated || comparison->n_schedules == 0)
		return;
	html_sentence(
		out, "caption",
		"The same scenario in virtual time. Small differences mean that the simulator "
		"can be trusted with it; a schedule that did not finish has none.");
	html_table(out, "Measured beside simulated");
	html_head(out, "", "what");
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		html_head(out, "n", "%s, live", comparison->schedules[i].name);
		html_head(out, "n", "simulated");
		html_head(out, "n", "difference");
	}
	html_rows(out);
	add_row(page, "total, s", beside_total_s, out);
	add_row(page, "p50, ms", beside_p50_ms, out);
	for (size_t e = 0; e < comparison->n_events; e++)
		add_event(page, e, out);
	html_table_end(out);
}
