/* worker_exchanges.c - how a worker's stages meet their neighbours where devices exchange tensors
 * themselves, and part from them. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/worker_internal.h"

enum { LOOK_NS = 100 * NS_PER_US };

/* A stage's end of the link to a neighbour. */
struct meeting {
	struct exchange *exchange; /* the plane's, once it is met */
	int stage;
	int peer_stage;
};

static struct exchange_id *id_of(const struct worker *worker, int low)
{
	return &board_stage(worker->config->board, worker->config->replica, low)->exchange_id;
}

int worker_name_exchanges(struct worker *worker, struct err *err)
{
	const struct exchange_ops *exchange = worker->config->live->exchange;
	int n_all = worker->config->board->n_stages, rc = 0;

	for (int low = 0; rc == 0 && exchange && low + 1 < n_all; low++)
		if (worker->is_local[low])
			rc = exchange->make_id(id_of(worker, low), err);
	return rc;
}

static int open_end(struct worker *worker, struct meeting *meeting, struct err *err)
{
	int low = meeting->stage < meeting->peer_stage ? meeting->stage : meeting->peer_stage;
	struct stage *stage = worker_stage(worker, meeting->stage);
	const struct exchange_config config = {
		.device = stage_device(stage),
		.stage = meeting->stage,
		.peer_stage = meeting->peer_stage,
		.id = *id_of(worker, low),
	};
	int rc = worker->config->live->exchange->open(&config, &meeting->exchange, err);

	if (rc == 0)
		dataplane_set_exchange(stage_plane(stage), meeting->peer_stage, meeting->exchange);
	return rc;
}

/* In the one global order: by link, the lower stage first. */
static int open_ends(struct worker *worker, struct meeting *meetings, int *n_out, struct err *err)
{
	int n_all = worker->config->board->n_stages, n = 0, rc = 0;

	for (int i = 0; rc == 0 && i < 2 * (n_all - 1); i++) {
		int low = i / 2, stage = low + i % 2;

		if (!worker->is_local[stage])
			continue;
		meetings[n] = (struct meeting){.stage = stage, .peer_stage = 2 * low + 1 - stage};
		rc = open_end(worker, &meetings[n++], err);
	}
	*n_out = n;
	return rc;
}

/* Nobody waits for one before going on with another. *late_out: one that has not met; NULL: all
 * have. */
static int look(const struct meeting *meetings, int n, const struct meeting **late_out,
                struct err *err)
{
	*late_out = NULL;
	for (int i = 0; i < n; i++) {
		int rc = exchange_progress(meetings[i].exchange, err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			*late_out = &meetings[i];
	}
	return 0;
}

static int meet_all(const struct meeting *meetings, int n, int64_t limit_ns, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + limit_ns;
	char span[UNITS_TEXT_BYTES];
	const struct meeting *late;
	int rc;

	while ((rc = look(meetings, n, &late, err)) == 0 && late) {
		if (clock_monotonic_ns() > end_ns)
			return err_set(err, -ETIMEDOUT,
			               "stage %d has not met stage %d for exchanges within %s",
			               late->stage, late->peer_stage,
			               units_format_duration(limit_ns, span));
		clock_sleep_ns(LOOK_NS);
	}
	return rc;
}

int worker_open_exchanges(struct worker *worker, struct err *err)
{
	struct meeting *meetings;
	int n, rc;

	if (!worker->config->live->exchange)
		return 0;
	meetings = array_new(2 * (size_t)worker->n_stages, sizeof(*meetings));
	if (!meetings)
		return err_set(err, -ENOMEM, "no memory for a worker's exchanges");
	rc = open_ends(worker, meetings, &n, err);
	rc = rc ? rc : meet_all(meetings, n, limits_connect_ns(worker->config->live), err);
	free(meetings);
	return rc;
}

void worker_abort_exchanges(struct worker *worker)
{
	for (int i = 0; i < worker->n_stages; i++)
		dataplane_abort_exchanges(stage_plane(worker->stages[i]));
}
