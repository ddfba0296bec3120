/* kept_extras.c - checks and variants of a comparison into the store and back. */
#include "reports/kept_extras.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

static int fail_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int take_checks(struct kept_extras *kept, struct err *err)
{
	kept->checks = array_new(kept->n_checks, sizeof(*kept->checks));
	if (!kept->checks)
		return fail_memory(err);
	for (size_t i = 0; i < kept->n_checks; i++) {
		const struct stored_check *check = &kept->stored_checks[i];

		kept->checks[i] =
			(struct report_check){check->name, check->has_held, check->detail};
	}
	return 0;
}

static size_t find_schedule(const struct comparison *comparison, const char *name)
{
	size_t i = 0;

	while (i < comparison->n_schedules && strcmp(comparison->schedules[i].name, name) != 0)
		i++;
	return i;
}

/* Rows come by variant; numbers may have gaps where somebody has edited the file. */
static int take_variants(struct kept_extras *kept, const struct comparison *comparison,
                         struct err *err)
{
	size_t n_schedules = comparison->n_schedules, n = kept->n_stored_variants;
	int number = -1;

	kept->variants = array_new(n, sizeof(*kept->variants));
	kept->totals_s = array_new(n * n_schedules, sizeof(*kept->totals_s));
	if (!kept->variants || !kept->totals_s)
		return fail_memory(err);
	for (size_t i = 0; i < n * n_schedules; i++)
		kept->totals_s[i] = NAN;
	for (size_t i = 0; i < n; i++) {
		const struct stored_variant *row = &kept->stored_variants[i];
		size_t schedule = find_schedule(comparison, row->schedule);

		if (row->number != number) {
			kept->variants[kept->n_variants] = (struct report_variant){
				row->label, &kept->totals_s[kept->n_variants * n_schedules]};
			kept->n_variants++;
			number = row->number;
		}
		if (schedule < n_schedules)
			kept->totals_s[(kept->n_variants - 1) * n_schedules + schedule] =
				row->total_s;
	}
	return 0;
}

int kept_extras_read(struct store *store, const struct comparison *comparison,
                     struct kept_extras *out, struct err *err)
{
	struct kept_extras kept = {0};
	int rc = store_read_checks(store, comparison->comparison, &kept.stored_checks,
	                           &kept.n_checks, err);

	if (rc == 0)
		rc = store_read_variants(store, comparison->comparison, &kept.stored_variants,
		                         &kept.n_stored_variants, err);
	rc = rc ? rc : take_checks(&kept, err);
	rc = rc ? rc : take_variants(&kept, comparison, err);
	if (rc)
		kept_extras_fini(&kept);
	else
		*out = kept;
	return rc;
}

void kept_extras_fini(struct kept_extras *kept)
{
	stored_checks_fini(kept->stored_checks, kept->n_checks);
	stored_variants_fini(kept->stored_variants, kept->n_stored_variants);
	free(kept->checks);
	free(kept->variants);
	free(kept->totals_s);
	*kept = (struct kept_extras){0};
}

struct report_extras kept_extras_of(const struct kept_extras *kept,
                                    const struct comparison *simulated)
{
	return (struct report_extras){
		.variants = kept->variants,
		.n_variants = kept->n_variants,
		.checks = kept->checks,
		.n_checks = kept->n_checks,
		.simulated = simulated,
	};
}

/* Texts are borrowed for the time of the call. */
static void list(const struct comparison *comparison, const struct report_extras *extras,
                 struct stored_check *checks, struct stored_variant *variants)
{
	for (size_t i = 0; i < extras->n_checks; i++)
		checks[i] = (struct stored_check){
			.name = (char *)extras->checks[i].name,
			.has_held = extras->checks[i].has_held,
			.detail = (char *)extras->checks[i].detail,
		};
	for (size_t v = 0; v < extras->n_variants; v++)
		for (size_t s = 0; s < comparison->n_schedules; s++)
			variants[v * comparison->n_schedules + s] = (struct stored_variant){
				.number = (int)v,
				.label = (char *)extras->variants[v].label,
				.schedule = comparison->schedules[s].name,
				.total_s = extras->variants[v].total_s[s],
			};
}

int kept_extras_put(struct store *store, const struct comparison *comparison,
                    const struct report_extras *extras, struct err *err)
{
	size_t n_variants = extras->n_variants * comparison->n_schedules;
	struct stored_check *checks = array_new(extras->n_checks, sizeof(*checks));
	struct stored_variant *variants = array_new(n_variants, sizeof(*variants));
	int rc;

	if (checks && variants) {
		list(comparison, extras, checks, variants);
		rc = store_put_findings(store, comparison->comparison, checks, extras->n_checks,
		                        variants, n_variants, err);
	} else {
		rc = fail_memory(err);
	}
	free(checks);
	free(variants);
	return rc;
}
