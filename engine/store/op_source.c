/* op_source.c - the ops of one iteration as a table that SQLite reads, so that one statement stores
 * them all, and another all their messages.
 *
 * INSERT INTO op SELECT … FROM op_source takes them straight from the producer's array: no binding,
 * no step and no reset for each row, and no copy of the batch. store.c has the measurement that
 * chose it. The table exists in this connection only, needs no CREATE, and cannot be named by a
 * view of the database. */
#include <errno.h>
#include <stdlib.h>

#include "engine/store/store_internal.h"

struct op_source {
	const struct record_iteration *iteration; /* valid during an insert */
	int64_t run;
	const char *timer;
	char letters[OP_KINDS];
};

struct op_source_table {
	sqlite3_vtab base;
	const struct op_source *source;
};

struct op_source_cursor {
	sqlite3_vtab_cursor base;
	size_t op;
};

enum op_column {
	OP_RUN,
	OP_ATTEMPT,
	OP_ITERATION,
	OP_STAGE,
	OP_REPLICA,
	OP_KIND,
	OP_MICROBATCH,
	OP_START,
	OP_END,
	OP_TIMER,
	OP_MESSAGE_REQUEST,
	OP_MESSAGE_START,
	OP_MESSAGE_END,
	OP_MESSAGE_ARRIVE,
	OP_LATE,
	/* Of its message: */
	OP_TO_STAGE,
	OP_MESSAGE_KIND,
	OP_RAIL,
	OP_QUEUE,
	OP_BYTES,
	OP_RESENDS,
};

#define OP_COLUMNS                                                                             \
	"run, attempt, iteration, stage, replica, kind, microbatch, start_ns, end_ns, timer, " \
	"message_request_ns, message_start_ns, message_end_ns, message_arrive_ns, late_ns"

#define MESSAGE_COLUMNS "to_stage, message_kind, rail, queue, bytes, n_resends"

static const char insert_ops[] =
	"INSERT INTO op (" OP_COLUMNS ") SELECT " OP_COLUMNS " FROM op_source";

static const char insert_messages[] =
	"INSERT INTO message (run, attempt, iteration, replica, from_stage, to_stage, kind,"
	" microbatch, rail, queue, bytes, n_resends, request_ns, start_ns, end_ns, arrive_ns)"
	" SELECT run, attempt, iteration, replica, stage, to_stage, message_kind, microbatch,"
	" rail, queue, bytes, n_resends, message_request_ns, message_start_ns, message_end_ns,"
	" message_arrive_ns FROM op_source WHERE message_request_ns IS NOT NULL";

static const struct op_source *source_of(const sqlite3_vtab_cursor *cursor)
{
	return ((const struct op_source_table *)cursor->pVtab)->source;
}

static int source_connect(sqlite3 *db, void *context, int n_arguments, const char *const *arguments,
                          sqlite3_vtab **out, char **message)
{
	struct op_source_table *table;
	int rc = sqlite3_declare_vtab(db, "CREATE TABLE x (" OP_COLUMNS ", " MESSAGE_COLUMNS ")");

	(void)n_arguments, (void)arguments, (void)message;
	if (rc)
		return rc;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->source = context;
	*out = &table->base;
	return SQLITE_OK;
}

static int source_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* Always read from the first to the last. */
static int source_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1000;
	return SQLITE_OK;
}

static int source_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct op_source_cursor *cursor = calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*out = &cursor->base;
	return SQLITE_OK;
}

static int source_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int source_filter(sqlite3_vtab_cursor *cursor, int index, const char *index_name,
                         int n_arguments, sqlite3_value **arguments)
{
	(void)index, (void)index_name, (void)n_arguments, (void)arguments;
	((struct op_source_cursor *)cursor)->op = 0;
	return SQLITE_OK;
}

static int source_next(sqlite3_vtab_cursor *cursor)
{
	((struct op_source_cursor *)cursor)->op++;
	return SQLITE_OK;
}

/* Nothing is there but during an insert. */
static int source_eof(sqlite3_vtab_cursor *cursor)
{
	const struct record_iteration *iteration = source_of(cursor)->iteration;

	return !iteration || ((const struct op_source_cursor *)cursor)->op >= iteration->n_ops;
}

/* What there is none of is negative. */
static void result_if_any(sqlite3_context *context, int64_t value)
{
	if (value < 0)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, value);
}

static void result_of_message(const struct op_source *source, const struct record_op *op,
                              enum op_column column, sqlite3_context *context)
{
	int64_t bytes = source->iteration->message_bytes;
	bool is_activation = op->kind == OP_F;

	if (column == OP_MESSAGE_REQUEST)
		result_if_any(context, op->message_request_ns);
	else if (column == OP_MESSAGE_START)
		result_if_any(context, op->message_start_ns);
	else if (column == OP_MESSAGE_END)
		result_if_any(context, op->message_end_ns);
	else if (column == OP_MESSAGE_ARRIVE)
		result_if_any(context, op->message_arrive_ns);
	else if (column == OP_TO_STAGE)
		sqlite3_result_int(context, op->stage + (is_activation ? 1 : -1));
	else if (column == OP_MESSAGE_KIND)
		sqlite3_result_text(context, &source->letters[is_activation ? OP_F : OP_B], 1,
		                    SQLITE_STATIC);
	else if (column == OP_RAIL)
		result_if_any(context, op->message_rail);
	else if (column == OP_QUEUE)
		result_if_any(context, op->message_queue);
	else if (column == OP_BYTES)
		result_if_any(context, bytes > 0 ? bytes : -1);
	else
		sqlite3_result_int(context, op->message_n_resends);
}

static int source_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct op_source *source = source_of(cursor);
	const struct record_iteration *iteration = source->iteration;
	const struct record_op *op = &iteration->ops[((const struct op_source_cursor *)cursor)->op];

	switch ((enum op_column)column) {
	case OP_RUN:
		sqlite3_result_int64(context, source->run);
		break;
	case OP_ATTEMPT:
		sqlite3_result_int(context, iteration->attempt);
		break;
	case OP_ITERATION:
		sqlite3_result_int(context, iteration->iteration);
		break;
	case OP_STAGE:
		sqlite3_result_int(context, op->stage);
		break;
	case OP_REPLICA:
		sqlite3_result_int(context, op->replica);
		break;
	case OP_KIND:
		sqlite3_result_text(context, &source->letters[op->kind], 1, SQLITE_STATIC);
		break;
	case OP_MICROBATCH:
		sqlite3_result_int(context, op->microbatch);
		break;
	case OP_START:
		sqlite3_result_int64(context, op->start_ns);
		break;
	case OP_END:
		sqlite3_result_int64(context, op->end_ns);
		break;
	case OP_TIMER:
		sqlite3_result_text(context, source->timer, -1, SQLITE_STATIC);
		break;
	case OP_LATE:
		sqlite3_result_int64(context, op->late_ns);
		break;
	case OP_MESSAGE_REQUEST:
	case OP_MESSAGE_START:
	case OP_MESSAGE_END:
	case OP_MESSAGE_ARRIVE:
	case OP_TO_STAGE:
	case OP_MESSAGE_KIND:
	case OP_RAIL:
	case OP_QUEUE:
	case OP_BYTES:
	case OP_RESENDS:
		result_of_message(source, op, (enum op_column)column, context);
		break;
	}
	return SQLITE_OK;
}

static int source_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((const struct op_source_cursor *)cursor)->op;
	return SQLITE_OK;
}

/* No xCreate: the table is there without CREATE VIRTUAL TABLE, and cannot be created. */
static const sqlite3_module op_source_module = {
	.iVersion = 2,
	.xConnect = source_connect,
	.xDisconnect = source_disconnect,
	.xBestIndex = source_best_index,
	.xOpen = source_open,
	.xClose = source_close,
	.xFilter = source_filter,
	.xNext = source_next,
	.xEof = source_eof,
	.xColumn = source_column,
	.xRowid = source_rowid,
};

static int prepare(struct store *store, struct err *err)
{
	struct op_source *source = calloc(1, sizeof(*source));

	if (!source)
		return store_fail_memory(store, err);
	for (int kind = 0; kind < OP_KINDS; kind++)
		source->letters[kind] = op_kind_letter((enum op_kind)kind);
	/* The connection owns source from here on, even when this fails. */
	if (sqlite3_create_module_v2(store->db, "op_source", &op_source_module, source, free))
		return store_fail(store, "store ops", err);
	store->op_source = source;
	return 0;
}

/* Run one of the statements that read the source. SQLite gives each row the highest id plus one, so
 * ids are without gaps up to the largest there is. */
static int run_insert(struct store *store, sqlite3_stmt **kept, const char *sql,
                      const char *verb_phrase, struct op_rows *out, struct err *err)
{
	int rc = *kept ? 0 : store_prepare(store, sql, kept, err);

	if (rc)
		return rc;
	if (sqlite3_step(*kept) != SQLITE_DONE)
		rc = store_fail(store, verb_phrase, err);
	sqlite3_reset(*kept);
	if (rc)
		return rc;
	out->n = sqlite3_changes(store->db);
	out->first = sqlite3_last_insert_rowid(store->db) - out->n + 1;
	return 0;
}

int op_source_insert(struct store *store, const struct op_batch *batch, struct op_rows *ops_out,
                     struct op_rows *messages_out, struct err *err)
{
	int rc = store->op_source ? 0 : prepare(store, err);

	if (rc)
		return rc;
	store->op_source->iteration = batch->iteration;
	store->op_source->run = batch->run;
	store->op_source->timer = record_timer_name(batch->timer);
	rc = run_insert(store, &store->insert_ops, insert_ops, "store ops", ops_out, err);
	if (rc == 0 && batch->wants_messages)
		rc = run_insert(store, &store->insert_messages, insert_messages, "store messages",
		                messages_out, err);
	store->op_source->iteration = NULL;
	return rc;
}
