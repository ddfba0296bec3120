/* sink.c - takes the record of one run and puts it into the tables. */
#include <errno.h>
#include <stdlib.h>

#include "engine/store/row_internal.h"
#include "engine/store/store_internal.h"

struct run_sink {
	struct record_sink base;
	struct store *store;
	int64_t run;
	enum record_timer timer;
	bool keeps_messages;
	struct run_sink *next;
};

/* What was stored of an iteration; zeroed: nothing. */
struct stored {
	struct op_rows ops, messages;
};

static int insert_iteration(struct run_sink *sink, const struct record_iteration *iteration,
                            const struct stored *stored, struct err *err)
{
	struct row row = {0};

	row_int(&row, "run", sink->run);
	row_int(&row, "attempt", iteration->attempt);
	row_int(&row, "iteration", iteration->iteration);
	row_int(&row, "start_ns", iteration->start_ns);
	row_int(&row, "duration_ns", iteration->duration_ns);
	row_real(&row, "loss", iteration->loss);
	row_int(&row, "is_complete", iteration->is_complete);
	row_text(&row, "plane", plane_kind_name(iteration->plane));
	row_int(&row, "compute_ns", iteration->compute_ns);
	row_int(&row, "wait_ns", iteration->wait_ns);
	row_int(&row, "blocked_ns", iteration->blocked_ns);
	row_int_if(&row, "first_op", stored->ops.n > 0, stored->ops.first);
	row_int(&row, "n_ops", stored->ops.n);
	row_int_if(&row, "first_message", stored->messages.n > 0, stored->messages.first);
	row_int(&row, "n_messages", stored->messages.n);
	return row_insert(&row, sink->store, "iteration", &sink->store->insert_iteration, err);
}

static void remove_rows(struct store *store, const char *sql, const struct op_rows *rows)
{
	sqlite3_stmt *stmt;

	if (rows->n == 0 || store_select(store, sql, &rows->first, 1, &stmt, NULL))
		return;
	(void)sqlite3_step(stmt);
	sqlite3_finalize(stmt);
}

/* An iteration that was refused must not leave its ops. After an error that ended the transaction
 * there are none. */
static void remove_stored(struct store *store, const struct stored *stored)
{
	if (sqlite3_get_autocommit(store->db))
		return;
	remove_rows(store, "DELETE FROM op WHERE id >= ?1", &stored->ops);
	remove_rows(store, "DELETE FROM message WHERE id >= ?1", &stored->messages);
}

static int sink_iteration(struct record_sink *base, const struct record_iteration *iteration,
                          struct err *err)
{
	struct run_sink *sink = (struct run_sink *)base;
	const struct op_batch batch = {sink->run, sink->timer, iteration, sink->keeps_messages};
	bool has_ops = base->wants_ops && iteration->ops && iteration->n_ops > 0;
	struct stored stored = {0};
	int rc = batch_begin(sink->store, err);

	if (rc)
		return rc;
	if (has_ops)
		rc = op_source_insert(sink->store, &batch, &stored.ops, &stored.messages, err);
	rc = rc ? rc : insert_iteration(sink, iteration, &stored, err);
	if (rc)
		remove_stored(sink->store, &stored);
	return rc ? rc : batch_commit_if_due(sink->store, err);
}

static void add_known(struct row *row, const char *column, int64_t value)
{
	row_int_if(row, column, value >= 0, value);
}

static void add_traffic(struct row *row, const struct record_traffic *traffic)
{
	add_known(row, "measured_p50_ns", traffic->extra_p50_ns);
	add_known(row, "measured_p95_ns", traffic->extra_p95_ns);
	add_known(row, "payload_bytes", traffic->payload_bytes);
	add_known(row, "busy_ns", traffic->busy_ns);
	add_known(row, "n_packets", traffic->n_packets);
	add_known(row, "n_lost", traffic->n_lost);
	add_known(row, "packet_delay_ns", traffic->packet_delay_ns);
	add_known(row, "n_resent", traffic->n_resent);
}

static int sink_fault(struct record_sink *base, const struct record_fault *fault, struct err *err)
{
	struct run_sink *sink = (struct run_sink *)base;
	struct row row = {0};
	int rc = batch_begin(sink->store, err);

	if (rc)
		return rc;
	row_int(&row, "run", sink->run);
	row_int(&row, "fault", (int64_t)fault->fault);
	row_int(&row, "attempt", fault->attempt);
	row_int_if(&row, "asked_ns", fault->asked_ns >= 0, fault->asked_ns);
	row_int_if(&row, "applied_ns", fault->applied_ns >= 0, fault->applied_ns);
	row_int_if(&row, "cleared_ns", fault->cleared_ns >= 0, fault->cleared_ns);
	row_int_if(&row, "measured_ns", fault->measured_ns >= 0, fault->measured_ns);
	row_int(&row, "n_messages", fault->n_messages);
	row_int_if(&row, "detected_ns", fault->detected_ns > 0, fault->detected_ns);
	row_int_if(&row, "recovered_ns", fault->recovered_ns > 0, fault->recovered_ns);
	if (fault->traffic)
		add_traffic(&row, fault->traffic);
	rc = row_insert(&row, sink->store, "fault_applied", NULL, err);
	return rc ? rc : batch_commit_if_due(sink->store, err);
}

static int sink_decision(struct record_sink *base, const struct record_decision *decision,
                         struct err *err)
{
	struct run_sink *sink = (struct run_sink *)base;
	struct row row = {0};
	int rc = batch_begin(sink->store, err);

	if (rc)
		return rc;
	row_int(&row, "run", sink->run);
	row_int(&row, "attempt", decision->attempt);
	row_int(&row, "iteration", decision->iteration);
	row_int(&row, "at_ns", decision->at_ns);
	row_text(&row, "kind", decision_kind_name(decision->kind));
	row_int_if(&row, "link", decision->link >= 0, decision->link);
	row_int_if(&row, "seen_ns", decision->seen_ns >= 0, decision->seen_ns);
	row_int_if(&row, "since_iteration", decision->since_iteration >= 0,
	           decision->since_iteration);
	row_text(&row, "plane", plane_kind_name(decision->plane));
	row_text(&row, "warmups", decision->warmups);
	row_text(&row, "clamped", decision->clamped);
	row_text(&row, "reason", decision->reason);
	rc = row_insert(&row, sink->store, "decision", NULL, err);
	return rc ? rc : batch_commit_if_due(sink->store, err);
}

static const struct record_sink_ops sink_ops = {
	.iteration = sink_iteration,
	.fault = sink_fault,
	.decision = sink_decision,
};

int run_sink_new(struct store *store, int64_t run, const struct store_new_run *new_run,
                 struct record_sink **out, struct err *err)
{
	struct run_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return store_fail_memory(store, err);
	*sink = (struct run_sink){
		.base = {.ops = &sink_ops, .wants_ops = new_run->keeps_ops},
		.store = store,
		.run = run,
		.timer = new_run->run->timer,
		.keeps_messages = new_run->keeps_messages,
		.next = store->sinks,
	};
	store->sinks = sink;
	*out = &sink->base;
	return 0;
}

bool run_sink_is_open(const struct store *store, int64_t run)
{
	for (const struct run_sink *sink = store->sinks; sink; sink = sink->next)
		if (sink->run == run)
			return true;
	return false;
}

int64_t run_sink_first(const struct store *store)
{
	return store->sinks ? store->sinks->run : 0;
}

void run_sink_free(struct store *store, int64_t run)
{
	for (struct run_sink **at = &store->sinks; *at; at = &(*at)->next) {
		struct run_sink *sink = *at;

		if (sink->run == run) {
			*at = sink->next;
			free(sink);
			return;
		}
	}
}
