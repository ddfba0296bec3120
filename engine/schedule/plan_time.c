/* plan_time.c - replays a fixed order and says when every op starts.
 *
 * A message arrives link_ns after its producer ended, in both directions; a stage runs its ops
 * strictly in order, each as soon as the one before it has ended and its message is there. This
 * replay gives every start and end of 123 recorded orders exactly (DESIGN.md section 4, fact 1).
 *
 * A stage is run until its next op lacks a message, then its neighbours are looked at again. Each
 * is looked at no more than once for every op beside it, so the cost is linear in ops. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/schedule/plan_internal.h"

enum { NAMED_STAGES_MAX = 8 };

/* A sum of all times of an iteration must stay below it; sums of several such sums do not overflow.
 */
static const int64_t TOTAL_NS_MAX = INT64_MAX / 16;

struct replay {
	const struct plan *plan;
	const struct plan_times *times; /* NULL: nothing takes any time */
	int64_t *end_ns[OP_KINDS];      /* of each op, by stage and microbatch; −1: not yet */
	int64_t *free_ns;               /* end of the stage's last op */
	int *next;                      /* the stage's next op */
	int *stack;                     /* stages to look at */
	bool *is_stacked;
	int n_stacked;
};

static int add_times(int64_t *total, int64_t time_ns, int n)
{
	int64_t product;

	if (time_ns < 0 || __builtin_mul_overflow(time_ns, (int64_t)n, &product) ||
	    product > TOTAL_NS_MAX - *total)
		return -EINVAL;
	*total += product;
	return 0;
}

int plan_times_check(const struct plan_times *times, int n_microbatches, struct err *err)
{
	int64_t total = 0;

	for (int s = 0; s < times->n_stages; s++)
		for (int kind = OP_F; kind <= OP_W; kind++)
			if (add_times(&total, times->op_ns[kind][s], n_microbatches))
				return err_set(err, -EINVAL,
				               "%c on stage %d takes %lld ns; wanted a time of at "
				               "least 0 and no more than years in all",
				               op_kind_letter((enum op_kind)kind), s,
				               (long long)times->op_ns[kind][s]);
	for (int i = 0; i + 1 < times->n_stages; i++)
		if (add_times(&total, times->link_ns[i], n_microbatches) ||
		    add_times(&total, times->link_ns[i], n_microbatches))
			return err_set(err, -EINVAL,
			               "link %d-%d takes %lld ns; wanted a time of at least 0 and "
			               "no more than years in all",
			               i, i + 1, (long long)times->link_ns[i]);
	return 0;
}

static void replay_fini(struct replay *replay)
{
	for (int kind = 0; kind < OP_KINDS; kind++)
		free(replay->end_ns[kind]);
	free(replay->free_ns);
	free(replay->next);
	free(replay->stack);
	free(replay->is_stacked);
}

static int replay_init(struct replay *replay, const struct plan *plan,
                       const struct plan_times *times, struct err *err)
{
	size_t n_stages = (size_t)plan->n_stages;
	size_t n = n_stages * (size_t)plan->n_microbatches;
	struct replay fresh = {.plan = plan, .times = times};

	for (int kind = 0; kind < OP_KINDS; kind++)
		fresh.end_ns[kind] = array_new(n, sizeof(int64_t));
	fresh.free_ns = array_new(n_stages, sizeof(*fresh.free_ns));
	fresh.next = array_new(n_stages, sizeof(*fresh.next));
	fresh.stack = array_new(n_stages, sizeof(*fresh.stack));
	fresh.is_stacked = array_new(n_stages, sizeof(*fresh.is_stacked));
	if (!fresh.end_ns[OP_F] || !fresh.end_ns[OP_B] || !fresh.end_ns[OP_W] || !fresh.free_ns ||
	    !fresh.next || !fresh.stack || !fresh.is_stacked) {
		replay_fini(&fresh);
		return err_set(err, -ENOMEM, "no memory to time a plan of %d stages",
		               plan->n_stages);
	}
	for (int kind = 0; kind < OP_KINDS; kind++)
		memset(fresh.end_ns[kind], 0xff, n * sizeof(int64_t));
	*replay = fresh;
	return 0;
}

static void stack_stage(struct replay *replay, int stage)
{
	if (stage < 0 || stage >= replay->plan->n_stages || replay->is_stacked[stage])
		return;
	replay->is_stacked[stage] = true;
	replay->stack[replay->n_stacked++] = stage;
}

static int64_t end_of(const struct replay *replay, enum op_kind kind, int stage, int microbatch)
{
	return replay->end_ns[kind][(size_t)stage * (size_t)replay->plan->n_microbatches +
	                            (size_t)microbatch];
}

/* When the message that op needs arrives from another stage; −1: its producer has not run. */
static int64_t arrival_from(const struct replay *replay, const struct plan_op *op, int from,
                            int link)
{
	/* A whole backward hands its gradient on when all of it is done. */
	enum op_kind sender = op->kind == OP_B && replay->plan->merges_backward ? OP_W : op->kind;
	int64_t end_ns = end_of(replay, sender, from, op->microbatch);

	if (end_ns < 0)
		return -1;
	return end_ns + (replay->times ? replay->times->link_ns[link] : 0);
}

/* When all that op waits for is there; −1: not known yet. */
static int64_t ready_ns(const struct replay *replay, int stage, const struct plan_op *op)
{
	switch (op->kind) {
	case OP_F:
		return stage > 0 ? arrival_from(replay, op, stage - 1, stage - 1) : 0;
	case OP_B:
		if (end_of(replay, OP_F, stage, op->microbatch) < 0)
			return -1;
		return stage + 1 < replay->plan->n_stages
		               ? arrival_from(replay, op, stage + 1, stage)
		               : 0;
	case OP_W:
		return end_of(replay, OP_B, stage, op->microbatch) < 0 ? -1 : 0;
	}
	return -1;
}

/* Run a stage as far as it gets. */
static void run_stage(struct replay *replay, int stage)
{
	const struct plan_op *ops = plan_stage(replay->plan, stage);
	int n_microbatches = replay->plan->n_microbatches;
	int first = replay->next[stage], next = first;
	int64_t now_ns = replay->free_ns[stage];

	for (; next < OP_KINDS * n_microbatches; next++) {
		const struct plan_op *op = &ops[next];
		int64_t at_ns = ready_ns(replay, stage, op);

		if (at_ns < 0)
			break;
		now_ns = at_ns > now_ns ? at_ns : now_ns;
		now_ns += replay->times ? replay->times->op_ns[op->kind][stage] : 0;
		replay->end_ns[op->kind][(size_t)stage * (size_t)n_microbatches +
		                         (size_t)op->microbatch] = now_ns;
	}
	replay->next[stage] = next;
	replay->free_ns[stage] = now_ns;
	if (next > first) {
		stack_stage(replay, stage - 1);
		stack_stage(replay, stage + 1);
	}
}

static int stuck(const struct replay *replay, struct err *err)
{
	const struct plan *plan = replay->plan;
	struct strbuf names = {0};
	int n_stuck = 0;

	for (int s = 0; s < plan->n_stages; s++) {
		const struct plan_op *op = plan_stage(plan, s) + replay->next[s];

		if (replay->next[s] == OP_KINDS * plan->n_microbatches)
			continue;
		if (n_stuck++ < NAMED_STAGES_MAX)
			strbuf_addf(&names, "%sstage %d at %c%d", n_stuck > 1 ? ", " : "", s,
			            op_kind_letter(op->kind), op->microbatch);
	}
	if (n_stuck > NAMED_STAGES_MAX)
		strbuf_addf(&names, " and %d more", n_stuck - NAMED_STAGES_MAX);
	(void)err_set(err, -EDEADLK, "the order cannot run, each stage waits for another: %s",
	              strbuf_text(&names));
	strbuf_fini(&names);
	return -EDEADLK;
}

static int run_all(struct replay *replay, struct err *err)
{
	const struct plan *plan = replay->plan;

	/* The last goes on the stack first, so that stage 0, which can start, is run first. */
	for (int s = plan->n_stages - 1; s >= 0; s--)
		stack_stage(replay, s);
	while (replay->n_stacked > 0) {
		int stage = replay->stack[--replay->n_stacked];

		replay->is_stacked[stage] = false;
		run_stage(replay, stage);
	}
	for (int s = 0; s < plan->n_stages; s++)
		if (replay->next[s] < OP_KINDS * plan->n_microbatches)
			return stuck(replay, err);
	return 0;
}

/* A second pass, so that a plan that cannot run keeps what it had. */
static void write_starts(const struct replay *replay, struct plan *plan, int stage)
{
	struct plan_op *ops = plan_stage(plan, stage);
	int64_t before_ns = 0;
	bool has_backward = false;

	plan->warmups[stage] = 0;
	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++) {
		struct plan_op *op = &ops[i];
		int64_t op_ns = replay->times->op_ns[op->kind][stage];

		/* W needs its own stage alone, so it starts when the op before it ends. */
		op->start_ns = before_ns;
		if (op->kind != OP_W)
			op->start_ns = end_of(replay, op->kind, stage, op->microbatch) - op_ns;
		op->idle_before_ns = op->start_ns - before_ns;
		before_ns = op->start_ns + op_ns;
		has_backward = has_backward || op->kind == OP_B;
		plan->warmups[stage] += op->kind == OP_F && !has_backward;
	}
	if (before_ns > plan->makespan_ns)
		plan->makespan_ns = before_ns;
}

/* Hostile orders must not index beyond the arrays. */
static int check_range(const struct plan *plan, struct err *err)
{
	size_t n = (size_t)plan->n_stages * OP_KINDS * (size_t)plan->n_microbatches;

	for (size_t i = 0; i < n; i++) {
		const struct plan_op *op = &plan->ops[i];

		if ((unsigned)op->kind > OP_W || op->microbatch < 0 ||
		    op->microbatch >= plan->n_microbatches)
			return err_set(err, -EINVAL,
			               "op %zu of the plan is %c%d; wanted F, B or W of microbatch "
			               "0 to %d",
			               i, op_kind_letter(op->kind), op->microbatch,
			               plan->n_microbatches - 1);
	}
	return 0;
}

int plan_time(struct plan *plan, const struct plan_times *times, struct err *err)
{
	struct replay replay;
	int rc;

	if (times->n_stages != plan->n_stages)
		return err_set(err, -EINVAL, "the times are for %d stages, the plan has %d",
		               times->n_stages, plan->n_stages);
	rc = plan_times_check(times, plan->n_microbatches, err);
	rc = rc ? rc : check_range(plan, err);
	rc = rc ? rc : replay_init(&replay, plan, times, err);
	if (rc)
		return rc;
	rc = run_all(&replay, err);
	if (rc == 0) {
		plan->makespan_ns = 0;
		for (int s = 0; s < plan->n_stages; s++)
			write_starts(&replay, plan, s);
	}
	replay_fini(&replay);
	return rc;
}

int plan_can_run(const struct plan *plan, struct err *err)
{
	struct replay replay;
	int rc = replay_init(&replay, plan, NULL, err);

	if (rc)
		return rc;
	rc = run_all(&replay, err);
	replay_fini(&replay);
	return rc;
}
