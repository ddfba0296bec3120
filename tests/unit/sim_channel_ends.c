/* sim_channel_ends.c - tests when the channel of two neighbours is free at either end: where a
 * message was sent as soon as its sender is rid of it, where it goes when it has arrived. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/schedule/channel.h"
#include "tests/delay_table.h"
#include "tests/net_case.h"
#include "tests/tap.h"

enum { DELAY_NS = 100, N_MICROBATCHES = 8, OP_NS = 1, LONG_NS = 1000000 };

static void slow_down(struct net_case *c, enum delay_model model, int64_t delay_ns)
{
	c->messages[sim_direction(0, false)] = delay_message(model, delay_ns);
	c->messages[sim_direction(0, true)] = delay_message(model, delay_ns);
}

/* When F0, F1 and B0, the channel's first messages, enter it. */
struct wanted {
	enum delay_model model;
	bool is_shared;
	int64_t first_ns, second_ns, gradient_ns;
};

/* Stage 0's forwards end at 10 and 20, or wait for the one before; the first is at stage 1 at 110,
 * so that the gradient is there at 112, while the second is still under way. */
static void test_entries(const struct wanted *wanted)
{
	static const char *const letters[] = {"FFBBWW", "FBFBWW"};
	const char *name = delay_model_name(wanted->model),
		   *channel = wanted->is_shared ? "one channel" : "a channel a direction";
	struct plane_rules rules = plane_unbatched();
	struct net_case c;

	rules.has_one_issue_queue = false;
	rules.is_channel_shared = wanted->is_shared;
	if (!net_case_letters(&c, letters, 2, 2, OP_NS))
		return;
	c.op_ns[OP_F][0] = 10;
	slow_down(&c, wanted->model, DELAY_NS);
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 0, OP_F, 0)->transfer_start_ns, wanted->first_ns,
		           "%s, %s: the first activation enters", name, channel);
		tap_is_int(net_case_op(&c, 0, OP_F, 1)->transfer_start_ns, wanted->second_ns,
		           "%s, %s: the second one", name, channel);
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, wanted->gradient_ns,
		           "%s, %s: the gradient", name, channel);
	}
	net_case_fini(&c);
}

static void test_all_entries(void)
{
	static const struct wanted wanted[] = {
		/* Its sender is rid of an activation at once: the second follows, and the gradient
	         * waits for its arrival. */
		{DELAY_LATENCY, true, 10, 20, 120},
		/* The link takes 100 for each. */
		{DELAY_RATE, true, 10, 20, 210},
		/* Rid of it is who was held until it arrived. */
		{DELAY_OCCUPANCY, true, 10, 110, 210},
		{DELAY_LATENCY, false, 10, 20, 112},
		{DELAY_RATE, false, 10, 20, 112},
		{DELAY_OCCUPANCY, false, 10, 110, 112},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		test_entries(&wanted[i]);
}

/* How often the channel's next message goes the other way than the one before it. */
static int count_turns(const struct plan *plan)
{
	struct channel_slot *order = array_new(2 * N_MICROBATCHES, sizeof(*order));
	struct plan timed;
	int n_turns = 0;

	if (!order || plan_copy_in_units(plan, &timed, NULL)) {
		free(order);
		return -1;
	}
	if (plan_channel_order(&timed, 0, order, NULL))
		n_turns = -1;
	for (int i = 1; n_turns >= 0 && i < 2 * N_MICROBATCHES; i++)
		n_turns += order[i].kind != order[i - 1].kind;
	plan_fini(&timed);
	free(order);
	return n_turns;
}

/* Ops take next to nothing, so that the last gradient arrives after as many delays as something
 * had to wait for. */
static void test_cost(const char *schedule, enum delay_model model)
{
	struct plane_rules rules = plane_unbatched();
	struct net_case c;
	int n_turns, n_wanted;

	if (!net_case_init(&c, schedule, 2, N_MICROBATCHES, OP_NS))
		return;
	c.plan.merges_backward = false;
	n_turns = count_turns(&c.plan);
	n_wanted = model == DELAY_LATENCY ? n_turns + 1 : 2 * N_MICROBATCHES;
	slow_down(&c, model, LONG_NS);
	if (net_case_run(&c, &rules))
		tap_is_int(net_case_op(&c, 1, OP_B, N_MICROBATCHES - 1)->arrive_ns / LONG_NS,
		           n_wanted, "%s, %s: %d messages with %d turns cost %d delays", schedule,
		           delay_model_name(model), 2 * N_MICROBATCHES, n_turns, n_wanted);
	net_case_fini(&c);
}

static void test_costs(void)
{
	static const char *const schedules[] = {"gpipe", "1f1b", "zb", "adaptra"};

	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++)
		for (int model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++)
			test_cost(schedules[i], (enum delay_model)model);
}

/* The window ends what a sender has to do with a message; its receiver waits for all of it. Two
 * messages of a window each travel for 30, acknowledgements for 10: the second one's bytes are
 * taken when the first one's are acknowledged. */
static void test_window(void)
{
	static const char *const letters[] = {"FFBBWW", "FBFBWW"};
	struct plane_rules rules = plane_unbatched();
	struct net_case c;

	rules.window_bytes = 1000;
	if (!net_case_letters(&c, letters, 2, 2, OP_NS))
		return;
	c.world.message_bytes = 1000;
	c.messages[sim_direction(0, false)] = (struct shape){.latency_ns = 30, .return_ns = 10};
	if (net_case_run(&c, &rules)) {
		const struct sim_op_times *second = net_case_op(&c, 0, OP_F, 1);

		tap_is_int(second->transfer_end_ns, 41, "a window: the second one's sender is rid");
		tap_is_int(second->arrive_ns, 71, "it arrives");
		tap_is_int(net_case_op(&c, 1, OP_B, 0)->transfer_start_ns, 71,
		           "and only then the gradient enters");
	}
	net_case_fini(&c);
}

int main(void)
{
	test_all_entries();
	test_costs();
	test_window();
	return tap_done();
}
