/* run.c - a scenario under one schedule, iteration after iteration.
 *
 * An iteration begins on all stages at once when the one before it has ended on all, as a
 * data-parallel all-reduce and the optimizer make it. Everything that changes the plan or the data
 * plane does so at that edge, except a dead RNIC. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/interrupt.h"
#include "engine/schedule/channel.h"
#include "engine/sim/run_internal.h"

static void sim_fini(struct sim *sim)
{
	plan_fini(&sim->plan);
	sim_net_free(sim->net);
	monitor_free(sim->monitor);
	world_free(sim->world);
	free(sim->op_ns);
	free(sim->healthy_ns);
	free(sim->link_ns);
	free(sim->limits);
	free(sim->links);
	free(sim->stages);
	free(sim->stage_op_ns);
	free(sim->rails);
	free(sim->is_down);
	free(sim->outages);
	free(sim->times);
	free(sim->ops);
}

static int allocate(struct sim *sim)
{
	const struct scenario *scenario = sim->scenario;
	size_t n_stages = (size_t)scenario->topology.n_stages;
	size_t n_ops =
		(size_t)sim->n_timed * n_stages * OP_KINDS * (size_t)scenario->n_microbatches;

	sim->op_ns = array_new(n_stages * OP_KINDS, sizeof(*sim->op_ns));
	sim->stage_op_ns = array_new(n_stages * OP_KINDS, sizeof(*sim->stage_op_ns));
	sim->stages = array_new(n_stages, sizeof(*sim->stages));
	sim->healthy_ns = array_new(n_stages, sizeof(*sim->healthy_ns));
	sim->link_ns = array_new(n_stages, sizeof(*sim->link_ns));
	sim->limits = array_new(n_stages, sizeof(*sim->limits));
	sim->links = array_new(n_stages, sizeof(*sim->links));
	sim->rails = array_new(n_stages, sizeof(*sim->rails));
	sim->is_down =
		array_new(n_stages * (size_t)scenario->topology.n_rails, sizeof(*sim->is_down));
	sim->outages = array_new(scenario->n_faults, sizeof(*sim->outages));
	sim->times = array_new(n_ops, sizeof(*sim->times));
	if (sim->sink->wants_ops)
		sim->ops = array_new(n_ops, sizeof(*sim->ops));
	if (!sim->op_ns || !sim->stage_op_ns || !sim->stages || !sim->healthy_ns || !sim->link_ns ||
	    !sim->limits || !sim->links || !sim->rails || !sim->is_down || !sim->outages ||
	    !sim->times || (sim->sink->wants_ops && !sim->ops))
		return -ENOMEM;
	return 0;
}

static void fill_inputs(struct sim *sim)
{
	const struct scenario *scenario = sim->scenario;
	int n_stages = scenario->topology.n_stages;

	for (int stage = 0; stage < n_stages; stage++) {
		const struct profile_stage *profile = &scenario->profile.stages[stage];

		sim->op_ns[OP_F * n_stages + stage] = profile->forward_ns;
		sim->op_ns[OP_B * n_stages + stage] = profile->backward_input_ns;
		sim->op_ns[OP_W * n_stages + stage] = profile->backward_weight_ns;
		sim->limits[stage] = scenario->activation_limit;
		sim->healthy_ns[stage] = sim->link_ns[stage] = world_healthy_ns(sim->world);
		sim->stages[stage] = (struct monitor_stage){.factor = 1, .since_iteration = -1};
		sim->links[stage] = (struct monitor_link){.transfer_ns = sim->healthy_ns[stage],
		                                          .since_iteration = -1};
	}
	for (size_t i = 0; i < scenario->n_faults; i++)
		sim->outages[i].since_ns = -1;
	sim_believe_stages(sim);
}

/* The rules of the plane as the schedule means them; an order of whole backwards is one of a system
 * that batches. */
static struct plane_rules preset_rules(const struct sim_request *request, enum plane_kind kind)
{
	if (kind == PLANE_STREAM && request->rules)
		return *request->rules;
	if (kind == PLANE_STREAM && request->order && request->order->merges_backward)
		return plane_batched();
	return schedule_plane_rules(request->schedule, kind);
}

static void fill_rules(struct sim *sim)
{
	const struct sim_request *request = sim->request;

	sim->start_plane =
		scenario_plane_of(sim->scenario,
	                          request->name ? request->name : request->schedule->name,
	                          request->schedule->plane);
	for (int kind = PLANE_STREAM; kind <= PLANE_DELEGATE; kind++) {
		sim->rules[kind] = preset_rules(request, (enum plane_kind)kind);
		sim->rules[kind].n_queues = sim->scenario->n_queues;
		sim->rules[kind].window_bytes = sim->scenario->window_bytes;
		sim->rules[kind].message_cost_ns = sim->scenario->delegate_cost_ns;
	}
	if (!request->rules)
		scenario_choose_stream(sim->scenario, &sim->rules[PLANE_STREAM]);
}

/* A tenth of the mean forward and backward time, where the scenario names no threshold. */
static int64_t detection_threshold_ns(const struct scenario *scenario)
{
	int64_t sum_ns = 0;

	if (scenario->detection.threshold_ns > 0)
		return scenario->detection.threshold_ns;
	for (int stage = 0; stage < scenario->topology.n_stages; stage++)
		sum_ns += scenario->profile.stages[stage].forward_ns +
		          scenario->profile.stages[stage].backward_input_ns;
	return sum_ns / scenario->topology.n_stages / 10;
}

static int64_t noise_ns(const struct sim_request *request)
{
	return request->executor ? request->executor->noise_ns : 0;
}

static int start_monitor(struct sim *sim, struct err *err)
{
	struct monitor_settings settings = {
		.n_stages = sim->scenario->topology.n_stages,
		.healthy_ns = sim->healthy_ns,
		.threshold_ns = detection_threshold_ns(sim->scenario) + noise_ns(sim->request),
		.confirm_iterations = sim->scenario->detection.confirm_iterations,
		.clear_iterations = sim->scenario->detection.clear_iterations,
	};

	if (sim->request->is_oracle || sim->request->schedule->adaptation == SCHEDULE_FIXED)
		return 0;
	return monitor_new(&settings, &sim->monitor, err);
}

/* What is known of ops beforehand, such as that a fault ends after its start, rests on the order of
 * microbatches. */
static int check_order(const struct sim *sim, struct err *err)
{
	if (!sim->request->order || plan_is_in_microbatch_order(sim->request->order))
		return 0;
	for (size_t i = 0; i < sim->scenario->n_faults; i++)
		if (fault_has_op(&sim->scenario->faults[i]))
			return err_set(err, -EINVAL,
			               "a fault starts or ends at an op, and the order of %s does "
			               "not keep microbatches in order; use an iteration or a time",
			               sim->request->name ? sim->request->name : "the schedule");
	return 0;
}

/* On failure the caller still calls sim_fini(). */
static int sim_init(struct sim *sim, const struct sim_request *request, struct record_sink *sink,
                    struct err *err)
{
	int rc;

	*sim = (struct sim){.request = request,
	                    .scenario = request->scenario,
	                    .sink = sink,
	                    .seed = scenario_repeat_seed(request->scenario, request->repeat),
	                    .n_timed =
	                            request->executor ? request->scenario->topology.n_replicas : 1};
	rc = world_new(sim->scenario, sim->seed, &sim->world, err);
	if (rc == 0 && allocate(sim))
		rc = err_set(err, -ENOMEM, "no memory to simulate %d stages and %d microbatches",
		             sim->scenario->topology.n_stages, sim->scenario->n_microbatches);
	if (rc)
		return rc;
	if (request->executor && request->executor->op_starts)
		world_share_ops(sim->world, request->executor->op_starts);
	if (request->executor)
		world_share_times(sim->world, request->executor->fault_times);
	if (request->executor && request->executor->packets)
		rc = world_measure(sim->world, request->executor->packets,
		                   request->executor->message_bytes, err);
	fill_inputs(sim);
	fill_rules(sim);
	rc = rc ? rc : start_monitor(sim, err);
	rc = rc ? rc : sim_make_plan(sim, false, sim->start_plane, err);
	return rc ? rc : check_order(sim, err);
}

/* A moment of the iteration, in the run; −1: nobody knows it, or it is past what happened. */
static int64_t moment_ns(const struct sim *sim, int64_t ns, int64_t last_ns)
{
	return ns >= 0 && ns <= last_ns ? sim->now_ns + ns : -1;
}

/* i: in sim->times. */
static struct record_op record_op(const struct sim *sim, int i, int64_t end_ns, int64_t last_ns)
{
	int in_plan = i % sim_n_ops(sim), stage = in_plan / (OP_KINDS * sim->plan.n_microbatches);
	const struct plan_op *op = &sim->plan.ops[in_plan];
	const struct sim_op_times *times = &sim->times[i];
	struct record_op row = {
		.stage = stage,
		.replica = i / sim_n_ops(sim),
		.kind = op->kind,
		.microbatch = op->microbatch,
		.start_ns = sim->now_ns + times->start_ns,
		.late_ns = times->late_ns,
		.end_ns = sim->now_ns + (times->end_ns < end_ns ? times->end_ns : end_ns),
		.message_request_ns = -1,
		.message_start_ns = moment_ns(sim, times->transfer_start_ns, last_ns),
		.message_end_ns = moment_ns(sim, times->transfer_end_ns, last_ns),
		.message_arrive_ns = moment_ns(sim, times->arrive_ns, last_ns),
		.message_rail = -1,
		.message_queue = -1,
	};

	if (!plan_op_sends(&sim->plan, stage, op))
		return row;
	row.message_request_ns = moment_ns(sim, times->end_ns, last_ns);
	if (row.message_start_ns < 0)
		return row;
	row.message_rail = times->rail;
	row.message_queue = times->queue;
	row.message_n_resends = times->n_resends;
	return row;
}

/* Ops of the iteration, of one that failed those that started before end_ns; one that was cut short
 * ends there, and what the failure cut short did not happen. Returns their number. */
static size_t collect_ops(struct sim *sim, int64_t end_ns, bool is_complete)
{
	int n_ops = sim->n_timed * sim_n_ops(sim);
	int64_t last_ns = is_complete ? INT64_MAX : end_ns;
	size_t n = 0;

	for (int i = 0; i < n_ops; i++)
		if (is_complete || sim->times[i].start_ns < end_ns)
			sim->ops[n++] = record_op(sim, i, end_ns, last_ns);
	return n;
}

/* All, or those that started before the failure at end_ns. */
static int64_t count_ops(const struct sim *sim, int64_t end_ns, bool is_complete)
{
	int64_t n_ops = (int64_t)sim->n_timed * sim_n_ops(sim), n = 0;

	if (is_complete)
		return n_ops;
	for (int64_t i = 0; i < n_ops; i++)
		n += sim->times[i].start_ns < end_ns;
	return n;
}

static int64_t message_bytes(const struct sim *sim)
{
	return sim->request->executor ? sim->request->executor->message_bytes
	                              : world_view(sim->world)->message_bytes;
}

static int record_iteration(struct sim *sim, const struct sim_outcome *outcome, double loss,
                            bool is_complete, struct err *err)
{
	int n_alike = sim->scenario->topology.n_replicas / sim->n_timed;
	struct record_iteration row = {
		.attempt = sim->attempt,
		.iteration = sim->iteration,
		.is_complete = is_complete,
		.plane = sim->plane,
		.start_ns = sim->now_ns,
		.duration_ns = outcome->makespan_ns,
		.compute_ns = outcome->compute_ns * n_alike,
		.wait_ns = outcome->wait_ns * n_alike,
		.blocked_ns = outcome->blocked_ns * n_alike,
		.loss = loss,
		.message_bytes = message_bytes(sim),
	};

	if (sim->ops && !sim->request->executor)
		sim_net_rails(&sim->plan, world_view(sim->world), sim->rails, sim->times);
	if (sim->ops) {
		row.n_ops = collect_ops(sim, outcome->makespan_ns, is_complete);
		row.ops = sim->ops;
	}
	sim->totals.n_ops += count_ops(sim, outcome->makespan_ns, is_complete);
	return record_put_iteration(sim->sink, &row, err);
}

/* Of the faults that are over after_ns from now. */
static int report_faults(struct sim *sim, int64_t after_ns, enum world_end end, struct err *err)
{
	const struct world_moment moment = {sim->attempt, sim->iteration, sim->now_ns + after_ns,
	                                    end};

	return world_report(sim->world, &moment, sim->sink, err);
}

void sim_sum_until(const struct sim *sim, int64_t end_ns, struct sim_outcome *out)
{
	*out = (struct sim_outcome){.makespan_ns = end_ns};
	for (int replica = 0; replica < sim->n_timed; replica++) {
		struct sim_outcome one;

		sim_outcome_until(&sim->plan, sim_times(sim, replica), end_ns, &one);
		out->compute_ns += one.compute_ns;
		out->wait_ns += one.wait_ns;
		out->blocked_ns += one.blocked_ns;
	}
}

int sim_end_by_restart(struct sim *sim, int fault, int64_t at_ns, struct err *err)
{
	struct sim_outcome part;
	int rc;

	sim_sum_until(sim, at_ns, &part);
	world_account(sim->world, &sim->plan, sim->times, sim->n_timed, at_ns);
	rc = record_iteration(sim, &part, NAN, false, err);
	if (rc == 0)
		rc = report_faults(sim, at_ns, WORLD_ATTEMPT_ENDS, err);
	if (rc == 0 && sim->monitor)
		monitor_drop_iteration(sim->monitor);
	return rc ? rc : sim_restart(sim, fault, at_ns, err);
}

/* Time the iteration, and again after every op in it at which a fault starts or ends, and after
 * every RNIC that dies in it, whichever comes first; a restart ends it. */
static int compute_iteration(struct sim *sim, struct sim_outcome *out, bool *is_over,
                             struct err *err)
{
	int64_t at_ns = 0, op_ns = 0;
	int fault, op, rc;

	*is_over = false;
	for (;;) {
		sim_net_run(sim->net, world_view(sim->world), sim->times, out);
		op = world_next_op(sim->world, &sim->plan, sim->times, &op_ns);
		fault = sim_next_outage(sim, out->makespan_ns, &at_ns);
		if (op >= 0 && (fault < 0 || op_ns <= at_ns)) {
			world_set_op(sim->world, op, op_ns);
			continue;
		}
		if (fault < 0)
			return 0;
		if (!sim_can_fail_over(sim, &sim->scenario->faults[fault])) {
			*is_over = true;
			return sim_end_by_restart(sim, fault, at_ns, err);
		}
		rc = sim_fail_over(sim, fault, at_ns, err);
		if (rc)
			return rc;
	}
}

/* A run that failed over goes on over delegates, under the plan it has. */
static int settle_plane(struct sim *sim, struct err *err)
{
	if (!sim->is_pinned || sim->plane == PLANE_DELEGATE)
		return 0;
	return sim_set_plane(sim, PLANE_DELEGATE, err);
}

static int step(struct sim *sim, struct err *err)
{
	struct sim_outcome outcome;
	double loss = NAN;
	bool is_over;
	int version, rc;

	world_forget_ops(sim->world, sim->iteration);
	world_begin(sim->world, sim->iteration, sim->now_ns);
	rc = sim_mend_rails(sim, err);
	if (rc == 0)
		rc = report_faults(sim, 0, WORLD_GOES_ON, err);
	if (rc == 0)
		rc = sim_adapt_by_oracle(sim, err);
	if (rc == 0 && sim->request->executor)
		rc = sim_execute(sim, &outcome, &loss, &is_over, err);
	else if (rc == 0)
		rc = compute_iteration(sim, &outcome, &is_over, err);
	if (rc == 0 && !is_over)
		rc = world_check_ops(sim->world, err);
	if (rc || is_over)
		return rc;
	world_account(sim->world, &sim->plan, sim->times, sim->n_timed, outcome.makespan_ns);
	rc = record_iteration(sim, &outcome, loss, true, err);
	version = sim->plan_version;
	if (rc == 0)
		rc = settle_plane(sim, err);
	sim->now_ns += outcome.makespan_ns;
	/* An iteration on two planes says nothing of either, and after the last one there is
	 * nothing left to decide for. */
	if (rc == 0 && version == sim->plan_version &&
	    sim->iteration + 1 < sim->scenario->n_iterations)
		rc = sim_adapt(sim, err);
	sim->iteration++;
	return rc;
}

static int run_to(struct sim *sim, int n_iterations, struct err *err)
{
	int rc = 0;

	while (rc == 0 && sim->iteration < n_iterations) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted at iteration %d of %d",
			               sim->iteration, sim->scenario->n_iterations);
		rc = step(sim, err);
	}
	return rc;
}

/* Run to the end, and tell the sink of the faults that are in force there, also when that came
 * early. */
static int run_all(struct sim *sim, struct err *err)
{
	int ended = run_to(sim, sim->scenario->n_iterations, err), rc = 0;

	if (ended == 0 || ended == -EINTR || ended == -ENETDOWN)
		rc = report_faults(sim, 0, WORLD_RUN_ENDS, err);
	if (rc == 0 && (ended == 0 || ended == -EINTR || ended == -ENETDOWN))
		rc = sim_report_outages(sim, err);
	sim->totals.total_ns = sim->now_ns;
	return rc ? rc : ended;
}

int sim_run(const struct sim_request *request, struct record_sink *sink, struct sim_totals *out,
            struct err *err)
{
	int rc = request->executor ? 0 : sim_check(request->scenario, err);
	struct sim sim;

	if (rc)
		return rc;
	rc = sim_init(&sim, request, sink, err);
	if (rc == 0)
		rc = run_all(&sim, err);
	if (rc == 0 || rc == -EINTR || rc == -ENETDOWN)
		*out = sim.totals;
	sim_fini(&sim);
	return rc;
}

int sim_plan_at(const struct sim_request *request, int iteration, struct plan *plan_out,
                enum plane_kind *plane_out, struct err *err)
{
	int rc = iteration > 0 ? sim_check(request->scenario, err) : 0;
	struct record_sink sink = record_null_sink();
	struct sim sim;

	if (rc)
		return rc;
	rc = sim_init(&sim, request, &sink, err);
	if (rc == 0)
		rc = run_to(&sim, iteration, err);
	if (rc == 0 && request->is_oracle) {
		world_begin(sim.world, sim.iteration, sim.now_ns);
		rc = sim_adapt_by_oracle(&sim, err);
	}
	if (rc == 0)
		rc = plan_copy(&sim.plan, plan_out, err);
	if (rc == 0)
		*plane_out = sim.plane;
	sim_fini(&sim);
	return rc;
}
