/* page.h - a comparison as one HTML page: read from the store, then written. */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include "engine/store/store.h"
#include "reports/comparison.h"
#include "reports/report.h"
#include "reports/trace_source.h"

/* One iteration of a run, op by op. */
struct page_iteration {
	int iteration;
	int64_t start_ns, duration_ns;
	int64_t compute_ns, wait_ns, blocked_ns; /* sums, as in struct record_iteration */
	int64_t transfer_ns; /* the part of wait_ns in which the message waited for was under way */
	struct record_op *ops;
	size_t n_ops; /* 0: there is no such iteration */
};

/* Which ones are drawn: the first healthy one after warm-up, and one from the middle of the fault
 * under which the schedules are furthest apart. */
enum page_kind { PAGE_HEALTHY, PAGE_FAULTY };
enum { PAGE_KINDS = PAGE_FAULTY + 1 };

/* What a page shows of a schedule beyond its numbers; of its first run. Zeroed: nothing. */
struct page_run {
	struct trace_source source;
	struct page_iteration chosen[PAGE_KINDS];
};

struct page {
	const struct comparison *comparison; /* borrowed */
	const struct comparison *simulated;  /* beside a live one; NULL: none; borrowed */
	struct report_extras extras;         /* its checks and variants; borrowed */
	struct page_run *runs;               /* [comparison->n_schedules] */
	size_t event;                        /* of the faulty iteration; n_events: of none */
};

/* Read what the page needs beyond the comparison and its extras. page_fini() on success. */
int page_read(struct page *page, struct store *store, const struct comparison *comparison,
              const struct report_extras *extras, struct err *err);
void page_fini(struct page *page);

/* Of an iteration's waiting, the part in which the message that a stage waited for was under way; a
 * sum over stages and replicas. -ENOMEM. */
int page_transfer(const struct page_iteration *iteration, const struct stored_run *run,
                  int64_t *ns_out, struct err *err);

/* The whole page. Out of memory shows in out->is_failed. */
void page_write(const struct page *page, struct strbuf *out);

#endif
