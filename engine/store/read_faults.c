/* read_faults.c - reads back when faults were in force. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "engine/store/select_internal.h"

static const char select_faults[] =
	"SELECT fault, f.event, kind, coalesce(label, kind), from_stage, to_stage, attempt,"
	" asked_ns, applied_ns, cleared_ns, measured_ns, n_messages, delay_ns"
	" FROM fault_applied JOIN fault f USING (run, fault) LEFT JOIN event e USING (run, "
	"event)"
	" WHERE run = ?1 ORDER BY applied_ns, attempt, f.event, min(from_stage, to_stage),"
	" max(from_stage, to_stage), fault";

static int read_fault(sqlite3_stmt *stmt, void *item)
{
	struct stored_fault *fault = item;
	bool is_damaged = false;

	*fault = (struct stored_fault){
		.fault = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.event = (int)column_int(stmt, 1, -1, INT_MAX, &is_damaged),
		.kind = column_text(stmt, 2),
		.label = column_text(stmt, 3),
		.from_stage = (int)column_int(stmt, 4, 0, INT_MAX, &is_damaged),
		.to_stage = (int)column_int(stmt, 5, 0, INT_MAX, &is_damaged),
		.attempt = (int)column_int(stmt, 6, 0, INT_MAX, &is_damaged),
		.asked_ns = column_int64_or_none(stmt, 7),
		.applied_ns = column_int64_or_none(stmt, 8),
		.cleared_ns = column_int64_or_none(stmt, 9),
		.measured_ns = column_int64_or_none(stmt, 10),
		.n_messages = column_int(stmt, 11, 0, INT64_MAX, &is_damaged),
		.delay_ns = column_int64_or_none(stmt, 12),
	};
	if (!fault->kind || !fault->label)
		return -ENOMEM;
	return row_check(is_damaged);
}

static void fault_fini(void *item)
{
	struct stored_fault *fault = item;

	free(fault->kind);
	free(fault->label);
}

static const struct row_kind fault_rows = {
	.table = "fault",
	.item_bytes = sizeof(struct stored_fault),
	.read = read_fault,
	.fini = fault_fini,
};

void stored_faults_fini(struct stored_fault *faults, size_t n_faults)
{
	rows_fini(&fault_rows, faults, n_faults);
}

int store_read_faults(struct store *store, int64_t run, struct stored_fault **out, size_t *n_out,
                      struct err *err)
{
	const struct select select = {select_faults, &run, 1};
	struct rows rows;
	int rc = select_rows(store, &select, &fault_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}
