/* live.c - the coordinator: starts workers, gives them iterations, collects what they measured.
 *
 * Between iterations workers end the iteration's mathematics (gradients over replicas, optimizer,
 * checkpoint) while the caller puts the record away; the run's clock stands still meanwhile, and
 * how long that took is a fact of its own. Every wait has a limit, and whatever ends the
 * coordinator ends its workers. */
#include "engine/replay/live.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/replay/live_internal.h"
#include "engine/replay/traffic_internal.h"
#include "engine/sim/world.h"

enum {
	NOISE_NS = 150 * NS_PER_US, /* a message is seen after the computation that is under way */
	START_DELAY_NS = 30 * NS_PER_US, /* for the orders to reach the workers */
};

static size_t n_rails(const struct live *live)
{
	const struct topology *topology = &live->config.scenario->topology;

	return (size_t)topology->n_stages * (size_t)topology->n_rails;
}

/* Start all workers, connect them, and learn how fast they compute. */
static int start_workers(struct live *live, int attempt, int first_iteration, struct err *err)
{
	const struct order connect = {.kind = ORDER_CONNECT};
	int rc = crew_start(live, attempt, first_iteration, err);

	rc = rc ? rc : crew_collect(live, ANSWER_OPENED, limits_patience_ms(live), NULL, err);
	rc = rc ? rc : crew_order(live, &connect, err);
	rc = rc ? rc : crew_collect(live, ANSWER_READY, limits_patience_ms(live), NULL, err);
	live->has_stepped = true;
	live->plan_version = 0;
	live->has_rail_died = false;
	board_set_died(&live->board, false);
	memset(live->is_rail_down, 0, n_rails(live) * sizeof(*live->is_rail_down));
	return rc;
}

static void choose_delegates(struct live *live)
{
	const struct topology *topology = &live->config.scenario->topology;
	int n_workers = topology->n_hosts * topology->n_replicas, n_cores = delegates_cores();

	live->has_delegate_threads =
		delegates_are_threads(live->config.delegates, n_workers, n_cores);
	delegates_describe(live->config.delegates, n_workers, n_cores, live->facts.delegates);
}

static int check(const struct live *live, struct err *err)
{
	if (model_config_check(&live->model, err))
		return err_wrap(err, "the live model");
	return limits_check(live, err);
}

static int open_board(struct live *live, struct err *err)
{
	const struct scenario *scenario = live->config.scenario;
	struct board_size size = {.n_replicas = scenario->topology.n_replicas,
	                          .n_rails = scenario->topology.n_rails,
	                          .n_faults = scenario->n_faults};
	struct moment *ops;
	int rc;

	if (scenario_list_ops(scenario, &ops, &size.n_op_starts))
		return err_set(err, -ENOMEM, "no memory for the coordinator");
	free(ops);
	rc = board_open(&live->model, size, &live->board, err);
	live->base.op_starts = rc ? NULL : live->board.op_starts;
	return rc;
}

/* Whatever the speed. */
static int open_live(const struct live_config *config, struct live **out, struct err *err)
{
	const struct scenario *scenario = config->scenario;
	struct live *live = array_new(1, sizeof(*live));
	size_t tensor_bytes;
	int rc;

	if (!live)
		return err_set(err, -ENOMEM, "no memory for the coordinator");
	live->base.ops = &live_executor_ops;
	live->base.noise_ns = (int64_t)(NOISE_NS * config->speed);
	live->config = *config;
	live->model = model_default_config(scenario->topology.n_stages, scenario->n_microbatches,
	                                   config->seed);
	tensor_bytes = model_message_bytes(&live->model);
	live->payload_bytes = config->payload_bytes > (int64_t)tensor_bytes
	                              ? (size_t)config->payload_bytes
	                              : tensor_bytes;
	live->base.message_bytes = (int64_t)live->payload_bytes;
	live->run = rng_mix(config->seed, (uint64_t)clock_realtime_ns());
	facts_start(live);
	choose_delegates(live);
	live->is_rail_down = array_new(n_rails(live), sizeof(*live->is_rail_down));
	rc = live->is_rail_down ? check(live, err)
	                        : err_set(err, -ENOMEM, "no memory for the coordinator");
	rc = rc ? rc : open_board(live, err);
	rc = rc ? rc : watch_open(live, err);
	rc = rc ? rc : injection_open(live, err);
	rc = rc ? rc : traffic_open(live, err);
	rc = rc ? rc : start_workers(live, 0, 0, err);
	if (rc)
		live_close(&live->base);
	else
		*out = live;
	return rc;
}

int live_open(const struct live_config *config, struct executor **out, struct err *err)
{
	struct live *live;
	int rc = open_live(config, &live, err);

	if (rc)
		return rc;
	rc = speed_check(live, err);
	if (rc)
		live_close(&live->base);
	else
		*out = &live->base;
	return rc;
}

int live_fastest(const struct live_config *config, double *speed_out, struct err *err)
{
	struct live *live;
	int rc = open_live(config, &live, err);

	if (rc)
		return rc;
	*speed_out = speed_fastest(live);
	live_close(&live->base);
	return 0;
}

void live_close(struct executor *executor)
{
	struct live *live = (struct live *)executor;

	if (!live)
		return;
	crew_end(live);
	watch_close(live);
	injection_close(live);
	traffic_close(live);
	board_close(&live->board);
	free(live->is_rail_down);
	free(live);
}

static void put_plan(struct live *live, const struct executor_job *job)
{
	if (job->plan_version == live->plan_version)
		return;
	memcpy(live->board.ops, job->plan->ops,
	       (size_t)board_ops(&live->board) * sizeof(*live->board.ops));
	live->plan_version = job->plan_version;
}

static void clear_times(struct live *live)
{
	size_t n = (size_t)live->board.n_replicas * (size_t)board_ops(&live->board);

	for (size_t i = 0; i < n; i++)
		live->board.times[i] = (struct sim_op_times){.start_ns = INT64_MAX,
		                                             .end_ns = INT64_MAX,
		                                             .ready_ns = INT64_MAX,
		                                             .transfer_start_ns = -1,
		                                             .transfer_end_ns = -1,
		                                             .arrive_ns = -1};
}

/* More than fit are far in the future, or the run has to say so afterwards. */
static struct order make_order(const struct executor_job *job)
{
	struct order order = {
		.kind = ORDER_RUN,
		.attempt = job->attempt,
		.iteration = job->iteration,
		.plan_version = job->plan_version,
		.merges_backward = job->plan->merges_backward,
		.plane = job->plane,
		.rules = {job->rules[0], job->rules[1]},
		.run_start_ns = job->start_ns,
		.failover_ns = job->failover_ns,
		.wants_checkpoint = job->wants_checkpoint,
		.n_outages = job->n_outages < CONTROL_OUTAGES_MAX ? (int)job->n_outages
	                                                          : CONTROL_OUTAGES_MAX,
	};

	for (int i = 0; i < order.n_outages; i++)
		order.outages[i] = job->outages[i];
	return order;
}

/* Have the workers finished the mathematics of the iteration before? */
static int await_step(struct live *live, struct err *err)
{
	int rc;

	if (live->has_stepped)
		return 0;
	rc = crew_collect(live, ANSWER_STEPPED, limits_patience_ms(live), NULL, err);
	live->has_stepped = rc == 0;
	return rc;
}

static int tell_rails(struct live *live, struct err *err)
{
	const struct order rails = {.kind = ORDER_RAILS};
	int rc;

	memcpy(live->board.is_rail_down, live->is_rail_down,
	       n_rails(live) * sizeof(*live->is_rail_down));
	rc = crew_order(live, &rails, err);
	return rc ? rc : crew_collect(live, ANSWER_READY, limits_patience_ms(live), NULL, err);
}

/* Let the workers' rails be as the job says, before its iteration begins. What died in the
 * iteration before is first made known to those who had not noticed, so that all of them mend it
 * when it is back already. */
static int set_rails(struct live *live, const struct executor_job *job, struct err *err)
{
	size_t n_bytes = n_rails(live) * sizeof(*live->is_rail_down);
	int rc = rnics_follow(live, job->is_down, err);

	if (rc == 0 && live->has_rail_died)
		rc = tell_rails(live, err);
	live->has_rail_died = false;
	if (rc || memcmp(live->is_rail_down, job->is_down, n_bytes) == 0)
		return rc;
	memcpy(live->is_rail_down, job->is_down, n_bytes);
	return tell_rails(live, err);
}

static double mean_loss(const struct live *live)
{
	double sum = 0;

	for (int replica = 0; replica < live->board.n_replicas; replica++)
		sum += board_stage(&live->board, replica, live->board.n_stages - 1)->loss;
	return sum / live->board.n_replicas;
}

/* The iteration ends where the slowest replica's does. */
static void take_times(const struct live *live, struct executor_result *out)
{
	int n_ops = board_ops(&live->board) * live->board.n_replicas;

	memcpy(out->times, live->board.times, (size_t)n_ops * sizeof(*out->times));
	out->makespan_ns = 0;
	for (int i = 0; i < n_ops; i++)
		if (live->board.times[i].end_ns != INT64_MAX &&
		    live->board.times[i].end_ns > out->makespan_ns)
			out->makespan_ns = live->board.times[i].end_ns;
}

/* When an outage was to begin, since the iteration's start; far away where that was at an op which
 * did not start. */
static int64_t outage_ns(const struct live *live, const struct executor_job *job,
                         const struct executor_outage *outage)
{
	int64_t start_ns;

	if (outage->op < 0)
		return outage->at_ns;
	start_ns = __atomic_load_n(&live->board.op_starts[outage->op], __ATOMIC_ACQUIRE);
	return start_ns == WORLD_NOT_YET ? start_ns : start_ns - job->start_ns;
}

/* Who had nothing left to do may not have noticed an outage of its own; the job died of it all the
 * same. */
static void find_death(const struct live *live, const struct executor_job *job,
                       struct executor_result *out)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < job->n_outages; i++) {
		int64_t at_ns = outage_ns(live, job, &job->outages[i]);

		if (job->outages[i].is_fatal && at_ns < first_ns)
			first_ns = at_ns;
	}
	if (out->died_ns < 0 && first_ns < out->makespan_ns)
		out->died_ns = first_ns;
}

/* Which outages belong to the iteration: those before its end. A rail whose end nobody noticed is
 * closed before the next iteration. */
static int settle_outages(struct live *live, const struct executor_job *job,
                          struct executor_result *out, struct err *err)
{
	int n = live->config.scenario->topology.n_rails;
	bool has_any = false;
	int64_t end_ns;

	find_death(live, job, out);
	end_ns = out->died_ns >= 0 ? out->died_ns + 1 : out->makespan_ns;
	for (size_t i = 0; i < job->n_outages; i++) {
		const struct executor_outage *outage = &job->outages[i];

		out->has_fired[i] = outage_ns(live, job, outage) < end_ns;
		if (!out->has_fired[i])
			continue;
		if (i >= CONTROL_OUTAGES_MAX)
			return err_set(err, -EINVAL,
			               "more than %d RNICs die in iteration %d; use fewer",
			               CONTROL_OUTAGES_MAX, job->iteration);
		has_any = true;
		if (!outage->is_fatal && outage->lasts_ns < 0)
			live->has_rail_died = live->is_rail_down[outage->stage * n + outage->rail] =
				true;
	}
	return has_any || out->died_ns < 0 ? 0 : -ENETDOWN;
}

/* The job died, and no RNIC was to: a worker is gone, or the machine's own network failed. */
static int explain_death(struct live *live, const struct crew_report *report, struct err *err)
{
	int rc = crew_find_gone(live, err);

	return rc ? rc : err_set(err, -EIO, "%s, and no fault explains it", report->sentence);
}

/* Those whose moment came when all ops had ended, and a worker still waited for an acknowledgement.
 * The run's clock stood still then, so they are to come again in the next iteration. */
static uint32_t find_early(const struct order *ran, uint32_t handled, const bool *has_fired)
{
	uint32_t early = 0;

	for (int i = 0; i < ran->n_outages; i++)
		if (!has_fired[i])
			early |= handled & UINT32_C(1) << i;
	return early;
}

static int finish(struct live *live, const struct order *ran, uint32_t handled,
                  struct executor_result *out, struct err *err)
{
	struct order step = *ran;

	out->loss = mean_loss(live);
	facts_add(live);
	step.kind = ORDER_STEP;
	step.handled = handled;
	step.early = find_early(ran, handled, out->has_fired);
	live->has_stepped = false;
	return crew_order(live, &step, err);
}

static int prepare(struct live *live, const struct executor_job *job, struct err *err)
{
	int rc = await_step(live, err);

	rc = rc ? rc : set_rails(live, job, err);
	rc = rc ? rc : injection_begin(live, job, err);
	rc = rc ? rc : traffic_begin(live, err);
	if (rc)
		return rc;
	put_plan(live, job);
	clear_times(live);
	return 0;
}

static int live_run(struct executor *executor, const struct executor_job *job,
                    struct executor_result *out, struct err *err)
{
	struct live *live = (struct live *)executor;
	struct crew_report report = {.died_ns = -1};
	struct order order = make_order(job);
	int rc = prepare(live, job, err);

	if (rc)
		return rc;
	order.real_start_ns = clock_monotonic_ns() + START_DELAY_NS;
	facts_begin_iteration(live, order.real_start_ns);
	watch_begin(live, job, order.real_start_ns);
	rc = crew_order(live, &order, err);
	rc = rc ? rc : crew_collect(live, ANSWER_DONE, limits_timeout_ms(live, job), &report, err);
	watch_end(live);
	facts_end_iteration(live);
	rc = rc ? rc : traffic_end(live, err);
	if (rc)
		return rc;
	take_times(live, out);
	out->died_ns = report.died_ns;
	rc = settle_outages(live, job, out, err);
	if (rc == -ENETDOWN)
		return explain_death(live, &report, err);
	rc = rc ? rc : rnics_finish(live, job, out, err);
	if (rc || out->died_ns >= 0)
		return rc;
	return finish(live, &order, report.handled, out, err);
}

static int live_restart(struct executor *executor, int attempt, int iteration, int64_t cost_ns,
                        struct err *err)
{
	struct live *live = (struct live *)executor;
	int64_t until_ns = clock_monotonic_ns() + (int64_t)((double)cost_ns / live->config.speed);
	int rc;

	watch_look_restart(live, attempt, iteration);
	crew_kill(live);
	traffic_restart(live);
	rc = rnics_restore(live, cost_ns, err);
	rc = rc ? rc : start_workers(live, attempt, iteration, err);
	while (rc == 0 && clock_monotonic_ns() < until_ns) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted while the job starts again");
		watch_look_restart(live, attempt, iteration);
		clock_sleep_ns(NS_PER_MS);
	}
	/* The restart is part of the run's time, not something between iterations. */
	facts_end_iteration(live);
	return rc;
}

const struct executor_ops live_executor_ops = {
	.run = live_run,
	.restart = live_restart,
};
