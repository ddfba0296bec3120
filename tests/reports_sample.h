/* reports_sample.h - comparisons made by hand, for the tests of reports. */
#ifndef TESTS_REPORTS_SAMPLE_H
#define TESTS_REPORTS_SAMPLE_H

#include <stdbool.h>

#include "reports/comparison.h"

/* A run like the large-scale trace: 1,200 iterations, nine slow-link events, a dead RNIC at 1030;
 * three schedules. The numbers are made up, the events and what was published are those of the
 * trace. comparison_fini() frees it. */
struct comparison sample_trace(void);

/* The same with that many schedules, whose names are long. */
struct comparison sample_long_names(size_t n_schedules);

/* One schedule, n_iterations of which n_complete are complete, n_repeats repeats, no events. */
struct comparison sample_single(int n_iterations, int n_complete);

/* Random shape and numbers, some of them missing, with hostile strings: no report may break on it.
 */
struct comparison sample_random(uint64_t seed);

/* 0 to n - 1, by chance; state may start as any number but 0. */
int sample_below(uint64_t *state, int n);

/* Columns of the widest line of text on a terminal, colours left out, by the C library's count and
 * not by that of reports. −1: there is a control character or something that is not UTF-8. */
int sample_widest_line(const char *text);

/* A check that text has lines and none of them is wider than columns. */
bool sample_fits(const char *text, int columns, const char *name, ...)
	__attribute__((format(printf, 3, 4)));

#endif
