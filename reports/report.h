/* report.h - what a person or a program reads: text made from results. Nothing here runs anything
 * or prints. No line is wider than the style's columns. Out of memory shows in out->is_failed. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include <stdbool.h>

#include "engine/base/strbuf.h"
#include "engine/schedule/plan.h"
#include "reports/comparison.h"
#include "reports/style.h"

/* Totals of the same scenario under other options, for the lines below the main table. */
struct report_variant {
	const char *label;     /* "delay model latency" */
	const double *total_s; /* [comparison.n_schedules]; NaN: none */
};

/* A claim of the scenario, and whether it held. */
struct report_check {
	const char *name;
	bool has_held;
	const char *detail; /* why it could not be told; "" */
};

/* What a comparison is shown with. Zeroed: nothing. */
struct report_extras {
	const struct report_variant *variants;
	size_t n_variants;
	const struct report_check *checks;
	size_t n_checks;
	const struct comparison
		*simulated; /* the same in virtual time, beside a live one; NULL: none */
};

/* The first screen of a comparison, without its checks. */
void report_terminal(const struct comparison *comparison, const struct report_extras *extras,
                     const struct report_style *style, struct strbuf *out);

/* Which checks held; nothing where there are none. They stand apart because a check may have to be
 * stopped, and the comparison is to be seen all the same. */
void report_checks(const struct report_check *checks, size_t n_checks,
                   const struct report_style *style, struct strbuf *out);

/* DESIGN.md section 9's document. */
void report_json(const struct comparison *comparison, const struct report_extras *extras,
                 struct strbuf *out);

/* Iteration times over the run, a small plot a schedule, faults marked below. */
void report_picture(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out);

/* What `plan` shows of one schedule; filled by the caller. Arrays of n_stages; the last stage's
 * slack and tolerated delay mean nothing. */
struct plan_report {
	const char *scenario_title;
	const char *schedule;
	const char *plane;
	int iteration; /* −1: the initial plan */
	const struct plan *plan;
	const struct plan_times *times;    /* for which it was timed: how long each op takes */
	const int64_t *tolerated_delay_ns; /* −1: beyond what was tried */
	const char *warning;               /* of plan_verify(); "" */
};

void report_plan_terminal(const struct plan_report *plan, const struct report_style *style,
                          struct strbuf *out);
void report_plan_json(const struct plan_report *plan, struct strbuf *out);

/* The plan over time: a row a stage, the op that fills most of each column, idle time as dots. */
void report_plan_picture(const struct plan_report *plan, const struct report_style *style,
                         struct strbuf *out);

#endif
