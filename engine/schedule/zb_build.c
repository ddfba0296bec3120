/* zb_build.c - one zero-bubble order: warm-up, then F and B in turn, W where it costs nothing.
 *
 * A list scheduler rather than the paper's pass from stage to stage: the stage that is free first
 * decides next, and each op gets the exact start that a replay of the order will give it. A stage
 * looks ahead to what its neighbours will surely do; where that is not certain yet it waits for
 * them to decide. An order grown this way cannot deadlock, because an op is placed only after what
 * it needs. */
#include "engine/schedule/zb_internal.h"

static const int64_t NOT_ALLOWED = INT64_MAX;

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static size_t at(const struct zb *zb, int s, int microbatch)
{
	return (size_t)s * (size_t)zb->request->n_microbatches + (size_t)microbatch;
}

/* The stage that the next op of this kind waits for; −1: none but its own. */
static int producer(const struct zb *zb, int s, enum op_kind kind)
{
	if (kind == OP_F)
		return s - 1;
	return s + 1 < zb->request->times.n_stages ? s + 1 : -1;
}

/* Is the start of the stage's next op of this kind certain? */
static bool is_known(const struct zb *zb, int s, enum op_kind kind)
{
	int from = producer(zb, s, kind);

	return from < 0 || zb->stages[from].writer.next[kind] > zb->stages[s].writer.next[kind];
}

/* When the stage could start its next op of this kind. Before the producer is placed this is the
 * earliest it can be, which is enough to see that a W fits before it. */
static int64_t earliest_ns(const struct zb *zb, int s, enum op_kind kind)
{
	const struct plan_times *times = &zb->request->times;
	const struct zb_stage *stage = &zb->stages[s];
	int from = producer(zb, s, kind);
	int64_t arrival_ns;

	if (from < 0)
		return stage->clock_ns;
	if (is_known(zb, s, kind))
		arrival_ns = zb->end_ns[kind][at(zb, from, stage->writer.next[kind])];
	else
		arrival_ns = zb->stages[from].clock_ns + times->op_ns[kind][from];
	arrival_ns += times->link_ns[from < s ? from : s];
	return larger(stage->clock_ns, arrival_ns);
}

/* The earliest start of the next F or B; only certain ones when forced. */
static int64_t allowed_ns(const struct zb *zb, int s, enum op_kind kind, bool is_forced)
{
	const struct zb_stage *stage = &zb->stages[s];
	const int *next = stage->writer.next;

	if (kind == OP_F &&
	    (next[OP_F] == zb->request->n_microbatches || op_is_full(&stage->writer, stage->limit)))
		return NOT_ALLOWED;
	if (kind == OP_B && next[OP_B] == next[OP_F])
		return NOT_ALLOWED;
	if (is_forced && !is_known(zb, s, kind))
		return NOT_ALLOWED;
	return earliest_ns(zb, s, kind);
}

/* Does the stage give up a B that may be ready to make room for F? */
static bool makes_room(const struct zb *zb, const struct zb_stage *stage)
{
	return zb->rules.makes_room && stage->last == ZB_TURN_B &&
	       stage->writer.next[OP_F] < zb->request->n_microbatches &&
	       op_is_full(&stage->writer, stage->limit);
}

/* F or B: in turn, but never waiting for one while the other is ready. */
static enum op_kind in_turn(const struct zb *zb, const struct zb_stage *stage, int64_t f_ns,
                            int64_t b_ns)
{
	const int *next = stage->writer.next;
	bool is_warming = next[OP_B] == 0 && next[OP_F] < stage->warmup;

	if (is_warming || stage->last == ZB_TURN_B)
		return b_ns < f_ns ? OP_B : OP_F;
	if (zb->rules.lead != ZB_LEAD_FREE && b_ns != NOT_ALLOWED)
		return OP_B;
	return f_ns < b_ns ? OP_F : OP_B;
}

/* The op that the stage runs next; false: not certain yet. */
static bool choose(const struct zb *zb, int s, bool is_forced, enum op_kind *out)
{
	const struct zb_stage *stage = &zb->stages[s];
	bool may_w = stage->writer.next[OP_W] < stage->writer.next[OP_B];
	int64_t f_ns = allowed_ns(zb, s, OP_F, is_forced);
	int64_t b_ns = allowed_ns(zb, s, OP_B, is_forced);
	int64_t gap_ns;

	*out = OP_W;
	if (f_ns == NOT_ALLOWED && b_ns == NOT_ALLOWED)
		return may_w;
	if (may_w && makes_room(zb, stage))
		return true;
	*out = in_turn(zb, stage, f_ns, b_ns);
	gap_ns = (*out == OP_F ? f_ns : b_ns) - stage->clock_ns;
	if (may_w && gap_ns > 0 &&
	    2 * gap_ns >= zb->rules.fill * zb->request->times.op_ns[OP_W][s]) {
		*out = OP_W;
		return true;
	}
	return is_known(zb, s, *out);
}

static void place(struct zb *zb, int s, enum op_kind kind)
{
	struct zb_stage *stage = &zb->stages[s];
	int64_t op_ns = zb->request->times.op_ns[kind][s];
	int microbatch = stage->writer.next[kind];

	/* W needs nothing but its B, which this stage has run. */
	if (kind != OP_W)
		stage->clock_ns = earliest_ns(zb, s, kind);
	stage->clock_ns += op_ns;
	stage->left_ns -= op_ns;
	op_put(&stage->writer, kind);
	if (kind == OP_W)
		return;
	zb->end_ns[kind][at(zb, s, microbatch)] = stage->clock_ns;
	stage->last = kind == OP_F ? ZB_TURN_F : ZB_TURN_B;
}

/* Let a stage decide again, unless it has nothing left. */
static void wake(struct zb *zb, int s)
{
	if (s < 0 || s >= zb->request->times.n_stages)
		return;
	if (zb->stages[s].writer.n_ops == OP_KINDS * zb->request->n_microbatches)
		stage_queue_set(&zb->queue, s, STAGE_QUEUE_NEVER);
	else
		stage_queue_set(&zb->queue, s, zb->stages[s].clock_ns);
}

/* Place the next op. Returns its stage; −1: no stage can decide. */
static int step(struct zb *zb, bool is_forced)
{
	int s;

	while ((s = stage_queue_first(&zb->queue)) >= 0) {
		enum op_kind kind;

		if (choose(zb, s, is_forced, &kind)) {
			place(zb, s, kind);
			for (int woken = s - 1; woken <= s + 1; woken++)
				wake(zb, woken);
			return s;
		}
		stage_queue_set(&zb->queue, s, STAGE_QUEUE_NEVER);
	}
	return -1;
}

/* Two neighbours may each hope for an op of the other that comes only after their own; then all
 * wait. Forced, a stage counts only on what is certain, and some stage can always move: the oldest
 * microbatch without a B either has one coming, or lacks an F at a stage where every other is past
 * its B. */
static int step_or_force(struct zb *zb)
{
	int s = step(zb, false);

	if (s >= 0)
		return s;
	for (s = 0; s < zb->request->times.n_stages; s++)
		wake(zb, s);
	return step(zb, true);
}

static int64_t wanted_warmup(const struct zb *zb, int s)
{
	const struct zb_stage *stage = &zb->stages[s];
	int64_t gap_ns = stage->first_b_ns - stage->first_f_ns - zb->request->times.op_ns[OP_F][s];

	switch (zb->rules.lead) {
	case ZB_LEAD_CEIL:
		return 1 + gap_ns / stage->pace_ns + (gap_ns % stage->pace_ns > 0);
	case ZB_LEAD_FLOOR:
		return 1 + gap_ns / stage->pace_ns;
	case ZB_LEAD_SHAPE:
	case ZB_LEAD_FREE:
		break;
	}
	return 2 * (int64_t)(zb->request->times.n_stages - s) - 1;
}

static void restart(struct zb *zb, struct plan *plan)
{
	const struct plan_times *times = &zb->request->times;
	int64_t next = 0;

	stage_queue_reset(&zb->queue);
	for (int s = times->n_stages - 1; s >= 0; s--) {
		struct zb_stage *stage = &zb->stages[s];

		/* At least one more than the next stage, or that would wait for a forward that
		 * itself waits for a backward. */
		next = larger(wanted_warmup(zb, s), next + 1);
		next = next < stage->cap ? next : stage->cap;
		stage->warmup = (int)next;
		stage->writer = op_writer_at(plan, s);
		stage->clock_ns = 0;
		stage->left_ns =
			plan->n_microbatches *
			(times->op_ns[OP_F][s] + times->op_ns[OP_B][s] + times->op_ns[OP_W][s]);
		stage->last = ZB_TURN_NONE;
	}
}

int64_t zb_build(struct zb *zb, struct plan *plan)
{
	int64_t n_left = (int64_t)OP_KINDS * plan->n_microbatches * plan->n_stages;
	int64_t makespan_ns = 0;

	restart(zb, plan);
	for (; n_left > 0; n_left--) {
		int s = step_or_force(zb);

		if (s < 0 || zb->stages[s].clock_ns + zb->stages[s].left_ns >= zb->best_ns)
			return INT64_MAX;
		makespan_ns = larger(makespan_ns, zb->stages[s].clock_ns);
	}
	return makespan_ns;
}
