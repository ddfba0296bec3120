/* report_internal.h - the sections of the terminal report; each ends with a line feed. */
#ifndef REPORTS_REPORT_INTERNAL_H
#define REPORTS_REPORT_INTERNAL_H

#include <stdbool.h>

#include "reports/display.h"
#include "reports/report.h"

enum { REPORT_NAME_COLUMNS = 14, REPORT_NAME_BYTES = 128, REPORT_LEVELS = 8 };

/* Has any schedule come to an iteration? If not, there is nothing to put into tables. */
bool report_has_numbers(const struct comparison *comparison);

/* What the comparison says in one sentence, and a second one for what did not finish. */
void report_headline(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out);

/* A row a schedule: total, p50, p95, samples/s, bubble, blocked, restarts; then what the columns
 * mean. */
void report_schedules(const struct comparison *comparison, const struct report_style *style,
                      struct strbuf *out);

/* Each schedule over each other. */
void report_speedups(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out);

/* The subject's speedups with their intervals and spread, and the control. Nothing without
 * repeats. */
/* "Re-planned: adaptra 9 times, first before iteration 16; hold never": whether those that may
 * adapt did. "" where none may. */
void report_replans(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out);

void report_repeats(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out);

/* Is it a speedup of the subject's over pairs that give an interval? */
bool report_is_repeated(const struct comparison *comparison,
                        const struct comparison_speedup *speedup);

/* What the control says of chance, a sentence behind "Control: ". */
void report_control_text(const struct comparison_control *control, const struct report_style *style,
                         struct strbuf *out);

void report_events(const struct comparison *comparison, const struct report_style *style,
                   struct strbuf *out);

/* What live runs were like: how late ops were seen, who else used the machine. Nothing without. */
void report_facts(const struct comparison *comparison, const struct report_style *style,
                  struct strbuf *out);

/* Of a run with faults outside of its workers: what packets met there, how late faults began, and
 * how soon dead RNICs were noticed and overcome; parts of a sentence. Nothing without. */
void report_lab(const struct comparison_facts *facts, const struct report_style *style,
                struct strbuf *out);

/* Of live runs: what faults of links asked for, beside what passed there. Nothing without. */
void report_links(const struct comparison *comparison, const struct report_style *style,
                  struct strbuf *out);

/* The columns of what passed a link, of which a report shows those that have a number in any row:
 * a title whose second line is the unit, and the value in it; what was asked for, NULL where
 * nothing could be. */
struct report_link_column {
	const char *title;
	double (*value)(const struct comparison_passed *passed);
	double (*asked)(const struct comparison_link *link);
	int decimals_most;
};
enum { REPORT_LINK_COLUMNS = 8 };
extern const struct report_link_column report_link_columns[REPORT_LINK_COLUMNS];

/* Has any row of the column a number? *largest_out is the largest. */
bool report_link_has(const struct comparison *comparison, size_t column, double *largest_out);

/* Of runs over RDMA: the RNICs, and what outages they outlast, beside the scenario's. */
void report_rdma(const struct comparison *comparison, double speed,
                 const struct report_style *style, struct strbuf *out);

/* That sentence, of the settings of a run; nothing where they do not say it. */
void report_rdma_add(const char *settings_json, double speed, struct strbuf *out);

/* First and last loss, their curve, and whether all schedules have the same. Nothing without. */
void report_losses(const struct comparison *comparison, const struct report_style *style,
                   struct strbuf *out);

/* Every schedule and fault event measured beside simulated. */
void report_simulated(const struct comparison *comparison, const struct comparison *simulated,
                      const struct report_style *style, struct strbuf *out);

void report_variants(const struct comparison *comparison, const struct report_variant *variants,
                     size_t n_variants, const struct report_style *style, struct strbuf *out);

/* The schedule's name as tables show it: at most REPORT_NAME_COLUMNS wide, longer ones cut in their
 * middle, since csv:FILE names differ at their ends. out holds REPORT_NAME_BYTES; returns out. */
char *report_name(const struct comparison *comparison, size_t schedule,
                  const struct report_style *style, char *out);

/* Columns that names take in front of a picture. */
int report_gutter(const struct comparison *comparison, const struct report_style *style);

/* One character of a picture: height of REPORT_LEVELS, 0 is blank. */
const char *report_level(int height, const struct report_style *style);

/* Did a restart of the schedule strike in these iterations? */
bool report_has_restart(const struct comparison_schedule *schedule, int first, int last);

/* The mark of a restart. */
const char *report_restart_mark(const struct report_style *style);

/* Wrapped text in a tone, from the first column. */
void report_sentence(struct strbuf *out, enum tone tone, const struct report_style *style,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
