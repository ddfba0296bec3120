/* read_record.c - reads iterations and their ops back, and the way of the ops' messages. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/store/select_internal.h"

static enum plane_kind read_plane(sqlite3_stmt *stmt, int column, bool *is_damaged)
{
	const char *name = (const char *)sqlite3_column_text(stmt, column);

	if (name && strcmp(name, plane_kind_name(PLANE_STREAM)) == 0)
		return PLANE_STREAM;
	if (!name || strcmp(name, plane_kind_name(PLANE_DELEGATE)) != 0)
		*is_damaged = true;
	return PLANE_DELEGATE;
}

static enum op_kind read_kind(sqlite3_stmt *stmt, int column, bool *is_damaged)
{
	const char *letter = (const char *)sqlite3_column_text(stmt, column);
	enum op_kind kind = OP_F;

	if (!letter || !op_kind_parse(letter[0], &kind) || letter[1])
		*is_damaged = true;
	return kind;
}

static int read_iteration(sqlite3_stmt *stmt, void *item)
{
	struct record_iteration *iteration = item;
	bool is_damaged = false;
	bool has_loss = sqlite3_column_type(stmt, 9) != SQLITE_NULL;

	*iteration = (struct record_iteration){
		.attempt = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.iteration = (int)column_int(stmt, 1, 0, INT_MAX, &is_damaged),
		.is_complete = sqlite3_column_int(stmt, 2) != 0,
		.plane = read_plane(stmt, 3, &is_damaged),
		.start_ns = sqlite3_column_int64(stmt, 4),
		.duration_ns = column_int(stmt, 5, 0, INT64_MAX, &is_damaged),
		.compute_ns = sqlite3_column_int64(stmt, 6),
		.wait_ns = sqlite3_column_int64(stmt, 7),
		.blocked_ns = sqlite3_column_int64(stmt, 8),
		.loss = has_loss ? sqlite3_column_double(stmt, 9) : NAN,
	};
	return row_check(is_damaged);
}

static int read_op(sqlite3_stmt *stmt, void *item)
{
	struct record_op *op = item;
	bool is_damaged = false;

	*op = (struct record_op){
		.stage = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.replica = (int)column_int(stmt, 1, 0, INT_MAX, &is_damaged),
		.kind = read_kind(stmt, 2, &is_damaged),
		.microbatch = (int)column_int(stmt, 3, 0, INT_MAX, &is_damaged),
		.start_ns = sqlite3_column_int64(stmt, 4),
		.end_ns = sqlite3_column_int64(stmt, 5),
		.message_request_ns = column_int64_or_none(stmt, 6),
		.message_start_ns = column_int64_or_none(stmt, 7),
		.message_end_ns = column_int64_or_none(stmt, 8),
		.message_arrive_ns = column_int64_or_none(stmt, 9),
		.message_rail = -1,
		.message_queue = -1,
		.late_ns = sqlite3_column_int64(stmt, 10),
	};
	return row_check(is_damaged);
}

static const struct row_kind iteration_rows = {
	.table = "iteration",
	.item_bytes = sizeof(struct record_iteration),
	.read = read_iteration,
};

static const struct row_kind op_rows = {
	.table = "op",
	.item_bytes = sizeof(struct record_op),
	.read = read_op,
};

/* Whose message it is, and its way. */
struct way {
	int replica, from_stage, microbatch;
	bool is_activation;
	int rail, queue, n_resends;
};

static int read_way(sqlite3_stmt *stmt, void *item)
{
	struct way *way = item;
	bool is_damaged = false;

	*way = (struct way){
		.replica = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.from_stage = (int)column_int(stmt, 1, 0, INT_MAX, &is_damaged),
		.is_activation = read_kind(stmt, 2, &is_damaged) == OP_F,
		.microbatch = (int)column_int(stmt, 3, 0, INT_MAX, &is_damaged),
		.rail = column_int_or_none(stmt, 4, &is_damaged),
		.queue = column_int_or_none(stmt, 5, &is_damaged),
		.n_resends = (int)column_int(stmt, 6, 0, INT_MAX, &is_damaged),
	};
	return row_check(is_damaged);
}

static const struct row_kind way_rows = {
	.table = "message",
	.item_bytes = sizeof(struct way),
	.read = read_way,
};

static bool is_of(const struct way *way, const struct record_op *op)
{
	return way->replica == op->replica && way->from_stage == op->stage &&
	       way->is_activation == (op->kind == OP_F) && way->microbatch == op->microbatch;
}

/* Messages stand in the order of their ops. */
static void give_ways(const struct way *ways, size_t n_ways, struct record_op *ops, size_t n_ops)
{
	size_t next = 0;

	for (size_t i = 0; i < n_ops && next < n_ways; i++) {
		if (ops[i].message_request_ns < 0 || !is_of(&ways[next], &ops[i]))
			continue;
		ops[i].message_rail = ways[next].rail;
		ops[i].message_queue = ways[next].queue;
		ops[i].message_n_resends = ways[next++].n_resends;
	}
}

static int read_ways(struct store *store, const int64_t ids[3], struct record_op *ops, size_t n_ops,
                     struct err *err)
{
	const struct select select = {
		"SELECT replica, from_stage, kind, microbatch, rail, queue, n_resends"
		" FROM iteration i CROSS JOIN message"
		" ON message.id BETWEEN i.first_message AND i.first_message + i.n_messages - 1"
		" WHERE i.run = ?1 AND i.attempt = ?2 AND i.iteration = ?3 ORDER BY message.id",
		ids,
		3,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &way_rows, &rows, err);

	if (rc)
		return rc;
	give_ways(rows.items, rows.n_items, ops, n_ops);
	rows_fini(&way_rows, rows.items, rows.n_items);
	return 0;
}

int store_read_iterations(struct store *store, int64_t run, struct record_iteration **out,
                          size_t *n_out, struct err *err)
{
	const struct select select = {
		"SELECT attempt, iteration, is_complete, plane, start_ns, duration_ns,"
		" compute_ns, wait_ns, blocked_ns, loss FROM iteration"
		" WHERE run = ?1 ORDER BY attempt, iteration",
		&run,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &iteration_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

int store_read_ops(struct store *store, const struct store_iteration *which, struct record_op **out,
                   size_t *n_out, struct err *err)
{
	const int64_t ids[] = {which->run, which->attempt, which->iteration};
	const struct select select = {
		"SELECT stage, replica, kind, microbatch, op.start_ns, op.end_ns,"
		" message_request_ns, message_start_ns, message_end_ns, message_arrive_ns, late_ns"
		" FROM iteration i CROSS JOIN op"
		" ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1"
		" WHERE i.run = ?1 AND i.attempt = ?2 AND i.iteration = ?3 ORDER BY op.id",
		ids,
		3,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &op_rows, &rows, err);

	if (rc)
		return rc;
	rc = read_ways(store, ids, rows.items, rows.n_items, err);
	if (rc) {
		rows_fini(&op_rows, rows.items, rows.n_items);
		return rc;
	}
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}
