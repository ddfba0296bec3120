/* sim_stream_rules.c - tests the rules of the stream plane against cases worked out by hand. */
#include "engine/base/rng.h"
#include "tests/net_case.h"
#include "tests/tap.h"

/* A stage of three microbatches: all forwards, all backwards, then W; and one that alternates. */
static const char *const spread[] = {"FFFBBBWWW", "FBFBFBWWW"};

static struct plane_rules stream_rules(bool has_one_issue_queue, bool host_waits)
{
	struct plane_rules rules = plane_unbatched();

	rules.has_one_issue_queue = has_one_issue_queue;
	rules.host_waits = host_waits;
	return rules;
}

/* Both directions hold their channel for hold_ns. */
static void set_hold(struct net_case *c, int64_t hold_ns)
{
	for (int link = 0; link < c->plan.n_stages - 1; link++) {
		c->messages[sim_direction(link, false)].hold_ns = hold_ns;
		c->messages[sim_direction(link, true)].hold_ns = hold_ns;
	}
}

/* Stage 0's forwards are slow (10), all else is fast (1), a message holds the channel for 5. In
 * plan order, which is that of unit times, all three activations go before the first gradient.
 * Asked for are, at 10, 17, 20 and 30: activation, gradient, activation, activation. */
static void test_channel_order(enum channel_order order, int64_t gradient_ns, int64_t activation_ns,
                               int64_t makespan_ns)
{
	const char *name = order == CHANNEL_PLAN_ORDER ? "plan order" : "request order";
	struct plane_rules rules = stream_rules(false, false);
	struct net_case c;

	rules.order = order;
	if (!net_case_letters(&c, spread, 2, 3, 1))
		return;
	c.op_ns[OP_F][0] = 10;
	set_hold(&c, 5);
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, gradient_ns,
		           "%s: the first gradient enters the channel", name);
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->transfer_start_ns, activation_ns,
		           "%s: the second activation enters the channel", name);
		tap_is_int(c.outcome.makespan_ns, makespan_ns, "%s: the iteration ends", name);
	}
	net_case_fini(&c);
}

static void test_separate_channels(void)
{
	struct plane_rules rules = stream_rules(false, false);
	struct net_case c;

	rules.is_channel_shared = false;
	if (!net_case_letters(&c, spread, 2, 3, 1))
		return;
	c.op_ns[OP_F][0] = 10;
	set_hold(&c, 5);
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, 17,
		           "a channel a direction: the gradient enters when it was made");
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->transfer_start_ns, 20,
		           "a channel a direction: so does the activation");
	}
	net_case_fini(&c);
}

/* Ops of 10, activations hold the channel for 30: when does stage 0 start its forwards? */
static void test_issue_queue(bool has_one, bool host_waits, const int64_t *wanted, const char *name)
{
	struct plane_rules rules = stream_rules(has_one, host_waits);
	struct net_case c;

	if (!net_case_letters(&c, spread, 2, 3, 10))
		return;
	c.messages[sim_direction(0, false)].hold_ns = 30;
	if (net_case_run(&c, &rules))
		for (int mb = 0; mb < 3; mb++)
			tap_is_int(net_case_op(&c, 0, OP_F, mb)->start_ns, wanted[mb],
			           "%s: forward %d starts", name, mb);
	net_case_fini(&c);
}

static void test_issue_queues(void)
{
	static const int64_t ended[] = {0, 40, 80};
	static const int64_t started[] = {0, 10, 40};
	static const int64_t at_once[] = {0, 10, 20};

	test_issue_queue(true, true, ended, "one issue queue, the host waits");
	test_issue_queue(true, false, started, "one issue queue, the host runs ahead");
	test_issue_queue(false, false, at_once, "many issue queues");
	test_issue_queue(false, true, at_once, "many issue queues, the host waits");
}

struct wanted_op {
	int stage;
	enum op_kind kind;
	int microbatch;
	int64_t start_ns;
};

/* 1F1B, S = 2, N = 2, ops of 10, messages of 30 in either direction. Stage 0 sends from 10 to 40
 * and from 50 to 80. Stage 1 runs F0 B0 W0 from 40 to 70 and sends from 70 to 100; F1's input came
 * at 80. */
static void test_batched(void)
{
	static const struct wanted_op wanted[] = {
		{0, OP_F, 0, 0},   {0, OP_F, 1, 40},  {1, OP_F, 0, 40},  {1, OP_B, 0, 50},
		{1, OP_W, 0, 60},  {1, OP_F, 1, 100}, {1, OP_B, 1, 110}, {1, OP_W, 1, 120},
		{0, OP_B, 0, 100}, {0, OP_W, 0, 110}, {0, OP_B, 1, 160}, {0, OP_W, 1, 170},
	};
	struct plane_rules rules = plane_batched();
	struct net_case c;

	if (!net_case_init(&c, "1f1b", 2, 2, 10))
		return;
	set_hold(&c, 30);
	if (net_case_run(&c, &rules)) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			tap_is_int(net_case_op(&c, wanted[i].stage, wanted[i].kind,
			                       wanted[i].microbatch)
			                   ->start_ns,
			           wanted[i].start_ns, "batched: %c%d of stage %d starts",
			           op_kind_letter(wanted[i].kind), wanted[i].microbatch,
			           wanted[i].stage);
		tap_is_int(net_case_op(&c, 1, OP_W, 0)->transfer_start_ns, 70,
		           "batched: the gradient leaves after W");
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, -1,
		           "batched: B itself sends nothing");
		/* F1 on stage 0 behind the first send; F1 on stage 1, whose input came at 80,
		 * behind its own. B0 on stage 0 lacks its input longer than the second send lasts.
		 */
		tap_is_int(c.outcome.blocked_ns, 30 + 20, "batched: blocked behind sends");
		tap_is_int(c.outcome.makespan_ns, 180, "batched: the iteration ends");
		tap_is_int(c.outcome.compute_ns, 120, "batched: 12 ops ran");
	}
	net_case_fini(&c);
}

/* Messages transmit for 5 and travel for 10; the path is dead from 20 to 100. Ops take op_ns, so
 * the messages are asked for at op_ns, 2 op_ns, … */
static void test_dead_path(int64_t op_ns, const int64_t *wanted, int n)
{
	const struct sim_outage outages[] = {{.link = 5, .from_ns = 0, .until_ns = 1000},
	                                     {.link = 0, .from_ns = 20, .until_ns = 100}};
	struct plane_rules rules = stream_rules(false, false);
	struct net_case c;

	if (!net_case_init(&c, "gpipe", 2, n, op_ns))
		return;
	c.messages[sim_direction(0, false)] = (struct shape){.transmit_ns = 5, .latency_ns = 10};
	c.world.outages = outages;
	c.world.n_outages = 2;
	if (net_case_run(&c, &rules))
		for (int mb = 0; mb < n; mb++)
			tap_is_int(net_case_op(&c, 0, OP_F, mb)->arrive_ns, wanted[mb],
			           "dead path: message %d, asked for at %lld, arrives", mb,
			           (long long)(op_ns * (mb + 1)));
	net_case_fini(&c);
}

static void test_dead_paths(void)
{
	/* The first is there when the path dies, the second is on its way and starts over, the
	 * others queue behind it. */
	static const int64_t every_5[] = {20, 115, 120, 125};
	static const int64_t every_6[] = {115, 120, 125};
	static const int64_t every_100[] = {115, 215};

	test_dead_path(5, every_5, 4);
	test_dead_path(6, every_6, 3);
	test_dead_path(100, every_100, 2);
}

/* Ops of 10, messages hold the channel for 30; at 25 everything goes over to delegates that cost 2
 * a message and end. The first activation is in the channel until 40, its sender is free at 25. */
static void test_switch(void)
{
	struct plane_rules rules = stream_rules(true, true), later = plane_delegate();
	struct net_case c;

	later.message_cost_ns = 2;
	if (!net_case_letters(&c, spread, 2, 3, 10))
		return;
	set_hold(&c, 30);
	c.world.switch_rules = &later;
	c.world.switch_ns = 25;
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 0, OP_F, 0)->arrive_ns, 40,
		           "switch: what is in the channel arrives");
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->start_ns, 25,
		           "switch: the sender is free at once");
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->end_ns, 37,
		           "switch: its next op pays for the delegate");
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->transfer_start_ns, 37,
		           "switch: its message does not wait for the channel");
		tap_is_int(net_case_op(&c, 0, OP_F, 2)->start_ns, 37,
		           "switch: nor does the op after it");
		tap_is_int(net_case_op(&c, 0, OP_F, 2)->arrive_ns, 49 + 30,
		           "switch: two messages are held at once");
		tap_is_int(net_case_op(&c, 1, OP_F, 0)->end_ns, 52,
		           "switch: the receiver pays as well");
	}
	net_case_fini(&c);
}

/* Plan order, many issue queues. The first gradient is asked for at 17, before the switch, and
 * waits behind activations that are made after it. That these then go over delegates must not let
 * it into the channel before the switch: nobody knew of that at 17. */
static void test_switch_keeps_the_past(void)
{
	struct plane_rules rules = stream_rules(false, false), later = plane_delegate();
	struct net_case c;

	if (!net_case_letters(&c, spread, 2, 3, 1))
		return;
	c.op_ns[OP_F][0] = 10;
	set_hold(&c, 5);
	c.world.switch_rules = &later;
	c.world.switch_ns = 19;
	if (net_case_run(&c, &rules))
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, 19,
		           "switch: a message that waited in plan order leaves at the switch");
	net_case_fini(&c);
}

/* Under other rules: when does stage 0 start its second and third forward? The switch is at 25;
 * until then the first message holds the channel, and many issue queues hold nobody. */
static void test_switch_under(bool has_one, bool host_waits, int64_t second_ns, int64_t third_ns,
                              const char *name)
{
	struct plane_rules rules = stream_rules(has_one, host_waits), later = plane_delegate();
	struct net_case c;

	if (!net_case_letters(&c, spread, 2, 3, 10))
		return;
	set_hold(&c, 30);
	c.world.switch_rules = &later;
	c.world.switch_ns = 25;
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->start_ns, second_ns,
		           "switch, %s: the second forward starts", name);
		tap_is_int(net_case_op(&c, 0, OP_F, 2)->start_ns, third_ns,
		           "switch, %s: the third forward starts", name);
	}
	net_case_fini(&c);
}

static const char *const schedules[] = {"gpipe", "1f1b", "zb", "zb-cpu", "adaptra", "hold"};

static int64_t draw(uint64_t *seed, int64_t n)
{
	*seed = rng_mix(*seed, 77);
	return (int64_t)(*seed % (uint64_t)n);
}

static void draw_messages(struct net_case *c, uint64_t *seed)
{
	for (int i = 0; i < SIM_DIRECTIONS * NET_CASE_STAGES_MAX; i++)
		c->messages[i] = (struct shape){.transmit_ns = draw(seed, 20),
		                                .latency_ns = draw(seed, 100),
		                                .hold_ns = draw(seed, 60),
		                                .return_ns = draw(seed, 100)};
	c->world.message_bytes = draw(seed, 3000);
}

static struct plane_rules draw_rules(uint64_t *seed)
{
	struct plane_rules rules = {
		.kind = draw(seed, 3) == 0 ? PLANE_DELEGATE : PLANE_STREAM,
		.is_batched = draw(seed, 2) == 0,
		.order = draw(seed, 2) == 0 ? CHANNEL_PLAN_ORDER : CHANNEL_REQUEST_ORDER,
		.is_channel_shared = draw(seed, 2) == 0,
		.has_one_issue_queue = draw(seed, 2) == 0,
		.host_waits = draw(seed, 2) == 0,
		.window_bytes = 1 + draw(seed, 2000),
		.n_queues = 1 + (int)draw(seed, 8),
		.message_cost_ns = draw(seed, 10),
	};

	return rules;
}

/* net_case_run() checks the sums; here the times of the ops are checked against them. */
static bool ops_are_consistent(const struct net_case *c)
{
	int per_stage = OP_KINDS * c->plan.n_microbatches;
	int64_t compute_ns = 0, last_ns = 0;

	for (int i = 0; i < per_stage * c->plan.n_stages; i++) {
		const struct sim_op_times *times = &c->times[i];
		int64_t before_ns = i % per_stage > 0 ? c->times[i - 1].end_ns : 0;

		if (times->start_ns < before_ns || times->start_ns < times->ready_ns ||
		    times->end_ns < times->start_ns)
			return false;
		if (times->arrive_ns >= 0 && (times->transfer_start_ns < times->end_ns ||
		                              times->arrive_ns < times->transfer_start_ns))
			return false;
		compute_ns += times->end_ns - times->start_ns;
		last_ns = times->end_ns > last_ns ? times->end_ns : last_ns;
	}
	return compute_ns == c->outcome.compute_ns && last_ns == c->outcome.makespan_ns;
}

static void test_random_rules(void)
{
	enum { N_RANDOM = 600 };
	int n_wrong = 0, n_blocked = 0, n_runs = 0;

	for (uint64_t i = 0; i < N_RANDOM; i++) {
		uint64_t seed = rng_mix(5, i);
		int n_stages = 1 + (int)draw(&seed, 8), n_mb = 1 + (int)draw(&seed, 20);
		struct plane_rules rules;
		struct sim_outcome part;
		struct net_case c;

		if (!net_case_init(&c, schedules[draw(&seed, 6)], n_stages, n_mb, 50))
			return;
		for (int stage = 0; stage < n_stages; stage++)
			for (int kind = 0; kind < OP_KINDS; kind++)
				c.op_ns[kind][stage] = draw(&seed, 100);
		draw_messages(&c, &seed);
		rules = draw_rules(&seed);
		n_runs++;
		n_wrong += !net_case_run(&c, &rules) || !ops_are_consistent(&c);
		n_blocked += rules.kind == PLANE_DELEGATE && c.outcome.blocked_ns != 0;
		sim_outcome_until(&c.plan, c.times, c.outcome.makespan_ns, &part);
		n_wrong += part.compute_ns != c.outcome.compute_ns ||
		           part.wait_ns != c.outcome.wait_ns ||
		           part.blocked_ns != c.outcome.blocked_ns;
		sim_outcome_until(&c.plan, c.times, c.outcome.makespan_ns / 2, &part);
		n_wrong += part.compute_ns + part.wait_ns + part.blocked_ns !=
		           c.outcome.makespan_ns / 2 * n_stages;
		net_case_fini(&c);
	}
	tap_is_int(n_runs, N_RANDOM, "there are that many random plans");
	tap_is_int(n_wrong, 0, "times and shares agree under random rules");
	tap_is_int(n_blocked, 0, "nothing is ever blocked on the delegate plane");
}

int main(void)
{
	test_channel_order(CHANNEL_PLAN_ORDER, 35, 20, 54);
	test_channel_order(CHANNEL_REQUEST_ORDER, 17, 22, 50);
	test_separate_channels();
	test_issue_queues();
	test_batched();
	test_dead_paths();
	test_switch();
	test_switch_under(true, true, 25, 35, "the host waits");
	test_switch_under(true, false, 10, 25, "the host runs ahead");
	test_switch_under(false, false, 10, 20, "many issue queues");
	test_switch_keeps_the_past();
	test_random_rules();
	return tap_done();
}
