/* history_page.h - the histories of some scenarios as one HTML page: read from the store, then
 * written. */
#ifndef REPORTS_HISTORY_PAGE_H
#define REPORTS_HISTORY_PAGE_H

#include "engine/store/store.h"
#include "reports/report_nightly.h"

/* One metric of one schedule over all nights, judged as if each were the metric of interest. */
struct history_chart {
	struct nightly_verdict verdict;
	char **causes; /* [verdict.n_changes]: what else was new that night; "": nothing known */
};

/* Nights that do not count, for they were made elsewhere or of something else. */
struct history_past {
	int n_nights;
	char *first, *last; /* when the first and the last were made */
	char *differences;  /* from tonight; "": not known */
};

struct history_scenario {
	const struct nightly_report *report; /* borrowed */
	struct history_chart *charts;        /* by schedule, then by metric */
	size_t n_charts;
	struct history_past *pasts;
	size_t n_pasts;
};

struct history_page {
	struct history_scenario *scenarios;
	size_t n_scenarios;
};

/* Judge every metric and read what stands beside it. history_page_fini() on success. */
int history_page_read(struct history_page *page, struct store *store,
                      const struct nightly_report *reports, size_t n_reports, struct err *err);
void history_page_fini(struct history_page *page);

/* The whole page. Out of memory shows in out->is_failed. */
void history_page_write(const struct history_page *page, struct strbuf *out);

#endif
