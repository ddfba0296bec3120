/* report_nightly.h - what is said of the last night of some scenarios. */
#ifndef REPORTS_REPORT_NIGHTLY_H
#define REPORTS_REPORT_NIGHTLY_H

#include "reports/nightly.h"
#include "reports/quantity.h"
#include "reports/style.h"

enum { NIGHTLY_DAY_BYTES = 11 };

/* One scenario. Borrowed. */
struct nightly_report {
	const char *title;
	const char *path;
	const char *mode, *transport, *host;
	const struct scenario *scenario;
	const struct comparison *night; /* NULL: it was not made */
	int64_t comparison;             /* of the night; 0: it was not made */
	bool has_failed;                /* not every run of the night came to its end */
	const struct nightly_history *history;
	const struct nightly_verdict *verdicts;
	size_t n_verdicts;
};

/* "regression"; of a state, for people and programs. */
const char *nightly_state_name(enum nightly_state state);

/* How many regressions were confirmed tonight. */
size_t nightly_count_regressions(const struct nightly_report *reports, size_t n_reports);

/* "2 metrics became slower, and a fresh run says the same." has_failed: not every run came to its
 * end. */
void nightly_answer(size_t n_regressions, bool has_failed, struct strbuf *out);

/* The parts of an iteration that may have become longer. */
enum { NIGHTLY_PARTS = 4 };
extern const struct nightly_part {
	enum nightly_metric metric;
	const char *name;
} nightly_parts[NIGHTLY_PARTS];

/* Decimals with which what each part has more is shown: those that suit the largest. */
int nightly_part_decimals(const double more[NIGHTLY_METRICS]);

/* Does it deserve a sentence of nightly_explain()? */
bool nightly_is_told(enum nightly_state state);

/* A verdict in the words of tables. The names are the history's. */
struct nightly_row {
	const char *schedule, *metric;
	char tonight[QUANTITY_BYTES], before[QUANTITY_BYTES], change[QUANTITY_BYTES];
	char since[NIGHTLY_DAY_BYTES]; /* "" where nothing changed */
};

struct nightly_row nightly_row_of(const struct nightly_report *report,
                                  const struct nightly_verdict *verdict,
                                  const struct report_style *style);

/* "p50_ms went from 330.1 to 350.0 (+6.0 %) with the night of 2026-01-31 …": where it comes from,
 * since when, and what a fresh run says. Only of a verdict with changes. */
void nightly_explain(const struct nightly_report *report, const struct nightly_verdict *verdict,
                     struct strbuf *out);

void report_nightly_terminal(const struct nightly_report *reports, size_t n_reports,
                             const struct report_style *style, struct strbuf *out);

/* One document: {"schema": 1, "regressions": n, "scenarios": [{"scenario", "path", "comparison",
 * "failed", "nights", "least_ratio", "metrics": [{"schedule", "metric", "state", "tonight",
 * "fresh", "outliers", "changes": [{"comparison", "created", "version", "before", "after", "p"}],
 * "more": {metric: number}}]}]} */
void report_nightly_json(const struct nightly_report *reports, size_t n_reports,
                         struct strbuf *out);

#endif
