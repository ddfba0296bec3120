/* page_simulated.c - a live comparison beside the same in virtual time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/beside.h"
#include "reports/page_dots.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

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

/* Percent by which more was measured than simulated; the first two rows are of the whole run. */
static void fill_dots(const struct page *page, struct page_dots_row *rows, double *values)
{
	const struct comparison *live = page->comparison, *simulated = page->simulated;

	for (size_t i = 0; i < live->n_events + 2; i++) {
		const char *label = i == 0 ? "total" : i == 1 ? "p50" : live->events[i - 2].label;

		snprintf(rows[i].label, PAGE_DOTS_BYTES, "%.100s", label);
		rows[i].wanted = 0;
		rows[i].values = &values[i * live->n_schedules];
		for (size_t s = 0; s < live->n_schedules; s++) {
			struct beside beside = i == 0 ? beside_total_s(live, simulated, s)
			                       : i == 1
			                               ? beside_p50_ms(live, simulated, s)
			                               : beside_event_ms(live, simulated, i - 2, s);

			values[i * live->n_schedules + s] = 100 * beside.error_ratio;
		}
	}
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	size_t n_rows = page->comparison->n_events + 2;
	struct page_dots_row *rows = array_new(n_rows, sizeof(*rows));
	double *values = array_new(n_rows * page->comparison->n_schedules, sizeof(*values));
	const struct page_dots dots = {
		.page = page,
		.label = "By how many percent more was measured than simulated",
		.wanted = "as simulated",
		.unit = "% more",
		.rows = rows,
		.n_rows = n_rows,
	};

	if (rows && values) {
		fill_dots(page, rows, values);
		if (page_dots_has_numbers(&dots))
			page_dots_draw(&dots, width, out);
	} else {
		out->is_failed = 1;
	}
	free(rows);
	free(values);
}

static void add_caption(const struct page *page, struct strbuf *out)
{
	struct strbuf key = {0};

	page_dots_key(page, &key);
	html_sentence(
		out, "caption",
		"The same scenario in virtual time: by how much more was measured, over the "
		"whole run and in the median iteration under each fault. Marks near zero: the "
		"simulator can be trusted with it. %s. A schedule that did not finish has no "
		"mark.",
		strbuf_text(&key));
	out->is_failed |= key.is_failed;
	strbuf_fini(&key);
}

void page_simulated(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	if (!page->simulated || comparison->n_schedules == 0)
		return;
	add_caption(page, out);
	page_figure(page, out, draw);
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
