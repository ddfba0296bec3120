/* net_case.c - one iteration on the simulator's network, with storage of its own. */
#include "tests/net_case.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/schedule/order.h"
#include "tests/tap.h"

static void fill_times(struct net_case *c, int n_stages, int64_t op_ns)
{
	memset(c, 0, sizeof(*c));
	for (int stage = 0; stage < n_stages; stage++)
		for (int kind = 0; kind < OP_KINDS; kind++)
			c->op_ns[kind][stage] = op_ns;
}

static struct plan_times times_of(struct net_case *c, int n_stages)
{
	struct plan_times times = {.n_stages = n_stages, .link_ns = c->link_ns};

	for (int kind = 0; kind < OP_KINDS; kind++)
		times.op_ns[kind] = c->op_ns[kind];
	return times;
}

bool net_case_adopt(struct net_case *c, struct plan plan)
{
	size_t n_ops = (size_t)plan.n_stages * OP_KINDS * (size_t)plan.n_microbatches;

	c->plan = plan;
	for (int kind = 0; kind < OP_KINDS; kind++)
		c->world.op_ns[kind] = c->op_ns[kind];
	c->world.messages = c->messages;
	c->times = array_new(n_ops, sizeof(*c->times));
	return c->times || tap_ok(false, "there is memory for the times of %zu ops", n_ops);
}

bool net_case_init(struct net_case *c, const char *schedule, int n_stages, int n_microbatches,
                   int64_t op_ns)
{
	struct schedule_request request = {.n_microbatches = n_microbatches};
	struct err err = {0};
	const struct schedule_ops *ops = schedule_find(schedule, &err);
	struct plan plan;

	fill_times(c, n_stages, op_ns);
	request.times = times_of(c, n_stages);
	request.healthy_link_ns = c->link_ns;
	if (!ops || schedule_make(ops, &request, &plan, &err))
		return tap_ok(false, "%s makes a plan: %s", schedule, err.text);
	return net_case_adopt(c, plan);
}

bool net_case_letters(struct net_case *c, const char *const *letters, int n_stages,
                      int n_microbatches, int64_t op_ns)
{
	struct plan_times times;
	struct err err = {0};
	struct plan plan;

	fill_times(c, n_stages, op_ns);
	times = times_of(c, n_stages);
	if (plan_init(&plan, n_stages, n_microbatches, &err))
		return tap_ok(false, "a plan is made: %s", err.text);
	if (plan_from_letters(&plan, letters, &times, &err)) {
		plan_fini(&plan);
		return tap_ok(false, "a plan is made from letters: %s", err.text);
	}
	return net_case_adopt(c, plan);
}

void net_case_fini(struct net_case *c)
{
	plan_fini(&c->plan);
	free(c->times);
}

bool net_case_run(struct net_case *c, const struct plane_rules *rules)
{
	const struct sim_outcome *sum = &c->outcome;
	struct sim_net *net;
	struct err err = {0};

	if (sim_net_new(&c->plan, rules, &net, &err))
		return tap_ok(false, "the plan runs: %s", err.text);
	sim_net_run(net, &c->world, c->times, &c->outcome);
	sim_net_free(net);
	if (sum->compute_ns + sum->wait_ns + sum->blocked_ns ==
	            sum->makespan_ns * c->plan.n_stages &&
	    sum->wait_ns >= 0 && sum->blocked_ns >= 0)
		return true;
	return tap_ok(false, "the shares add up");
}

const struct sim_op_times *net_case_op(const struct net_case *c, int stage, enum op_kind kind,
                                       int microbatch)
{
	int per_stage = OP_KINDS * c->plan.n_microbatches;

	for (int i = stage * per_stage; i < (stage + 1) * per_stage; i++)
		if (c->plan.ops[i].kind == kind && c->plan.ops[i].microbatch == microbatch)
			return &c->times[i];
	return NULL;
}
