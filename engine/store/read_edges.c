/* read_edges.c - reads back what happened at the edges of iterations: events and decisions. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/store/store_internal.h"

void stored_events_fini(struct stored_event *events, size_t n_events)
{
	for (size_t i = 0; i < n_events; i++) {
		for (size_t j = 0; j < events[i].n_published; j++)
			free(events[i].published[j].schedule);
		free(events[i].published);
		free(events[i].label);
		free(events[i].links);
	}
	free(events);
}

/* −1 stands for NULL. */
static int int_or_none(sqlite3_stmt *stmt, int column, bool *is_damaged)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return -1;
	return (int)column_int(stmt, column, 0, INT_MAX, is_damaged);
}

static int add_published(struct store *store, sqlite3_stmt *stmt, struct stored_event *event,
                         struct err *err)
{
	struct published *grown, *item;
	size_t capacity = event->n_published;

	grown = array_grow(event->published, &capacity, event->n_published + 1, sizeof(*grown));
	if (!grown)
		return store_fail_memory(store, err);
	event->published = grown;
	item = &grown[event->n_published];
	*item = (struct published){
		.schedule = column_text(stmt, 0),
		.p50_ns = sqlite3_column_int64(stmt, 1),
	};
	if (!item->schedule)
		return store_fail_memory(store, err);
	event->n_published++;
	return 0;
}

static int read_published(struct store *store, int64_t run, struct stored_event *event,
                          struct err *err)
{
	const int64_t ids[] = {run, event->event};
	sqlite3_stmt *stmt;
	int rc = store_select(store,
	                      "SELECT schedule, p50_ns FROM event_published"
	                      " WHERE run = ?1 AND event = ?2 ORDER BY schedule",
	                      ids, 2, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		rc = add_published(store, stmt, event, err);
		if (rc)
			break;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int read_event(struct store *store, sqlite3_stmt *stmt, int64_t run,
                      struct stored_event *event, struct err *err)
{
	bool is_damaged = false;

	*event = (struct stored_event){
		.event = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.label = column_text(stmt, 1),
		.links = column_text(stmt, 2),
		.first_iteration = int_or_none(stmt, 3, &is_damaged),
		.last_iteration = int_or_none(stmt, 4, &is_damaged),
	};
	if (!event->label || !event->links)
		return store_fail_memory(store, err);
	if (is_damaged)
		return store_fail_damaged(store, "event", err);
	return read_published(store, run, event, err);
}

int store_read_events(struct store *store, int64_t run, struct stored_event **out, size_t *n_out,
                      struct err *err)
{
	struct stored_event *events = NULL, *grown;
	size_t n = 0, capacity = 0;
	sqlite3_stmt *stmt;
	int rc = store_select(
		store,
		"SELECT event, label, links, first_iteration, last_iteration FROM event"
		" WHERE run = ?1 ORDER BY event",
		&run, 1, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		grown = array_grow(events, &capacity, n + 1, sizeof(*events));
		if (!grown) {
			rc = store_fail_memory(store, err);
			break;
		}
		events = grown;
		rc = read_event(store, stmt, run, &events[n++], err);
		if (rc)
			break;
	}
	sqlite3_finalize(stmt);
	if (rc) {
		stored_events_fini(events, n);
		return rc;
	}
	*out = events;
	*n_out = n;
	return 0;
}

void stored_decisions_fini(struct stored_decision *decisions, size_t n_decisions)
{
	for (size_t i = 0; i < n_decisions; i++) {
		free(decisions[i].kind);
		free(decisions[i].plane);
		free(decisions[i].warmups);
		free(decisions[i].clamped);
		free(decisions[i].reason);
	}
	free(decisions);
}

static int read_decision(struct store *store, sqlite3_stmt *stmt, struct stored_decision *decision,
                         struct err *err)
{
	bool is_damaged = false;

	*decision = (struct stored_decision){
		.kind = column_text(stmt, 0),
		.attempt = (int)column_int(stmt, 1, 0, INT_MAX, &is_damaged),
		.iteration = (int)column_int(stmt, 2, 0, INT_MAX, &is_damaged),
		.at_ns = sqlite3_column_int64(stmt, 3),
		.link = int_or_none(stmt, 4, &is_damaged),
		.seen_ns = column_int64_or_none(stmt, 5),
		.since_iteration = column_int64_or_none(stmt, 6),
		.plane = column_text(stmt, 7),
		.warmups = column_text(stmt, 8),
		.clamped = column_text(stmt, 9),
		.reason = column_text(stmt, 10),
	};
	if (!decision->kind || !decision->plane || !decision->warmups || !decision->clamped ||
	    !decision->reason)
		return store_fail_memory(store, err);
	return is_damaged ? store_fail_damaged(store, "decision", err) : 0;
}

int store_read_decisions(struct store *store, int64_t run, struct stored_decision **out,
                         size_t *n_out, struct err *err)
{
	struct stored_decision *decisions = NULL, *grown;
	size_t n = 0, capacity = 0;
	sqlite3_stmt *stmt;
	int rc = store_select(
		store,
		"SELECT kind, attempt, iteration, at_ns, link, seen_ns, since_iteration,"
		" plane, warmups, clamped, reason FROM decision"
		" WHERE run = ?1 ORDER BY id",
		&run, 1, &stmt, err);

	if (rc)
		return rc;
	while ((rc = store_step(store, stmt, err)) > 0) {
		grown = array_grow(decisions, &capacity, n + 1, sizeof(*decisions));
		if (!grown) {
			rc = store_fail_memory(store, err);
			break;
		}
		decisions = grown;
		rc = read_decision(store, stmt, &decisions[n++], err);
		if (rc)
			break;
	}
	sqlite3_finalize(stmt);
	if (rc) {
		stored_decisions_fini(decisions, n);
		return rc;
	}
	*out = decisions;
	*n_out = n;
	return 0;
}
