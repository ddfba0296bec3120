/* page_decisions.c - what was decided during the runs, in words: marks alone say little to a
 * keyboard or a printer. */
#include "reports/page_internal.h"
#include "reports/quantity.h"

enum { ROWS_MOST = 200 };

static size_t count(const struct page *page)
{
	size_t n = 0;

	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		n += page->runs[s].source.n_decisions;
	return n;
}

static void add_row(const char *schedule, const struct stored_decision *decision,
                    struct strbuf *out)
{
	char number[QUANTITY_BYTES];

	html_row(out);
	html_row_head(out, "", "%s", schedule);
	html_cell(out, "n", "%s", quantity_count(decision->iteration, number));
	html_cell(out, "", "%s", decision->kind);
	html_cell(out, "text", "%s", decision->reason);
	html_cell(out, "text faint", "%s", decision->warmups);
	html_row_end(out);
}

void page_decisions(const struct page *page, struct strbuf *out)
{
	size_t n = count(page), n_rows = 0;

	if (n == 0)
		return;
	html_details(out, "The decisions, one by one");
	html_table(out, "Decisions of every schedule");
	html_head(out, "", "schedule");
	html_head(out, "n", "before iteration");
	html_head(out, "", "decision");
	html_head(out, "", "reason");
	html_head(out, "", "warm-ups from then on, by stage");
	html_rows(out);
	for (size_t s = 0; s < page->comparison->n_schedules; s++)
		for (size_t i = 0; i < page->runs[s].source.n_decisions && n_rows < ROWS_MOST;
		     i++) {
			add_row(page->comparison->schedules[s].name,
			        &page->runs[s].source.decisions[i], out);
			n_rows++;
		}
	html_table_end(out);
	if (n_rows < n)
		html_sentence(out, "dim",
		              "The first %zu of %zu; the database's table decision has "
		              "them all.",
		              n_rows, n);
	html_details_end(out);
}
