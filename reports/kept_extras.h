/* kept_extras.h - checks and variants of a comparison, into the store and back for reports. */
#ifndef REPORTS_KEPT_EXTRAS_H
#define REPORTS_KEPT_EXTRAS_H

#include "engine/store/store.h"
#include "reports/report.h"

/* What the store keeps of a comparison beside its runs. */
struct kept_extras {
	struct stored_check *stored_checks;
	struct stored_variant *stored_variants;
	size_t n_stored_variants;
	struct report_check *checks;
	size_t n_checks;
	struct report_variant *variants;
	double *totals_s;
	size_t n_variants;
};

/* Nothing of one that was put together of runs. kept_extras_fini() on success. */
int kept_extras_read(struct store *store, const struct comparison *comparison,
                     struct kept_extras *out, struct err *err);
void kept_extras_fini(struct kept_extras *kept);

/* For reports; borrowed from kept. */
struct report_extras kept_extras_of(const struct kept_extras *kept,
                                    const struct comparison *simulated);

/* Put what was found about a comparison into the store, for kept_extras_read(). */
int kept_extras_put(struct store *store, const struct comparison *comparison,
                    const struct report_extras *extras, struct err *err);

#endif
