/* reports_live_sample.h - live comparisons made by hand, for the tests of reports. */
#ifndef TESTS_REPORTS_LIVE_SAMPLE_H
#define TESTS_REPORTS_LIVE_SAMPLE_H

#include "reports/comparison.h"

enum { LIVE_ITERATIONS = 60 };

/* A run like the smoke test under the first n_schedules of five schedules: losses that fall and are
 * equal, facts, two fault events. With is_live false the same in virtual time: 1 % to 5 % faster,
 * and the last event of 1f1b 20 %. comparison_fini() frees it. */
struct comparison sample_smoke(size_t n_schedules, bool is_live);

/* Give a comparison losses and facts of random shape and size. */
void sample_add_random_live(struct comparison *comparison, uint64_t seed);

#endif
