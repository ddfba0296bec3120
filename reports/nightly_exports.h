/* nightly_exports.h - the last night of some scenarios for other programs. */
#ifndef REPORTS_NIGHTLY_EXPORTS_H
#define REPORTS_NIGHTLY_EXPORTS_H

#include "reports/report_nightly.h"

/* JUnit XML: a suite a scenario, a case a judged metric of a schedule. A confirmed or a known
 * regression is a failure, a run that did not end an error, too short a history is skipped. */
void nightly_junit(const struct nightly_report *reports, size_t n_reports, struct strbuf *out);

/* OpenMetrics text of the last night alone: iteration times after warm-up of the first repeat,
 * steady speedups with their intervals, faults asked for, regressions confirmed. */
void nightly_metrics(const struct nightly_report *reports, size_t n_reports, struct strbuf *out);

/* All nights for change-point tools: a column a judged metric of a schedule of a scenario. */
void nightly_csv(const struct nightly_report *reports, size_t n_reports, struct strbuf *out);

/* The scenario's file without folder and ".lua"; out is added to. */
void nightly_short_name(const struct nightly_report *report, struct strbuf *out);

#endif
