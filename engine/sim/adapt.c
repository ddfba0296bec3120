/* adapt.c - plans, and what makes a run change its plan and data plane at an iteration's edge. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/schedule/channel.h"
#include "engine/sim/run_internal.h"

static struct schedule_request planning_request(const struct sim *sim, bool has_straggler)
{
	int n_stages = sim->scenario->topology.n_stages;
	struct schedule_request request = {
		.times = {.n_stages = n_stages,
	                  .link_ns = has_straggler ? sim->link_ns : sim->healthy_ns},
		.healthy_link_ns = sim->healthy_ns,
		.n_microbatches = sim->scenario->n_microbatches,
		.limits = sim->limits,
		.n_fitting = profile_activation_limit(&sim->scenario->profile, 0),
		.has_straggler = has_straggler,
		.order = sim->request->order,
	};

	for (int kind = 0; kind < OP_KINDS; kind++)
		request.times.op_ns[kind] = sim->stage_op_ns + kind * n_stages;
	return request;
}

int sim_set_plane(struct sim *sim, enum plane_kind plane, struct err *err)
{
	struct sim_net *net;
	int rc = sim_net_new(&sim->plan, &sim->rules[plane], &net, err);

	if (rc)
		return rc;
	sim_net_free(sim->net);
	sim->net = net;
	sim->plane = plane;
	sim->plan_version++;
	return 0;
}

int sim_make_plan(struct sim *sim, bool has_straggler, enum plane_kind plane, struct err *err)
{
	struct schedule_request request = planning_request(sim, has_straggler);
	struct plan plan;
	int rc = schedule_make(sim->request->schedule, &request, &plan, err);

	if (rc)
		return rc;
	plan_fini(&sim->plan);
	sim->plan = plan;
	return sim_set_plane(sim, plane, err);
}

static void describe_plan(const struct plan *plan, struct strbuf *warmups, struct strbuf *clamped)
{
	for (int stage = 0; stage < plan->n_stages; stage++)
		strbuf_addf(warmups, stage ? " %d" : "%d", plan->warmups[stage]);
	for (size_t i = 0; i < plan->n_clamps; i++)
		strbuf_addf(clamped, "%sstage %d: %d instead of %d (%s)", i ? "; " : "",
		            plan->clamps[i].stage, plan->clamps[i].given, plan->clamps[i].asked,
		            plan->clamps[i].reason);
}

int sim_decide(struct sim *sim, const struct record_decision *decision, struct err *err)
{
	struct strbuf warmups = {0}, clamped = {0};
	struct record_decision row = *decision;
	int rc;

	describe_plan(&sim->plan, &warmups, &clamped);
	row.attempt = sim->attempt;
	row.at_ns = sim->now_ns + decision->at_ns;
	row.plane = sim->is_pinned ? PLANE_DELEGATE : sim->plane;
	row.warmups = strbuf_text(&warmups);
	row.clamped = strbuf_text(&clamped);
	rc = record_put_decision(sim->sink, &row, err);
	strbuf_fini(&warmups);
	strbuf_fini(&clamped);
	return rc;
}

/* The slowest of the links that are slow now; −1: all are healthy. */
static int slowest_link(const struct sim *sim)
{
	int slowest = -1;

	for (int link = 0; link < sim->scenario->topology.n_stages - 1; link++)
		if (sim->links[link].is_slow &&
		    (slowest < 0 || sim->links[link].transfer_ns > sim->links[slowest].transfer_ns))
			slowest = link;
	return slowest;
}

/* The same of stages. */
static int slowest_stage(const struct sim *sim)
{
	int slowest = -1;

	for (int stage = 0; stage < sim->scenario->topology.n_stages; stage++)
		if (sim->stages[stage].is_slow &&
		    (slowest < 0 || sim->stages[stage].factor > sim->stages[slowest].factor))
			slowest = stage;
	return slowest;
}

static int count_slow(const struct sim *sim)
{
	int n_slow = 0;

	for (int link = 0; link < sim->scenario->topology.n_stages - 1; link++)
		n_slow += sim->links[link].is_slow;
	return n_slow;
}

/* What made a schedule decide: the slowest link, and the slowest stage where the plan is made for
 * that, too. */
static void describe_change(const struct sim *sim, int link, int stage, struct strbuf *reason)
{
	bool replans = sim->request->schedule->adaptation == SCHEDULE_REPLANS;
	int n_slow = count_slow(sim);
	char seen[UNITS_TEXT_BYTES];

	if (link < 0 && stage < 0)
		strbuf_addf(reason, "all links %sare healthy again", replans ? "and stages " : "");
	if (link >= 0)
		strbuf_addf(reason, "link %d-%d takes %s a message", link, link + 1,
		            units_format_duration(sim->links[link].transfer_ns, seen));
	if (n_slow > 1)
		strbuf_addf(reason, ", the slowest of %d slow links", n_slow);
	if (stage >= 0)
		strbuf_addf(reason, "%sstage %d takes %.3g times as long", link < 0 ? "" : "; ",
		            stage, sim->stages[stage].factor);
}

/* One row of the record a decision. stage −1: none is slow, or that is no reason. */
static int record_change(struct sim *sim, int iteration, int link, int stage,
                         enum decision_kind kind, struct err *err)
{
	struct record_decision decision = {.kind = kind,
	                                   .iteration = iteration,
	                                   .link = link,
	                                   .seen_ns = -1,
	                                   .since_iteration = -1};
	struct strbuf reason = {0};
	int rc;

	describe_change(sim, link, stage, &reason);
	if (link >= 0) {
		decision.seen_ns = sim->links[link].transfer_ns;
		decision.since_iteration = sim->links[link].since_iteration;
	} else if (stage >= 0) {
		decision.since_iteration = sim->stages[stage].since_iteration;
	}
	decision.reason = strbuf_text(&reason);
	rc = sim_decide(sim, &decision, err);
	strbuf_fini(&reason);
	return rc;
}

void sim_believe_stages(struct sim *sim)
{
	int n_stages = sim->scenario->topology.n_stages;

	for (int i = 0; i < OP_KINDS * n_stages; i++)
		sim->stage_op_ns[i] =
			(int64_t)((double)sim->op_ns[i] * sim->stages[i % n_stages].factor + 0.5);
}

/* The plan stays, whatever stages do; what is believed of links chooses the plane. */
static int move(struct sim *sim, int iteration, int link, enum plane_kind plane, struct err *err)
{
	int rc;

	if (plane == sim->plane)
		return 0;
	rc = sim_set_plane(sim, plane, err);
	return rc ? rc
	          : record_change(sim, iteration, link, -1,
	                          link < 0 ? DECISION_RECOVER : DECISION_SWITCH_PLANE, err);
}

static int replan(struct sim *sim, int iteration, int link, enum plane_kind plane, struct err *err)
{
	int stage = slowest_stage(sim), rc;

	for (int i = 0; i < sim->scenario->topology.n_stages - 1; i++)
		sim->link_ns[i] = sim->links[i].transfer_ns;
	sim_believe_stages(sim);
	rc = sim_make_plan(sim, link >= 0, plane, err);
	return rc ? rc
	          : record_change(sim, iteration, link, stage,
	                          link < 0 && stage < 0 ? DECISION_RECOVER : DECISION_REPLAN, err);
}

/* Plan and plane for what is believed of links and stages, in force from iteration on. */
static int adapt(struct sim *sim, int iteration, struct err *err)
{
	int link = slowest_link(sim);
	enum plane_kind plane = link >= 0 || sim->is_pinned ? PLANE_DELEGATE : sim->start_plane;

	switch (sim->request->schedule->adaptation) {
	case SCHEDULE_FIXED:
		return 0;
	case SCHEDULE_MOVES:
		return move(sim, iteration, link, plane, err);
	case SCHEDULE_REPLANS:
		return replan(sim, iteration, link, plane, err);
	}
	return 0;
}

/* An op without what a delegate charges for its messages. */
static int64_t own_duration_ns(const struct sim *sim, int stage, const struct plan_op *op,
                               const struct sim_op_times *times)
{
	int64_t ns = times->end_ns - times->start_ns;
	bool has_input = (op->kind == OP_F && stage > 0) ||
	                 (op->kind == OP_B && stage < sim->plan.n_stages - 1);

	if (sim->plane == PLANE_DELEGATE)
		ns -= (has_input + plan_op_sends(&sim->plan, stage, op)) *
		      sim->rules[PLANE_DELEGATE].message_cost_ns;
	return ns;
}

/* A transfer without what the stream plane's window adds on a healthy link: that, too, comes and
 * goes with the plane, and is no fault of the link. */
static int64_t own_transfer_ns(const struct sim *sim, const struct sim_op_times *times)
{
	int64_t ns = times->arrive_ns - times->transfer_start_ns;

	if (sim->plane == PLANE_STREAM)
		ns -= world_window_ns(sim->world, sim->rules[PLANE_STREAM].window_bytes);
	return ns;
}

/* A message that took so long, of which so much may be a worker's that had not looked. */
static void feed_transfer(struct sim *sim, int from_stage, int to_stage, int64_t transfer_ns,
                          int64_t unsure_ns)
{
	struct executor *executor = sim->request->executor;
	bool can_tell = monitor_can_tell(sim->monitor, transfer_ns, unsure_ns);

	if (executor) {
		executor->n_judged++;
		executor->n_unsure += !can_tell;
	}
	if (can_tell)
		monitor_add_transfer(sim->monitor, from_stage, to_stage, transfer_ns);
}

/* Replicas meet the same faults, so their samples are no more news than those of one: an op and a
 * message count once, as long as they took on average. */
static void feed_op(struct sim *sim, int i)
{
	int stage = i / (OP_KINDS * sim->plan.n_microbatches), n_arrived = 0;
	const struct plan_op *op = &sim->plan.ops[i];
	int64_t op_ns = 0, transfer_ns = 0, unsure_ns = 0;

	for (int replica = 0; replica < sim->n_timed; replica++) {
		const struct sim_op_times *times = sim_times(sim, replica) + i;

		op_ns += own_duration_ns(sim, stage, op, times);
		if (times->arrive_ns < 0)
			continue;
		transfer_ns += own_transfer_ns(sim, times);
		unsure_ns += times->left_late_ns + times->unseen_ns;
		n_arrived++;
	}
	monitor_add_op(sim->monitor, stage, op->kind, op_ns / sim->n_timed);
	if (n_arrived > 0)
		feed_transfer(sim, stage, op->kind == OP_F ? stage + 1 : stage - 1,
		              transfer_ns / n_arrived, unsure_ns / n_arrived);
}

static void feed_monitor(struct sim *sim)
{
	for (int i = 0; i < sim_n_ops(sim); i++)
		feed_op(sim, i);
}

int sim_adapt(struct sim *sim, struct err *err)
{
	bool is_news;

	if (!sim->monitor)
		return 0;
	feed_monitor(sim);
	is_news = monitor_edge(sim->monitor, sim->iteration, sim->links);
	/* A slow stage changes plans, but not the plane. */
	if (monitor_stages(sim->monitor, sim->stages) &&
	    sim->request->schedule->adaptation == SCHEDULE_REPLANS)
		is_news = true;
	return is_news ? adapt(sim, sim->iteration + 1, err) : 0;
}

int sim_adapt_by_oracle(struct sim *sim, struct err *err)
{
	bool is_news = false;

	if (!sim->request->is_oracle || sim->request->schedule->adaptation == SCHEDULE_FIXED)
		return 0;
	for (int link = 0; link < sim->scenario->topology.n_stages - 1; link++) {
		struct monitor_link *state = &sim->links[link];
		int64_t truth_ns = world_link_ns(sim->world, link);

		if (truth_ns == state->transfer_ns)
			continue;
		is_news = true;
		*state = (struct monitor_link){.is_slow = truth_ns > sim->healthy_ns[link],
		                               .transfer_ns = truth_ns,
		                               .since_iteration = sim->iteration};
	}
	return is_news ? adapt(sim, sim->iteration, err) : 0;
}
