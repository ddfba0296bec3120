/* read_faults.c - reads back when faults were in force. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "engine/store/select_internal.h"

/* What passed, and what was asked for beside it. */
static const char select_faults[] =
	"SELECT fault, f.event, kind, coalesce(label, kind), from_stage, to_stage, attempt,"
	" asked_ns, applied_ns, cleared_ns, measured_ns, n_messages, delay_ns,"
	" coalesce(delay_model, ''), jitter_ns, rate_bits_per_s, loss_ratio,"
	" printf('%s %s %s %s %s to %s %s %s %s %s', start_iteration, start_ns, start_stage,"
	" start_op, start_microbatch, end_iteration, end_ns, end_stage, end_op, end_microbatch),"
	" measured_p50_ns, measured_p95_ns, payload_bytes, busy_ns, n_packets, n_lost,"
	" packet_delay_ns, n_resent"
	" FROM fault_applied JOIN fault f USING (run, fault) LEFT JOIN event e USING (run, event)"
	" WHERE run = ?1 ORDER BY applied_ns, attempt, f.event, min(from_stage, to_stage),"
	" max(from_stage, to_stage), fault";

static double column_ratio(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
	               ? NAN
	               : sqlite3_column_double(stmt, column);
}

static struct record_traffic read_traffic(sqlite3_stmt *stmt, int column)
{
	return (struct record_traffic){
		.extra_p50_ns = column_int64_or_none(stmt, column),
		.extra_p95_ns = column_int64_or_none(stmt, column + 1),
		.payload_bytes = column_int64_or_none(stmt, column + 2),
		.busy_ns = column_int64_or_none(stmt, column + 3),
		.n_packets = column_int64_or_none(stmt, column + 4),
		.n_lost = column_int64_or_none(stmt, column + 5),
		.packet_delay_ns = column_int64_or_none(stmt, column + 6),
		.n_resent = column_int64_or_none(stmt, column + 7),
	};
}

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
		.delay_model = column_text(stmt, 13),
		.jitter_ns = column_int64_or_none(stmt, 14),
		.rate_bits_per_s = column_int64_or_none(stmt, 15),
		.loss_ratio = column_ratio(stmt, 16),
		.moments = column_text(stmt, 17),
		.traffic = read_traffic(stmt, 18),
	};
	if (!fault->kind || !fault->label || !fault->delay_model || !fault->moments)
		return -ENOMEM;
	return row_check(is_damaged);
}

static void fault_fini(void *item)
{
	struct stored_fault *fault = item;

	free(fault->kind);
	free(fault->label);
	free(fault->delay_model);
	free(fault->moments);
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
