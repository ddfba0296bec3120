/* watch.c - reads off the board what every stage is at.
 *
 * A worker writes when an op started and ended once it has ended, so the first op of a stage that
 * has no end is the one in hand. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/live_internal.h"
#include "engine/schedule/channel.h"

static const int64_t PAUSE_NS = NS_PER_S / 10;

int watch_open(struct live *live, struct err *err)
{
	struct watch *watch = &live->watch;
	int n_stages = live->board.n_stages;

	if (!live->config.watcher)
		return 0;
	watch->stages = array_new((size_t)n_stages, sizeof(*watch->stages));
	if (!watch->stages)
		return err_set(err, -ENOMEM, "no memory to watch %d stages", n_stages);
	watch->moment = (struct watch_moment){
		.n_stages = n_stages,
		.n_ops = OP_KINDS * live->board.n_microbatches,
		.stages = watch->stages,
	};
	return 0;
}

void watch_close(struct live *live)
{
	free(live->watch.stages);
	live->watch.stages = NULL;
}

void watch_begin(struct live *live, const struct executor_job *job, int64_t real_start_ns)
{
	live->watch.job = job;
	live->watch.real_start_ns = real_start_ns;
}

void watch_end(struct live *live)
{
	live->watch.job = NULL;
}

static bool has_ended(const struct live *live, int stage, int op)
{
	int n_ops = live->watch.moment.n_ops;

	return __atomic_load_n(&live->board.times[stage * n_ops + op].end_ns, __ATOMIC_RELAXED) !=
	       INT64_MAX;
}

/* Has the neighbour computed what op needs? */
static bool has_input(const struct live *live, int stage, const struct plan_op *op)
{
	const struct plan *plan = live->watch.job->plan;
	int from = stage + (op->kind == OP_F ? -1 : 1);

	if (op->kind == OP_W || from < 0 || from >= plan->n_stages)
		return true;
	for (int i = 0; i < live->watch.moment.n_ops; i++) {
		const struct plan_op *other = plan_stage(plan, from) + i;

		if (other->microbatch == op->microbatch &&
		    (other->kind == OP_F) == (op->kind == OP_F) && plan_op_sends(plan, from, other))
			return has_ended(live, from, i);
	}
	return true;
}

static struct watch_stage look_at(const struct live *live, int stage)
{
	int n_ops = live->watch.moment.n_ops, n_ended = 0;
	const struct plan_op *op;

	while (n_ended < n_ops && has_ended(live, stage, n_ended))
		n_ended++;
	if (n_ended == n_ops)
		return (struct watch_stage){.doing = WATCH_NOTHING, .n_ended = n_ended};
	op = plan_stage(live->watch.job->plan, stage) + n_ended;
	return (struct watch_stage){
		.doing = has_input(live, stage, op) ? WATCH_OP : WATCH_INPUT,
		.kind = op->kind,
		.microbatch = op->microbatch,
		.n_ended = n_ended,
	};
}

static bool is_due(struct live *live)
{
	int64_t now_ns;

	if (!live->config.watcher)
		return false;
	now_ns = clock_monotonic_ns();
	if (now_ns < live->watch.due_ns)
		return false;
	live->watch.due_ns = now_ns + PAUSE_NS;
	return true;
}

static void show(struct live *live, int64_t begun_ns)
{
	live->config.watcher->look(live->config.watcher, &live->watch.moment);
	live->facts.watching_ns += clock_thread_cpu_ns() - begun_ns;
}

void watch_look(struct live *live)
{
	const struct executor_job *job = live->watch.job;
	struct watch_moment *moment = &live->watch.moment;
	int64_t begun_ns, since_ns;

	if (!job || !is_due(live))
		return;
	begun_ns = clock_thread_cpu_ns();
	since_ns = clock_monotonic_ns() - live->watch.real_start_ns;
	moment->attempt = job->attempt;
	moment->iteration = job->iteration;
	moment->is_restarting = false;
	moment->plane = job->plane;
	moment->run_ns = job->start_ns + (int64_t)((double)since_ns * live->config.speed);
	for (int stage = 0; stage < moment->n_stages; stage++)
		live->watch.stages[stage] = look_at(live, stage);
	show(live, begun_ns);
}

void watch_look_restart(struct live *live, int attempt, int iteration)
{
	struct watch_moment *moment = &live->watch.moment;

	/* That it begins is not to be missed. */
	if (!moment->is_restarting)
		live->watch.due_ns = 0;
	if (!is_due(live))
		return;
	moment->attempt = attempt;
	moment->iteration = iteration;
	moment->is_restarting = true;
	show(live, clock_thread_cpu_ns());
}

int watch_wait_ms(const struct live *live, int most_ms)
{
	int64_t left_ns;

	if (!live->config.watcher || !live->watch.job)
		return most_ms;
	left_ns = live->watch.due_ns - clock_monotonic_ns();
	if (left_ns <= 0)
		return 1;
	return left_ns / NS_PER_MS < most_ms ? (int)(left_ns / NS_PER_MS) + 1 : most_ms;
}
