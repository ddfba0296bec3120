/* dataplane_sim.c - tests that the data planes do to the nanosecond what the simulator computes,
 * and what the table of delay models says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/delay_table.h"
#include "tests/plane_case.h"
#include "tests/tap.h"

enum {
	PAYLOAD_BYTES = 100,
	N_RANDOM = 60,
	OP_NS = 10000,
	DELAY_NS = 30 * NS_PER_MS,
	HEALTHY_NS = 5000
};

static struct plane_rules rules_of(int which)
{
	return which == 0 ? plane_batched() : which == 1 ? plane_unbatched() : plane_delegate();
}

static const char *const rule_names[] = {"batched", "unbatched", "delegate"};
static const char *const schedules[] = {"1f1b", "zb", "zb-cpu"};

static void run_and_compare(struct net_case *net, const struct plane_rules *rules,
                            bool occupies_streams, const char *name)
{
	struct plane_case c;

	net->world.message_bytes = PAYLOAD_BYTES;
	if (!plane_case_init(&c, net, rules))
		return;
	c.payload_bytes = PAYLOAD_BYTES;
	c.occupies_streams = occupies_streams;
	for (int iteration = 0; iteration < 3; iteration++) {
		int rc = plane_case_run(&c, iteration);

		tap_is_int(rc, 0, "%s, iteration %d ends: %s", name, iteration, c.err.text);
		if (rc == 0)
			plane_case_is_like_sim(&c, "%s, iteration %d is sim's", name, iteration);
	}
	plane_case_fini(&c);
}

/* Small numbers of nanoseconds, so that ties are frequent. */
static void randomise(struct net_case *net, uint64_t seed)
{
	int n_stages = net->plan.n_stages;

	for (int i = 0; i < n_stages * OP_KINDS; i++)
		net->op_ns[i % OP_KINDS][i / OP_KINDS] =
			(int64_t)(1 + rng_mix(seed, (uint64_t)i) % 12) * 1000;
	for (int i = 0; i < n_stages * SIM_DIRECTIONS; i++) {
		uint64_t bits = rng_mix(seed, 1000 + (uint64_t)i);

		net->messages[i] = (struct shape){
			.hold_ns = bits % 3 == 0 ? (int64_t)(bits >> 8 & 31) * 1000 : 0,
			.latency_ns = bits % 5 < 2 ? (int64_t)(bits >> 16 & 31) * 1000 : 0,
			.transmit_ns = bits % 7 < 3 ? (int64_t)(bits >> 24 & 7) * 1000 : 0,
		};
	}
}

/* Held in front of a link, a delegate's message enters it later; which makes no difference to one
 * that takes nothing to cross it. */
static void test_random(int which, bool occupies_streams)
{
	for (int i = 0; i < N_RANDOM; i++) {
		uint64_t seed = rng_mix(99, (uint64_t)i);
		int n_stages = 1 + (int)(seed % 6), n_microbatches = 1 + (int)(seed >> 8 & 7);
		struct plane_rules rules = rules_of(which);
		struct net_case net;
		char name[100];

		rules.n_queues = 1 + (int)(seed >> 16 & 3);
		rules.message_cost_ns = (int64_t)(seed >> 20 & 3) * 100;
		if (!net_case_init(&net, schedules[which], n_stages, n_microbatches, OP_NS))
			continue;
		randomise(&net, seed);
		for (int k = 0; k < n_stages * SIM_DIRECTIONS && occupies_streams; k++)
			net.messages[k].transmit_ns = 0;
		snprintf(name, sizeof(name), "%s, random %d%s (S = %d, N = %d)", rule_names[which],
		         i, occupies_streams ? ", streams occupied" : "", n_stages, n_microbatches);
		run_and_compare(&net, &rules, occupies_streams, name);
		net_case_fini(&net);
	}
}

/* Messages larger than the window, or of which a few fit, and acknowledgements that take time. */
static void test_windows(void)
{
	static const int64_t windows[] = {60, 100, 250, 1000};

	for (int which = 0; which < 2; which++)
		for (int i = 0; i < 24; i++) {
			uint64_t seed = rng_mix(7, (uint64_t)i);
			struct plane_rules rules = rules_of(which);
			struct net_case net;
			char name[100];

			rules.window_bytes = windows[i % 4];
			if (!net_case_init(&net, schedules[which], 2 + i % 3, 4, OP_NS))
				continue;
			randomise(&net, seed);
			for (int k = 0; k < net.plan.n_stages * SIM_DIRECTIONS; k++)
				net.messages[k].return_ns = net.messages[k ^ 1].latency_ns;
			snprintf(name, sizeof(name), "%s, window of %lld bytes (%d)",
			         rule_names[which], (long long)windows[i % 4], i);
			run_and_compare(&net, &rules, false, name);
			net_case_fini(&net);
		}
}

/* Latencies by microbatch: those of odd ones are so short that they come up with those before them.
 */
static int64_t uneven_ns(int microbatch)
{
	return microbatch % 2 == 1 ? 1000 : 8 * OP_NS;
}

static void ask_net(void *context, int direction, int microbatch, int64_t now_ns,
                    struct shape *shape)
{
	(void)context;
	(void)direction;
	(void)now_ns;
	shape->latency_ns = uneven_ns(microbatch);
}

static void ask_shaped(void *context, const struct message *message, struct shape *shape)
{
	(void)context;
	shape->latency_ns = uneven_ns(message->microbatch);
}

/* An alarm: before anything is sent. */
static int make_uneven(struct plane_case *c)
{
	shaped_set_hook(c->transport, ask_shaped, NULL);
	return 0;
}

/* Nobody overtakes on a path, whichever queue it has come through. */
static void test_uneven(const char *schedule, struct plane_rules rules)
{
	int n_overtaking = 0, n_kept = 0;
	struct net_case net;
	struct plane_case c;

	if (!net_case_init(&net, schedule, 3, 6, OP_NS))
		return;
	net.world.ask_message = ask_net;
	if (plane_case_init(&c, &net, &rules)) {
		c.alarm_ns = 1;
		c.on_alarm = make_uneven;
		tap_is_int(plane_case_run(&c, 0), 0, "%s, uneven latencies: it ends: %s", schedule,
		           c.err.text);
		plane_case_is_like_sim(&c, "%s, uneven latencies: it is sim's", schedule);
		for (int mb = 1; mb < 6; mb++) {
			int64_t before_ns = plane_case_op(&c, 0, OP_F, mb - 1)->arrive_ns;
			const struct sim_op_times *times = plane_case_op(&c, 0, OP_F, mb);

			n_overtaking += times->arrive_ns < before_ns;
			n_kept += times->arrive_ns - times->transfer_start_ns > uneven_ns(mb);
		}
		tap_is_int(n_overtaking, 0, "%s: no message overtakes another", schedule);
		tap_ok(n_kept > 0, "%s: %d are kept from it", schedule, n_kept);
	}
	plane_case_fini(&c);
	net_case_fini(&net);
}

/* An alarm: stage 0 is told of the first gradient when it has sent nothing. */
static int come_too_early(struct plane_case *c)
{
	const struct transport_event event = {
		.kind = TRANSPORT_RECEIVED,
		.message = {.kind = OP_B, .from_stage = 1, .to_stage = 0},
	};

	return dataplane_event(c->stages[0].plane, &event, &c->err);
}

static void test_out_of_order(void)
{
	struct plane_rules rules = plane_unbatched();
	struct net_case net;
	struct plane_case c;

	if (!net_case_init(&net, "zb", 2, 4, OP_NS))
		return;
	if (plane_case_init(&c, &net, &rules)) {
		c.alarm_ns = 1;
		c.on_alarm = come_too_early;
		tap_is_int(plane_case_run(&c, 0), -EBADMSG,
		           "a message that only follows what was not sent is refused");
		tap_contains(c.err.text, "stage 0: B0 came over its channel out of", "by name");
	}
	plane_case_fini(&c);
	net_case_fini(&net);
}

/* gpipe sends all forwards back to back; on the stream plane a sender is held, so that what follows
 * starts later, and the table is about the channel alone: there ops take next to nothing. */
static void test_table(const struct delay_row *row)
{
	struct plane_rules rules =
		row->plane == PLANE_STREAM ? plane_unbatched() : plane_delegate();
	struct net_case net;
	struct plane_case c;
	const struct sim_op_times *last;

	rules.n_queues = row->n_queues;
	if (!net_case_init(&net, "gpipe", 2, row->n_messages, OP_NS))
		return;
	/* What a held sender computes comes on top. */
	if (row->plane == PLANE_STREAM && row->model != DELAY_LATENCY)
		net.op_ns[OP_F][0] = 0;
	net.messages[sim_direction(0, false)] = delay_message(row->model, DELAY_NS);
	if (plane_case_init(&c, &net, &rules) &&
	    tap_is_int(plane_case_run(&c, 0), 0, "gpipe runs: %s", c.err.text)) {
		last = plane_case_op(&c, 0, OP_F, row->n_messages - 1);
		tap_is_int(last->arrive_ns,
		           delay_row_ns(row, OP_NS, DELAY_NS) - (net.op_ns[OP_F][0] ? 0 : OP_NS),
		           "%s, %s plane, %d queues: %d messages arrive when the table says",
		           delay_model_name(row->model), plane_kind_name(row->plane), row->n_queues,
		           row->n_messages);
		plane_case_is_like_sim(&c, "and when sim says");
	}
	plane_case_fini(&c);
	net_case_fini(&net);
}

static void test_tables(void)
{
	static const int queues[] = {1, 3, PLANE_QUEUES_DEFAULT};
	struct delay_row row;

	for (int i = 0; delay_row_at(i, &row); i++)
		for (int k = 0; k < 3; k++) {
			row.n_queues = queues[k];
			test_table(&row);
		}
}

/* All messages of all other directions take the same, slow or not. */
static void test_others(int n_stages, int which, enum delay_model model)
{
	struct plane_rules rules = rules_of(which);
	struct net_case net;
	struct plane_case c;
	int slow = n_stages / 2 - 1, n_wrong = 0, n_slow = 0;

	if (!net_case_init(&net, schedules[which], n_stages, 2 * n_stages, OP_NS))
		return;
	for (int i = 0; i < n_stages * SIM_DIRECTIONS; i++)
		net.messages[i].latency_ns = HEALTHY_NS;
	net.messages[sim_direction(slow, false)] = delay_message(model, DELAY_NS);
	net.messages[sim_direction(slow, true)] = delay_message(model, DELAY_NS);
	if (plane_case_init(&c, &net, &rules) &&
	    tap_is_int(plane_case_run(&c, 0), 0, "it runs: %s", c.err.text)) {
		for (int i = 0; i < n_stages * OP_KINDS * net.plan.n_microbatches; i++) {
			int stage = i / (OP_KINDS * net.plan.n_microbatches);
			int link = net.plan.ops[i].kind == OP_F ? stage : stage - 1;
			int64_t ns = c.times[i].arrive_ns - c.times[i].transfer_start_ns;

			if (c.times[i].arrive_ns < 0)
				continue;
			n_slow += link == slow && ns >= DELAY_NS;
			n_wrong += link != slow && ns != HEALTHY_NS;
		}
		tap_is_int(n_wrong, 0,
		           "%s, %s, S = %d: one slow link leaves the times of others alone",
		           rule_names[which], delay_model_name(model), n_stages);
		tap_is_int(n_slow, 4 * n_stages, "and it is slow");
	}
	plane_case_fini(&c);
	net_case_fini(&net);
}

/* On the stream plane what a sender computes next waits for its message, on delegates it does not.
 */
static void test_sender(int which)
{
	static const char *const letters[] = {"FFBBWW", "FFBBWW"};
	struct plane_rules rules = rules_of(which);
	struct net_case net;
	struct plane_case c;

	if (!net_case_letters(&net, letters, 2, 2, OP_NS))
		return;
	net.messages[sim_direction(0, false)].hold_ns = DELAY_NS;
	if (plane_case_init(&c, &net, &rules) &&
	    tap_is_int(plane_case_run(&c, 0), 0, "it runs: %s", c.err.text))
		tap_is_int(plane_case_op(&c, 0, OP_F, 1)->start_ns,
		           which == 2 ? OP_NS : OP_NS + DELAY_NS,
		           "%s: F1 starts when F0's sender may go on", rule_names[which]);
	plane_case_fini(&c);
	net_case_fini(&net);
}

int main(void)
{
	struct plane_rules several_queues = plane_delegate();

	several_queues.n_queues = 4;
	for (int which = 0; which < 3; which++) {
		test_random(which, false);
		test_random(which, true);
		test_sender(which);
		for (int n_stages = 2; n_stages <= 8; n_stages++)
			for (int model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++)
				test_others(n_stages, which, (enum delay_model)model);
	}
	test_windows();
	test_uneven("gpipe", plane_unbatched());
	test_uneven("zb", plane_unbatched());
	test_uneven("gpipe", several_queues);
	test_uneven("zb", several_queues);
	test_out_of_order();
	test_tables();
	return tap_done();
}
