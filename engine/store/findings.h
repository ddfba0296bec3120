/* findings.h - what was found about a comparison once its runs had ended: which of the scenario's
 * checks held, and its totals under other options. Part of store.h. */
#ifndef ENGINE_STORE_FINDINGS_H
#define ENGINE_STORE_FINDINGS_H

#include "engine/store/store.h"

/* Read back, the texts are the caller's; free them with stored_checks_fini(). */
struct stored_check {
	char *name;
	bool has_held;
	char *detail; /* why it could not be told; "" */
};

/* One schedule under one variant; as above. */
struct stored_variant {
	int number; /* of the variant, from 0, in the order of the scenario */
	char *label;
	char *schedule;
	double total_s; /* NaN: it did not finish */
};

/* Both, or nothing; once for a comparison. */
int store_put_findings(struct store *store, int64_t comparison, const struct stored_check *checks,
                       size_t n_checks, const struct stored_variant *variants, size_t n_variants,
                       struct err *err);

/* In the scenario's order; none of a comparison that was made before they were kept. */
int store_read_checks(struct store *store, int64_t comparison, struct stored_check **out,
                      size_t *n_out, struct err *err);
void stored_checks_fini(struct stored_check *checks, size_t n_checks);

int store_read_variants(struct store *store, int64_t comparison, struct stored_variant **out,
                        size_t *n_out, struct err *err);
void stored_variants_fini(struct stored_variant *variants, size_t n_variants);

#endif
