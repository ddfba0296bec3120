/* page_dots.h - numbers of every schedule beside what they should be: a row a thing, a mark a
 * schedule. */
#ifndef REPORTS_PAGE_DOTS_H
#define REPORTS_PAGE_DOTS_H

#include "reports/page.h"

enum { PAGE_DOTS_BYTES = 160 };

struct page_dots_row {
	char label[PAGE_DOTS_BYTES];
	double wanted;        /* an upright line; NaN: none */
	const double *values; /* [n_schedules]; NaN: no mark */
};

struct page_dots {
	const struct page *page;
	const char *label;  /* what there is to see */
	const char *wanted; /* what the line is */
	const char *unit;   /* behind a number and at the axis: "ms more" */
	const struct page_dots_row *rows;
	size_t n_rows;
};

/* Rows without a number are left out. */
void page_dots_draw(const struct page_dots *dots, double width, struct strbuf *out);

/* Is there any number? */
bool page_dots_has_numbers(const struct page_dots *dots);

/* "◇ 1f1b, □ zb": which mark is whose. */
void page_dots_key(const struct page *page, struct strbuf *out);

#endif
