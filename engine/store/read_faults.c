/* read_faults.c - reads back when faults were in force. */
#include <limits.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/store/store_internal.h"

static const char select_faults[] =
	"SELECT fault, f.event, kind, coalesce(label, kind), from_stage, to_stage, attempt,"
	" asked_ns, applied_ns, cleared_ns, measured_ns, n_messages"
	" FROM fault_applied JOIN fault f USING (run, fault) LEFT JOIN event e USING (run, "
	"event)"
	" WHERE run = ?1 ORDER BY applied_ns, attempt, f.event, min(from_stage, to_stage),"
	" max(from_stage, to_stage), fault";

void stored_faults_fini(struct stored_fault *faults, size_t n_faults)
{
	for (size_t i = 0; i < n_faults; i++) {
		free(faults[i].kind);
		free(faults[i].label);
	}
	free(faults);
}

static int read_fault(struct store *store, sqlite3_stmt *stmt, struct stored_fault *fault,
                      struct err *err)
{
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
	};
	if (!fault->kind || !fault->label)
		return store_fail_memory(store, err);
	return is_damaged ? store_fail_damaged(store, "fault", err) : 0;
}

int store_read_faults(struct store *store, int64_t run, struct stored_fault **out, size_t *n_out,
                      struct err *err)
{
	struct stored_fault *faults = NULL, *grown;
	size_t n = 0, capacity = 0;
	sqlite3_stmt *stmt;
	int rc = store_select(store, select_faults, &run, 1, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		grown = array_grow(faults, &capacity, n + 1, sizeof(*faults));
		if (!grown) {
			rc = store_fail_memory(store, err);
			break;
		}
		faults = grown;
		rc = read_fault(store, stmt, &faults[n++], err);
		if (rc)
			break;
	}
	sqlite3_finalize(stmt);
	if (rc) {
		stored_faults_fini(faults, n);
		return rc;
	}
	*out = faults;
	*n_out = n;
	return 0;
}
