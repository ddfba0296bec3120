/* history_page_internal.h - what the files that write the page of histories share. */
#ifndef REPORTS_HISTORY_PAGE_INTERNAL_H
#define REPORTS_HISTORY_PAGE_INTERNAL_H

#include "reports/history_page.h"

/* How a metric is shown. */
struct history_metric {
	const char *title;
	const char *unit;
	double scale; /* from what is stored to the unit */
};

const struct history_metric *history_metric_of(enum nightly_metric metric);

/* The small picture of one metric: its nights, levels, changes and lone spikes. */
void history_chart_draw(const struct nightly_history *history, const struct history_chart *chart,
                        struct strbuf *out);

/* A table of the changes of one scenario: since when, by how much, of what and beside what. */
void history_changes(const struct history_scenario *scenario, struct strbuf *out);

/* The last nights as numbers. */
void history_nights(const struct history_scenario *scenario, struct strbuf *out);

#endif
