/* page_passed.c - the table of what passed links while faults were in force there. */
#include <math.h>

#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

/* The unit stands behind the title here. */
static void add_head(const struct report_link_column *column, struct strbuf *out)
{
	const char *title = column->title;
	int n = 0;

	while (title[n] && title[n] != '\n')
		n++;
	html_head(out, "n", "%.*s%s%s", n, title, n > 0 ? ", " : "", title + n + 1);
}

/* Put a comma in front of what is not the first. */
static void begin_part(size_t start, struct strbuf *out)
{
	strbuf_add(out, out->length > start ? ", " : "");
}

/* "+30 ms ± 5 ms, 2 % lost, 1,000 Mbit/s" */
static void describe_asked(const struct comparison_link *link, struct strbuf *out)
{
	char text[QUANTITY_BYTES];
	size_t start = out->length;

	if (isfinite(link->delay_ms))
		strbuf_addf(out, "+%s", quantity_duration(link->delay_ms, &page_style, text));
	if (isfinite(link->jitter_ms))
		strbuf_addf(out, " ± %s", quantity_duration(link->jitter_ms, &page_style, text));
	if (isfinite(link->loss_ratio)) {
		begin_part(start, out);
		strbuf_addf(out, "%.4g %% lost", 100 * link->loss_ratio);
	}
	if (isfinite(link->rate_mbit_per_s)) {
		begin_part(start, out);
		strbuf_addf(out, "%s Mbit/s",
		            quantity_number(link->rate_mbit_per_s,
		                            quantity_decimals(link->rate_mbit_per_s), &page_style,
		                            text));
	}
}

static void add_row(const struct page *page, size_t i, size_t s, struct strbuf *out)
{
	const struct comparison_link *link = &page->comparison->links[i];
	struct strbuf asked = {0};
	char text[QUANTITY_BYTES];

	describe_asked(link, &asked);
	html_row(out);
	html_row_head(out, "", "%d→%d", link->from_stage, link->to_stage);
	html_cell(out, "", "%s", strbuf_text(&asked));
	html_cell(out, "", "%s", page->comparison->schedules[s].name);
	for (size_t c = 0; c < REPORT_LINK_COLUMNS; c++) {
		const struct report_link_column *column = &report_link_columns[c];
		double largest;

		if (report_link_has(page->comparison, c, &largest))
			html_cell(out, "n", "%s",
			          quantity_number(column->value(&link->passed[s]),
			                          column->decimals_most, &page_style, text));
	}
	html_row_end(out);
	out->is_failed |= asked.is_failed;
	strbuf_fini(&asked);
}

void page_passed(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	double largest;

	if (comparison->n_links == 0)
		return;
	html_details(out, "What passed the links meanwhile");
	html_table(out, "Faults of links as asked for and as measured, in profile time");
	html_head(out, "", "link");
	html_head(out, "", "asked for");
	html_head(out, "", "schedule");
	for (size_t c = 0; c < REPORT_LINK_COLUMNS; c++)
		if (report_link_has(comparison, c, &largest))
			add_head(&report_link_columns[c], out);
	html_rows(out);
	for (size_t i = 0; i < comparison->n_links; i++)
		for (size_t s = 0; s < comparison->n_schedules; s++)
			add_row(page, i, s, out);
	html_table_end(out);
	html_details_end(out);
}
