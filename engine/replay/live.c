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

enum {
	OPEN_TIMEOUT_MS = 20000,
	RUN_TIMEOUT_MS = 20000,
	RUN_TIMEOUT_FACTOR = 20,
	NOISE_NS = 150 * NS_PER_US, /* a message is seen after the computation that is under way */
	START_DELAY_NS = 30 * NS_PER_US, /* for the orders to reach the workers */
};

static int check_cpu_time(const struct live *live, struct err *err)
{
	const struct scenario *scenario = live->config.scenario;
	double sum_cpu_ns = 0, sum_op_ns = 0;

	for (int stage = 0; stage < scenario->topology.n_stages; stage++) {
		const struct profile_stage *profile = &scenario->profile.stages[stage];

		sum_cpu_ns += OP_KINDS * (double)board_stage(&live->board, 0, stage)->op_cpu_ns;
		sum_op_ns += (double)(profile->forward_ns + profile->backward_input_ns +
		                      profile->backward_weight_ns) /
		             live->config.speed;
	}
	if (strcmp(live->config.device->name, "paced") != 0 || sum_cpu_ns <= sum_op_ns / 10)
		return 0;
	return err_set(
		err, -EINVAL,
		"the model's own time for an op is %.0f us, and a tenth of what an op takes at "
		"speed %g is %.0f us; use --speed %g or less",
		sum_cpu_ns / OP_KINDS / scenario->topology.n_stages / NS_PER_US, live->config.speed,
		sum_op_ns / 10 / OP_KINDS / scenario->topology.n_stages / NS_PER_US,
		floor(live->config.speed * sum_op_ns / 10 / sum_cpu_ns));
}

/* Start all workers, connect them, and learn how fast they compute. */
static int start_workers(struct live *live, int attempt, int first_iteration, struct err *err)
{
	const struct order connect = {.kind = ORDER_CONNECT};
	int rc = crew_start(live, attempt, first_iteration, err);

	rc = rc ? rc : crew_collect(live, ANSWER_OPENED, OPEN_TIMEOUT_MS, NULL, err);
	rc = rc ? rc : crew_order(live, &connect, err);
	rc = rc ? rc : crew_collect(live, ANSWER_READY, OPEN_TIMEOUT_MS, NULL, err);
	live->has_stepped = true;
	live->plan_version = 0;
	return rc;
}

static int check_scenario(const struct live_config *config, const struct model_config *model,
                          size_t payload_bytes, struct err *err)
{
	const struct topology *topology = &config->scenario->topology;
	double need_bytes = (double)payload_bytes * model->n_microbatches * topology->n_stages *
	                    topology->n_replicas * 12;

	if (model_config_check(model, err))
		return err_wrap(err, "the live model");
	if (need_bytes > 8e9)
		return err_set(
			err, -EINVAL,
			"messages of %zu bytes need %.1f GB of buffers here, 8 are the most; use "
			"smaller messages or fewer microbatches",
			payload_bytes, need_bytes / 1e9);
	return 0;
}

int live_open(const struct live_config *config, struct executor **out, struct err *err)
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
	live->run = rng_mix(config->seed, (uint64_t)clock_realtime_ns());
	facts_start(live);
	rc = check_scenario(config, &live->model, live->payload_bytes, err);
	rc = rc ? rc : board_open(&live->model, scenario->topology.n_replicas, &live->board, err);
	rc = rc ? rc : start_workers(live, 0, 0, err);
	rc = rc ? rc : check_cpu_time(live, err);
	if (rc)
		live_close(&live->base);
	else
		*out = &live->base;
	return rc;
}

void live_close(struct executor *executor)
{
	struct live *live = (struct live *)executor;

	if (!live)
		return;
	crew_end(live);
	board_close(&live->board);
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
		                                             .transfer_start_ns = -1,
		                                             .transfer_end_ns = -1,
		                                             .arrive_ns = -1};
}

static int make_order(const struct live *live, const struct executor_job *job, struct order *out,
                      struct err *err)
{
	*out = (struct order){
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
	};
	if (job->n_outages > CONTROL_OUTAGES_MAX)
		return err_set(err, -EINVAL, "%zu RNICs may die at once, %d are the most",
		               job->n_outages, CONTROL_OUTAGES_MAX);
	out->n_outages = (int)job->n_outages;
	for (size_t i = 0; i < job->n_outages; i++)
		out->outages[i] = job->outages[i];
	(void)live;
	return 0;
}

/* Have the workers finished the mathematics of the iteration before? */
static int await_step(struct live *live, struct err *err)
{
	int rc;

	if (live->has_stepped)
		return 0;
	rc = crew_collect(live, ANSWER_STEPPED, OPEN_TIMEOUT_MS, NULL, err);
	live->has_stepped = rc == 0;
	return rc;
}

static int timeout_ms(const struct live *live, const struct executor_job *job)
{
	double ms = (double)job->plan->makespan_ns / live->config.speed / NS_PER_MS;

	return RUN_TIMEOUT_MS + (int)fmin(ms * RUN_TIMEOUT_FACTOR, 1e8);
}

static double mean_loss(const struct live *live)
{
	double sum = 0;

	for (int replica = 0; replica < live->board.n_replicas; replica++)
		sum += board_stage(&live->board, replica, live->board.n_stages - 1)->loss;
	return sum / live->board.n_replicas;
}

/* The slowest replica's end; op times are those of the first. */
static void take_times(const struct live *live, struct executor_result *out)
{
	int n_ops = board_ops(&live->board);

	memcpy(out->times, board_times(&live->board, 0), (size_t)n_ops * sizeof(*out->times));
	out->makespan_ns = 0;
	for (int i = 0; i < n_ops * live->board.n_replicas; i++)
		if (live->board.times[i].end_ns != INT64_MAX &&
		    live->board.times[i].end_ns > out->makespan_ns)
			out->makespan_ns = live->board.times[i].end_ns;
}

static int finish(struct live *live, const struct order *ran, struct executor_result *out,
                  struct err *err)
{
	struct order step = *ran;

	out->loss = mean_loss(live);
	facts_add(live);
	step.kind = ORDER_STEP;
	live->has_stepped = false;
	return crew_order(live, &step, err);
}

static int live_run(struct executor *executor, const struct executor_job *job,
                    struct executor_result *out, struct err *err)
{
	struct live *live = (struct live *)executor;
	struct crew_report report = {.died_ns = -1};
	struct order order;
	int rc = make_order(live, job, &order, err);

	rc = rc ? rc : await_step(live, err);
	if (rc)
		return rc;
	put_plan(live, job);
	clear_times(live);
	order.real_start_ns = clock_monotonic_ns() + START_DELAY_NS;
	facts_begin_iteration(live, order.real_start_ns);
	rc = crew_order(live, &order, err);
	rc = rc ? rc : crew_collect(live, ANSWER_DONE, timeout_ms(live, job), &report, err);
	facts_end_iteration(live);
	if (rc)
		return rc;
	take_times(live, out);
	out->died_ns = report.died_ns;
	for (size_t i = 0; i < job->n_outages; i++)
		out->has_fired[i] = report.died_ns >= 0 ? job->outages[i].at_ns <= report.died_ns
		                                        : report.fired >> i & 1;
	return report.died_ns >= 0 ? 0 : finish(live, &order, out, err);
}

static int live_restart(struct executor *executor, int attempt, int iteration, int64_t cost_ns,
                        struct err *err)
{
	struct live *live = (struct live *)executor;
	int64_t until_ns = clock_monotonic_ns() + (int64_t)((double)cost_ns / live->config.speed);
	int rc;

	crew_kill(live);
	rc = start_workers(live, attempt, iteration, err);
	while (rc == 0 && clock_monotonic_ns() < until_ns) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted while the job starts again");
		clock_sleep_ns(NS_PER_MS);
	}
	return rc;
}

const struct executor_ops live_executor_ops = {
	.run = live_run,
	.restart = live_restart,
};
