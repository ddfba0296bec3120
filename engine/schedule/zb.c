/* zb.c - the zero-bubble heuristic: the shortest order over a few settings of its switches.
 *
 * The rules are those of "Zero Bubble Pipeline Parallelism" (arXiv 2401.10241), section on
 * automatic scheduling. A stage first runs warm-up forwards, as many as memory and the time to the
 * first backward allow; then it alternates one forward and one backward; a W goes where the stage
 * would otherwise idle, or where the activation limit leaves nothing else; what W is left comes
 * last. The paper leaves some choices to a search over a few switches, and so do we: each setting
 * yields one order, the shortest wins, of equals the first. The plain zero-bubble shape,
 * 2·(S − i) − 1 warm-ups, is tried first, so that it is kept among equals. An order is given up
 * once it cannot win, and the search ends when one meets a lower bound; uniform times and most
 * measured profiles meet it.
 *
 * Rejected: one fixed setting, for none is within 0.2 % of the recorded orders on every measured
 * profile, while the best of all is nowhere behind them; B before F before W without turns, which
 * spends the lead of the warm-up on the first backwards, so that a slow link then stalls every
 * microbatch; an integer program, which takes seconds for what the search does in a fraction of a
 * millisecond. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/schedule/zb_internal.h"

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* 2·S, or the request's where that is smaller. */
static int limit_of(const struct schedule_request *request, int stage)
{
	int limit = request->limits ? request->limits[stage] : 0;
	int most = 2 * request->times.n_stages;

	return limit > 0 && limit < most ? limit : most;
}

/* First forwards and backwards without any waiting, limits and caps. */
static void prepare(struct zb *zb)
{
	const struct plan_times *times = &zb->request->times;
	int64_t now_ns = 0, pace_ns = 1;
	int cap = zb->request->n_microbatches;

	for (int s = 0; s < times->n_stages; s++) {
		struct zb_stage *stage = &zb->stages[s];

		stage->limit = limit_of(zb->request, s);
		cap = stage->limit < cap ? stage->limit : cap;
		pace_ns = larger(pace_ns, times->op_ns[OP_F][s]);
		now_ns += s > 0 ? times->link_ns[s - 1] : 0;
		stage->cap = cap;
		stage->pace_ns = pace_ns;
		stage->first_f_ns = now_ns;
		now_ns += times->op_ns[OP_F][s];
	}
	for (int s = times->n_stages - 1; s >= 0; s--) {
		zb->stages[s].first_b_ns = now_ns;
		now_ns += times->op_ns[OP_B][s] + (s > 0 ? times->link_ns[s - 1] : 0);
	}
}

/* No order ends stage s sooner, for two reasons. It must run all its ops, and idles before its
 * first B where its forwards are too few; and a microbatch enters only after the one limit places
 * before it has left, by its W. After the last B the stages before must still run theirs, which
 * takes tail_ns. */
static int64_t stage_bound_ns(const struct zb *zb, int s, int64_t tail_ns)
{
	const struct plan_times *times = &zb->request->times;
	const struct zb_stage *stage = &zb->stages[s];
	int64_t f_ns = times->op_ns[OP_F][s], b_ns = times->op_ns[OP_B][s];
	int64_t w_ns = times->op_ns[OP_W][s], n = zb->request->n_microbatches;
	int64_t trip_ns = stage->first_b_ns - stage->first_f_ns + b_ns;
	int64_t idle_ns = larger(trip_ns - b_ns - stage->cap * f_ns, 0);
	int64_t rounds = (n - 1) / stage->limit;
	int64_t busy_ns = idle_ns + n * (f_ns + b_ns) + larger(n * w_ns, tail_ns);
	int64_t turns_ns = rounds * (trip_ns + w_ns) + trip_ns + larger(w_ns, tail_ns);

	return stage->first_f_ns + larger(busy_ns, turns_ns);
}

static int64_t lower_bound_ns(const struct zb *zb)
{
	const struct plan_times *times = &zb->request->times;
	int64_t bound_ns = 0, tail_ns = 0;

	for (int s = 0; s < times->n_stages; s++) {
		if (s > 0)
			tail_ns += times->link_ns[s - 1] + times->op_ns[OP_B][s - 1];
		bound_ns = larger(bound_ns, stage_bound_ns(zb, s, tail_ns + times->op_ns[OP_W][0]));
	}
	return bound_ns;
}

/* The order of trial: plain shape first. */
static struct zb_rules rules_at(int i)
{
	return (struct zb_rules){
		.makes_room = i % 2 != 0,
		.fill = i / 2 % ZB_FILLS,
		.lead = (enum zb_lead)(i / 2 / ZB_FILLS),
	};
}

/* Leaves the best order in best. */
static int search(struct zb *zb, struct plan *best, struct plan *trial, struct err *err)
{
	int64_t bound_ns = lower_bound_ns(zb);

	zb->best_ns = INT64_MAX;
	for (int i = 0; i < 2 * ZB_FILLS * ZB_LEADS && zb->best_ns > bound_ns; i++) {
		struct plan swap = *best;
		int64_t makespan_ns;

		zb->rules = rules_at(i);
		makespan_ns = zb_build(zb, trial);
		if (makespan_ns >= zb->best_ns)
			continue;
		zb->best_ns = makespan_ns;
		*best = *trial;
		*trial = swap;
	}
	if (zb->best_ns == INT64_MAX)
		return err_set(err, -EINVAL, "zb finds no order for %d stages and %d microbatches",
		               best->n_stages, best->n_microbatches);
	return 0;
}

static void zb_fini(struct zb *zb)
{
	stage_queue_fini(&zb->queue);
	free(zb->stages);
	free(zb->end_ns[OP_F]);
	free(zb->end_ns[OP_B]);
}

static int zb_init(struct zb *zb, const struct schedule_request *request, struct err *err)
{
	size_t n_stages = (size_t)request->times.n_stages;
	size_t n = n_stages * (size_t)request->n_microbatches;
	struct zb fresh = {.request = request};
	int rc = stage_queue_init(&fresh.queue, request->times.n_stages, err);

	if (rc)
		return rc;
	fresh.stages = array_new(n_stages, sizeof(*fresh.stages));
	fresh.end_ns[OP_F] = array_new(n, sizeof(int64_t));
	fresh.end_ns[OP_B] = array_new(n, sizeof(int64_t));
	if (!fresh.stages || !fresh.end_ns[OP_F] || !fresh.end_ns[OP_B]) {
		zb_fini(&fresh);
		return err_set(err, -ENOMEM, "no memory to schedule %zu stages", n_stages);
	}
	prepare(&fresh);
	*zb = fresh;
	return 0;
}

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	struct plan trial;
	struct zb zb;
	int rc = zb_init(&zb, request, err);

	if (rc)
		return rc;
	rc = plan_init(&trial, plan->n_stages, plan->n_microbatches, err);
	if (rc == 0) {
		rc = search(&zb, plan, &trial, err);
		plan_fini(&trial);
	}
	zb_fini(&zb);
	return rc;
}

static int zb_make(const struct schedule_request *request, struct plan *out, struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops zb_ops = {
	.name = "zb",
	.summary = "zero-bubble heuristic, at most 2 S activations",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_FIXED,
	.make = zb_make,
};
