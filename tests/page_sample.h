/* page_sample.h - what a page shows beside its comparison, made by chance. */
#ifndef TESTS_PAGE_SAMPLE_H
#define TESTS_PAGE_SAMPLE_H

#include "reports/page.h"

/* Runs for the comparison: ops, faults and decisions that may or may not make sense, with hostile
 * strings; some have none. page_fini() frees them. */
struct page sample_page(const struct comparison *comparison, const struct comparison *simulated,
                        uint64_t seed);

/* Ops of one iteration, every microbatch through every stage and back, one after the other; each
 * message takes message_ns. The caller frees ops. */
struct page_iteration sample_iteration(int n_stages, int n_microbatches, int64_t message_ns);

#endif
