/* findings.c - what was found about a comparison once its runs had ended. */
#include "engine/store/findings.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "engine/store/row_internal.h"
#include "engine/store/select_internal.h"

static int insert_checks(struct store *store, int64_t comparison, const struct stored_check *checks,
                         size_t n_checks, struct err *err)
{
	sqlite3_stmt *kept = NULL;
	int rc = 0;

	for (size_t i = 0; i < n_checks && rc == 0; i++) {
		struct row row = {0};

		row_int(&row, "comparison", comparison);
		row_int(&row, "number", (int64_t)i);
		row_text(&row, "name", checks[i].name);
		row_int(&row, "has_held", checks[i].has_held);
		row_text(&row, "detail", checks[i].detail);
		rc = row_insert(&row, store, "check_result", &kept, err);
	}
	sqlite3_finalize(kept);
	return rc;
}

static int insert_variants(struct store *store, int64_t comparison,
                           const struct stored_variant *variants, size_t n_variants,
                           struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n_variants && rc == 0; i++) {
		struct row row = {0};

		row_int(&row, "comparison", comparison);
		row_int(&row, "number", variants[i].number);
		row_text(&row, "label", variants[i].label);
		row_text(&row, "schedule", variants[i].schedule);
		row_real(&row, "total_s", variants[i].total_s);
		rc = row_insert(&row, store, "variant_total", NULL, err);
	}
	return rc;
}

int store_put_findings(struct store *store, int64_t comparison, const struct stored_check *checks,
                       size_t n_checks, const struct stored_variant *variants, size_t n_variants,
                       struct err *err)
{
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	rc = insert_checks(store, comparison, checks, n_checks, err);
	if (rc == 0)
		rc = insert_variants(store, comparison, variants, n_variants, err);
	return batch_end_alone(store, rc, err);
}

static int read_check(sqlite3_stmt *stmt, void *item)
{
	struct stored_check *check = item;

	*check = (struct stored_check){
		.name = column_text(stmt, 0),
		.has_held = sqlite3_column_int(stmt, 1) != 0,
		.detail = column_text(stmt, 2),
	};
	return check->name && check->detail ? 0 : -ENOMEM;
}

static void check_fini(void *item)
{
	free(((struct stored_check *)item)->name);
	free(((struct stored_check *)item)->detail);
}

static const struct row_kind check_rows = {
	.table = "check_result",
	.item_bytes = sizeof(struct stored_check),
	.read = read_check,
	.fini = check_fini,
};

void stored_checks_fini(struct stored_check *checks, size_t n_checks)
{
	rows_fini(&check_rows, checks, n_checks);
}

int store_read_checks(struct store *store, int64_t comparison, struct stored_check **out,
                      size_t *n_out, struct err *err)
{
	const struct select select = {
		"SELECT name, has_held, detail FROM check_result WHERE comparison = ?1"
		" ORDER BY number",
		&comparison,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &check_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

static int read_variant(sqlite3_stmt *stmt, void *item)
{
	struct stored_variant *variant = item;
	bool is_damaged = false;

	*variant = (struct stored_variant){
		.number = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.label = column_text(stmt, 1),
		.schedule = column_text(stmt, 2),
		.total_s = sqlite3_column_type(stmt, 3) == SQLITE_NULL
	                           ? NAN
	                           : sqlite3_column_double(stmt, 3),
	};
	return variant->label && variant->schedule ? row_check(is_damaged) : -ENOMEM;
}

static void variant_fini(void *item)
{
	free(((struct stored_variant *)item)->label);
	free(((struct stored_variant *)item)->schedule);
}

static const struct row_kind variant_rows = {
	.table = "variant_total",
	.item_bytes = sizeof(struct stored_variant),
	.read = read_variant,
	.fini = variant_fini,
};

void stored_variants_fini(struct stored_variant *variants, size_t n_variants)
{
	rows_fini(&variant_rows, variants, n_variants);
}

int store_read_variants(struct store *store, int64_t comparison, struct stored_variant **out,
                        size_t *n_out, struct err *err)
{
	const struct select select = {
		"SELECT number, label, schedule, total_s FROM variant_total"
		" WHERE comparison = ?1 ORDER BY number, schedule",
		&comparison,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &variant_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}
