/* read_edges.c - reads back what happened at the edges of iterations: events and decisions. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "engine/store/select_internal.h"

static int read_published(sqlite3_stmt *stmt, void *item)
{
	struct published *published = item;

	published->schedule = column_text(stmt, 0);
	published->p50_ns = sqlite3_column_int64(stmt, 1);
	return published->schedule ? 0 : -ENOMEM;
}

static void published_fini(void *item)
{
	free(((struct published *)item)->schedule);
}

static const struct row_kind published_rows = {
	.table = "event_published",
	.item_bytes = sizeof(struct published),
	.read = read_published,
	.fini = published_fini,
};

static int read_event(sqlite3_stmt *stmt, void *item)
{
	struct stored_event *event = item;
	bool is_damaged = false;

	*event = (struct stored_event){
		.event = (int)column_int(stmt, 0, 0, INT_MAX, &is_damaged),
		.label = column_text(stmt, 1),
		.links = column_text(stmt, 2),
		.first_iteration = column_int_or_none(stmt, 3, &is_damaged),
		.last_iteration = column_int_or_none(stmt, 4, &is_damaged),
	};
	if (!event->label || !event->links)
		return -ENOMEM;
	return row_check(is_damaged);
}

static void event_fini(void *item)
{
	struct stored_event *event = item;

	rows_fini(&published_rows, event->published, event->n_published);
	free(event->label);
	free(event->links);
}

static const struct row_kind event_rows = {
	.table = "event",
	.item_bytes = sizeof(struct stored_event),
	.read = read_event,
	.fini = event_fini,
};

void stored_events_fini(struct stored_event *events, size_t n_events)
{
	rows_fini(&event_rows, events, n_events);
}

static int add_published(struct store *store, int64_t run, struct stored_event *event,
                         struct err *err)
{
	const int64_t ids[] = {run, event->event};
	const struct select select = {
		"SELECT schedule, p50_ns FROM event_published"
		" WHERE run = ?1 AND event = ?2 ORDER BY schedule",
		ids,
		2,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &published_rows, &rows, err);

	if (rc)
		return rc;
	event->published = rows.items;
	event->n_published = rows.n_items;
	return 0;
}

int store_read_events(struct store *store, int64_t run, struct stored_event **out, size_t *n_out,
                      struct err *err)
{
	const struct select select = {
		"SELECT event, label, links, first_iteration, last_iteration FROM event"
		" WHERE run = ?1 ORDER BY event",
		&run,
		1,
	};
	struct stored_event *events;
	struct rows rows;
	int rc = select_rows(store, &select, &event_rows, &rows, err);

	if (rc)
		return rc;
	events = rows.items;
	for (size_t i = 0; i < rows.n_items && !rc; i++)
		rc = add_published(store, run, &events[i], err);
	if (rc) {
		stored_events_fini(events, rows.n_items);
		return rc;
	}
	*out = events;
	*n_out = rows.n_items;
	return 0;
}

static int read_decision(sqlite3_stmt *stmt, void *item)
{
	struct stored_decision *decision = item;
	bool is_damaged = false;

	*decision = (struct stored_decision){
		.kind = column_text(stmt, 0),
		.attempt = (int)column_int(stmt, 1, 0, INT_MAX, &is_damaged),
		.iteration = (int)column_int(stmt, 2, 0, INT_MAX, &is_damaged),
		.at_ns = sqlite3_column_int64(stmt, 3),
		.link = column_int_or_none(stmt, 4, &is_damaged),
		.seen_ns = column_int64_or_none(stmt, 5),
		.since_iteration = column_int64_or_none(stmt, 6),
		.plane = column_text(stmt, 7),
		.warmups = column_text(stmt, 8),
		.clamped = column_text(stmt, 9),
		.reason = column_text(stmt, 10),
	};
	if (!decision->kind || !decision->plane || !decision->warmups || !decision->clamped ||
	    !decision->reason)
		return -ENOMEM;
	return row_check(is_damaged);
}

static void decision_fini(void *item)
{
	struct stored_decision *decision = item;

	free(decision->kind);
	free(decision->plane);
	free(decision->warmups);
	free(decision->clamped);
	free(decision->reason);
}

static const struct row_kind decision_rows = {
	.table = "decision",
	.item_bytes = sizeof(struct stored_decision),
	.read = read_decision,
	.fini = decision_fini,
};

void stored_decisions_fini(struct stored_decision *decisions, size_t n_decisions)
{
	rows_fini(&decision_rows, decisions, n_decisions);
}

int store_read_decisions(struct store *store, int64_t run, struct stored_decision **out,
                         size_t *n_out, struct err *err)
{
	const struct select select = {
		"SELECT kind, attempt, iteration, at_ns, link, seen_ns, since_iteration,"
		" plane, warmups, clamped, reason FROM decision"
		" WHERE run = ?1 ORDER BY id",
		&run,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &decision_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}
