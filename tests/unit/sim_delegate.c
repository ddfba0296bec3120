/* sim_delegate.c - tests the delegate plane: queues, the cost of a message, and that with latency
 * alone it is the planner's own replay. */
#include <errno.h>

#include "engine/base/rng.h"
#include "tests/net_case.h"
#include "tests/tap.h"
#include "tests/unit/schedule_fixture.h"

static struct plane_rules delegate_rules(int n_queues, int64_t cost_ns)
{
	struct plane_rules rules = plane_delegate();

	rules.n_queues = n_queues;
	rules.message_cost_ns = cost_ns;
	return rules;
}

static int count_differences(const struct net_case *c)
{
	int n_ops = c->plan.n_stages * OP_KINDS * c->plan.n_microbatches, n = 0;

	for (int i = 0; i < n_ops; i++)
		n += c->times[i].start_ns != c->plan.ops[i].start_ns;
	return n;
}

static void test_equals_plan(void)
{
	int n_plans = 0, n_wrong = 0;
	size_t n_schedules = 0;

	while (schedule_list()[n_schedules])
		n_schedules++;
	for (uint64_t seed = 0; seed < 300; seed++) {
		const struct schedule_ops *schedule = schedule_list()[seed % n_schedules];
		struct plane_rules rules;
		struct fixture fixture;
		struct err err = {0};
		struct plan plan;
		struct net_case c = {0};

		fixture_random(&fixture, seed);
		/* csv: has no order here. */
		if (schedule_make(schedule, &fixture.request, &plan, &err))
			continue;
		memcpy(c.op_ns, fixture.op_ns, sizeof(c.op_ns));
		for (int link = 0; link < plan.n_stages - 1; link++)
			for (int i = 0; i < SIM_DIRECTIONS; i++)
				c.messages[SIM_DIRECTIONS * link + i].latency_ns =
					fixture.link_ns[link];
		/* One queue is enough: latency holds none. */
		rules = delegate_rules(1, 0);
		if (!net_case_adopt(&c, plan))
			return;
		n_plans++;
		n_wrong += !net_case_run(&c, &rules) || count_differences(&c) != 0 ||
		           c.outcome.makespan_ns != plan.makespan_ns || c.outcome.blocked_ns != 0;
		net_case_fini(&c);
	}
	tap_ok(n_plans > 200, "there are many random plans (%d)", n_plans);
	tap_is_int(n_wrong, 0, "latency over delegates is the planner's replay, op by op");
}

/* Seven messages asked for at 1, 2, …, 7, each holding its queue for 100: when do they arrive? */
static void test_queues(int n_queues)
{
	struct plane_rules rules = delegate_rules(n_queues, 0);
	struct net_case c;
	int n_wrong = 0;

	if (!net_case_init(&c, "gpipe", 2, 7, 1))
		return;
	c.messages[sim_direction(0, false)].hold_ns = 100;
	if (net_case_run(&c, &rules))
		for (int mb = 0; mb < 7; mb++) {
			int64_t start_ns = mb % n_queues + 1 + mb / n_queues * 100;
			const struct sim_op_times *times = net_case_op(&c, 0, OP_F, mb);

			n_wrong += times->transfer_start_ns != start_ns ||
			           times->transfer_end_ns != start_ns + 100 ||
			           times->arrive_ns != start_ns + 100;
		}
	tap_is_int(n_wrong, 0, "%d queues carry so many messages at once", n_queues);
	net_case_fini(&c);
}

/* The first message of the forward direction is held for 100, the others for 10. */
static void hold_first(void *context, int direction, int microbatch, int64_t now_ns,
                       struct shape *message)
{
	(void)context;
	(void)now_ns;
	if (direction == sim_direction(0, false))
		message->hold_ns = microbatch == 0 ? 100 : 10;
}

static void test_no_head_of_line(int64_t transmit_ns)
{
	struct plane_rules rules = delegate_rules(2, 0);
	struct net_case c;

	if (!net_case_init(&c, "gpipe", 2, 3, 1))
		return;
	c.world.ask_message = hold_first;
	c.messages[sim_direction(0, false)].transmit_ns = transmit_ns;
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 0, OP_F, 0)->arrive_ns, 101 + transmit_ns,
		           "transmission %lld: a message that is held long arrives late",
		           (long long)transmit_ns);
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->arrive_ns,
		           12 + transmit_ns + (transmit_ns > 0),
		           "transmission %lld: the one in the other queue does not wait for it",
		           (long long)transmit_ns);
		tap_is_int(net_case_op(&c, 0, OP_F, 2)->transfer_start_ns, 12,
		           "transmission %lld: the third takes the queue that is free first",
		           (long long)transmit_ns);
	}
	net_case_fini(&c);
}

/* S = 3, N = 2: stage 0 sends F and receives B, stage 1 does both with either, stage 2 receives F
 * and sends B; W has no message. */
static void test_cost(void)
{
	static const int n_messages[3][OP_KINDS] = {{1, 1, 0}, {2, 2, 0}, {1, 1, 0}};
	struct plane_rules rules = delegate_rules(6, 3);
	struct net_case c;
	int n_wrong = 0;

	if (!net_case_init(&c, "zb", 3, 2, 10))
		return;
	if (net_case_run(&c, &rules))
		for (int stage = 0; stage < 3; stage++)
			for (int kind = 0; kind < OP_KINDS; kind++) {
				const struct sim_op_times *times =
					net_case_op(&c, stage, (enum op_kind)kind, 1);

				n_wrong += times->end_ns - times->start_ns !=
				           10 + 3 * n_messages[stage][kind];
			}
	tap_is_int(n_wrong, 0, "a message costs the op that sends it and the op that receives it");
	tap_is_int(c.outcome.compute_ns, 2 * (3 * 30 + 3 * 8), "the cost counts as computation");
	net_case_fini(&c);
}

static void test_single_stage(void)
{
	struct plane_rules rules = delegate_rules(6, 3);
	struct net_case c;

	if (!net_case_init(&c, "zb", 1, 5, 10))
		return;
	if (net_case_run(&c, &rules)) {
		tap_is_int(c.outcome.makespan_ns, 150, "one stage runs its ops and sends nothing");
		tap_is_int(c.outcome.wait_ns + c.outcome.blocked_ns, 0, "and waits for nobody");
	}
	net_case_fini(&c);
}

static void test_cannot_run(void)
{
	struct plane_rules rules = plane_delegate();
	struct sim_net *net = NULL;
	struct err err = {0};
	struct net_case c;

	if (!net_case_init(&c, "1f1b", 2, 1, 1))
		return;
	c.plan.ops[3] = (struct plan_op){.kind = OP_B};
	c.plan.ops[4] = (struct plan_op){.kind = OP_F};
	tap_is_int(sim_net_new(&c.plan, &rules, &net, &err), -EDEADLK,
	           "an order that cannot run is refused");
	tap_contains(err.text, "stage 1 at B0", "the sentence names where it is stuck");
	tap_ok(!net, "nothing is made");
	net_case_fini(&c);
}

int main(void)
{
	test_equals_plan();
	for (int n_queues = 1; n_queues <= 7; n_queues++)
		test_queues(n_queues);
	test_no_head_of_line(0);
	test_no_head_of_line(2);
	test_cost();
	test_single_stage();
	test_cannot_run();
	return tap_done();
}
