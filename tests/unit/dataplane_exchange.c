/* dataplane_exchange.c - tests of the stream plane over exchanges: the same ops at the same moments
 * as the simulator has them, over any plan, and what is left when an exchange ends early. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/pair_exchange.h"
#include "tests/plane_case.h"
#include "tests/tap.h"

enum { N_RANDOM = 80, OP_NS = 10000 };

static const char *const schedules[] = {"1f1b", "gpipe", "zb"};

static struct plane_rules rules_of(const char *schedule)
{
	return strcmp(schedule, "zb") == 0 ? plane_unbatched() : plane_batched();
}

static bool init(struct plane_case *c, struct net_case *net, const struct plane_rules *rules)
{
	if (!plane_case_init(c, net, rules))
		return false;
	c->uses_exchanges = c->occupies_streams = true;
	return true;
}

/* Small numbers of nanoseconds, so that ties are frequent; every third direction is held. */
static void randomise(struct net_case *net, uint64_t seed)
{
	int n_stages = net->plan.n_stages;

	for (int i = 0; i < n_stages * OP_KINDS; i++)
		net->op_ns[i % OP_KINDS][i / OP_KINDS] =
			(int64_t)(1 + rng_mix(seed, (uint64_t)i) % 12) * 1000;
	for (int i = 0; i < n_stages * SIM_DIRECTIONS; i++) {
		uint64_t bits = rng_mix(seed, 1000 + (uint64_t)i);

		net->messages[i].hold_ns = bits % 3 == 0 ? (int64_t)(bits >> 8 & 31) * 1000 : 0;
	}
}

/* Ops alone: in a batched step either message is there when both are, which makes no difference to
 * the ops. */
static bool has_ops_of_sim(struct plane_case *c)
{
	int n = OP_KINDS * c->net->plan.n_microbatches * c->net->plan.n_stages;

	if (!net_case_run(c->net, &c->rules))
		return false;
	for (int i = 0; i < n; i++)
		if (c->times[i].start_ns != c->net->times[i].start_ns ||
		    c->times[i].end_ns != c->net->times[i].end_ns) {
			tap_note("op %d: %lld to %lld, in sim %lld to %lld", i,
			         (long long)c->times[i].start_ns, (long long)c->times[i].end_ns,
			         (long long)c->net->times[i].start_ns,
			         (long long)c->net->times[i].end_ns);
			return false;
		}
	return true;
}

static void run_and_compare(struct plane_case *c, const char *name)
{
	for (int iteration = 0; iteration < 3; iteration++) {
		int rc = plane_case_run(c, iteration);

		if (!tap_is_int(rc, 0, "%s, iteration %d ends: %s", name, iteration, c->err.text))
			return;
		if (c->rules.is_batched)
			tap_ok(has_ops_of_sim(c), "%s, iteration %d has sim's ops", name,
			       iteration);
		else
			plane_case_is_like_sim(c, "%s, iteration %d is sim's", name, iteration);
	}
}

static void test_random(const char *schedule)
{
	for (int i = 0; i < N_RANDOM; i++) {
		uint64_t seed = rng_mix(17, (uint64_t)i);
		int n_stages = 1 + (int)(seed % 6), n_microbatches = 1 + (int)(seed >> 8 & 7);
		struct plane_rules rules = rules_of(schedule);
		struct net_case net;
		struct plane_case c;
		char name[100];

		if (!net_case_init(&net, schedule, n_stages, n_microbatches, OP_NS))
			continue;
		randomise(&net, seed);
		snprintf(name, sizeof(name), "%s, random %d (S = %d, N = %d)", schedule, i,
		         n_stages, n_microbatches);
		if (init(&c, &net, &rules))
			run_and_compare(&c, name);
		plane_case_fini(&c);
		net_case_fini(&net);
	}
	tap_is_int(pair_exchange_n_open(), 0, "%s: every exchange is closed", schedule);
}

/* In the steady state of 1F1B every send is one post with the receive that is paired with it. */
static void test_groups(void)
{
	enum { N_STAGES = 4, N_MICROBATCHES = 8 };
	struct plane_rules batched = plane_batched(), unbatched = plane_unbatched();
	int n_pairs = 0, n_groups;
	struct net_case net;
	struct plane_case c;

	for (int i = 0; i < 2; i++) {
		if (!net_case_init(&net, "1f1b", N_STAGES, N_MICROBATCHES, OP_NS))
			return;
		n_groups = pair_exchange_n_groups();
		if (init(&c, &net, i == 0 ? &batched : &unbatched))
			tap_is_int(plane_case_run(&c, 0), 0, "1f1b ends: %s", c.err.text);
		n_groups = pair_exchange_n_groups() - n_groups;
		/* Stage s has N - (S - s) + 1 forwards that are followed by a backward; both ends
		 * post, and once at the end of the iteration. */
		n_pairs = 0;
		for (int s = 0; s + 1 < N_STAGES; s++)
			n_pairs += 2 * (i == 0 ? N_MICROBATCHES - (N_STAGES - s) + 1 : 0) + 2;
		tap_is_int(n_groups, n_pairs, "%s posts are pairs where 1F1B is steady",
		           i == 0 ? "batched" : "unbatched: no");
		plane_case_fini(&c);
		net_case_fini(&net);
	}
}

static uint8_t pattern(int stage, enum op_kind kind, int mb, size_t i)
{
	return (uint8_t)rng_mix((uint64_t)stage << 16 | (uint64_t)kind << 8 | (uint64_t)mb, i);
}

/* The output that goes to a neighbour; NULL: none does. */
static uint8_t *output_of(struct plane_case *c, int stage, enum op_kind kind, int mb)
{
	bool has_peer = kind == OP_F ? stage + 1 < c->net->plan.n_stages : stage > 0;

	return has_peer ? dataplane_output(c->stages[stage].plane, kind, mb) : NULL;
}

/* Whatever every input was before is gone. */
static void fill_tensors(struct plane_case *c)
{
	int n_mb = c->net->plan.n_microbatches, n_stages = c->net->plan.n_stages;

	for (int i = 0; i < 2 * n_stages * n_mb; i++) {
		int stage = i / 2 / n_mb, mb = i / 2 % n_mb;
		enum op_kind kind = i % 2 ? OP_B : OP_F;
		uint8_t *output = output_of(c, stage, kind, mb);

		for (size_t k = 0; output && k < PLANE_CASE_TENSOR_BYTES; k++)
			output[k] = pattern(stage, kind, mb, k);
		if (output)
			memset(dataplane_input(c->stages[stage + (kind == OP_F ? 1 : -1)].plane,
			                       kind, mb),
			       0, PLANE_CASE_TENSOR_BYTES);
	}
}

static int count_wrong_inputs(struct plane_case *c)
{
	int n_mb = c->net->plan.n_microbatches, n_stages = c->net->plan.n_stages, n_wrong = 0;

	for (int i = 0; i < 2 * n_stages * n_mb; i++) {
		int stage = i / 2 / n_mb, mb = i / 2 % n_mb;
		enum op_kind kind = i % 2 ? OP_B : OP_F;
		const uint8_t *output = output_of(c, stage, kind, mb);

		if (output)
			n_wrong += memcmp(output,
			                  dataplane_input(
						  c->stages[stage + (kind == OP_F ? 1 : -1)].plane,
						  kind, mb),
			                  PLANE_CASE_TENSOR_BYTES) != 0;
	}
	return n_wrong;
}

/* Nobody waits for the end of one before that of all has begun. */
static void abort_all(struct plane_case *c)
{
	for (int i = 0; i < c->net->plan.n_stages; i++)
		dataplane_abort_exchanges(c->stages[i].plane);
}

/* A rail is dead from then on; planes hear of it a moment later. */
static int switch_planes(struct plane_case *c)
{
	struct plane_rules rules = plane_delegate();
	int rc = transport_set_rail(c->transport, 2, 0, false, &c->err);

	rules.n_queues = c->rules.n_queues;
	shaped_set_plane(c->transport, PLANE_DELEGATE, 0);
	abort_all(c);
	for (int i = 0; rc == 0 && i < c->net->plan.n_stages; i++)
		rc = dataplane_switch(c->stages[i].plane, &rules, c->now_ns, &c->err);
	return rc;
}

static int count_resends(const struct plane_case *c)
{
	int n = 0;

	for (int i = 0; i < OP_KINDS * c->net->plan.n_microbatches * c->net->plan.n_stages; i++)
		n += c->times[i].n_resends;
	return n;
}

/* From at_ns on over delegates, whatever is under way then; and the next iteration, too. Returns
 * how many messages left again, or -1. */
static int test_switch(const char *schedule, int64_t at_ns)
{
	const struct plane_rules rules = rules_of(schedule);
	struct net_case net;
	struct plane_case c;
	int n_resends = -1;

	if (!net_case_init(&net, schedule, 4, 6, OP_NS))
		return -1;
	net.messages[sim_direction(1, false)].hold_ns = OP_NS;
	net.messages[sim_direction(2, true)].hold_ns = OP_NS;
	if (!init(&c, &net, &rules))
		return -1;
	c.n_rails = 2;
	c.failover_ns = OP_NS / 2;
	if (plane_case_run(&c, 0) == 0) {
		fill_tensors(&c);
		c.alarm_ns = at_ns;
		c.on_alarm = switch_planes;
		pair_exchange_end_together(true);
		tap_is_int(plane_case_run(&c, 1), 0, "%s: switched at %lld ns, it ends: %s",
		           schedule, (long long)at_ns, c.err.text);
		pair_exchange_end_together(false);
		tap_is_int(count_wrong_inputs(&c), 0, "and every input is what was sent");
		n_resends = count_resends(&c);
		fill_tensors(&c);
		c.on_alarm = NULL;
		tap_is_int(plane_case_run(&c, 2), 0, "another iteration ends: %s", c.err.text);
		tap_is_int(count_wrong_inputs(&c), 0, "with its inputs, over the transport");
	}
	plane_case_fini(&c);
	net_case_fini(&net);
	return n_resends;
}

static void test_switches(const char *schedule)
{
	int n_resends = 0;

	for (int64_t at_ns = 0; at_ns < 300000; at_ns += 3700)
		n_resends += test_switch(schedule, at_ns);
	tap_ok(n_resends > 0, "%s: %d messages that were under way left again", schedule,
	       n_resends);
}

/* All exchanges end between two iterations: then the transport has the stream plane, too. */
static void test_end(void)
{
	const struct plane_rules rules = plane_unbatched();
	struct net_case net;
	struct plane_case c;
	int n_posts;

	if (!net_case_init(&net, "zb", 4, 6, OP_NS))
		return;
	if (init(&c, &net, &rules) && plane_case_run(&c, 0) == 0) {
		n_posts = pair_exchange_n_posts();
		pair_exchange_end_together(true);
		abort_all(&c);
		for (int i = 0; i < 4; i++)
			dataplane_end_exchanges(c.stages[i].plane);
		pair_exchange_end_together(false);
		tap_is_int(plane_case_run(&c, 1), 0, "without exchanges it ends: %s", c.err.text);
		plane_case_is_like_sim(&c, "and is sim's");
		tap_is_int(pair_exchange_n_posts(), n_posts, "and nothing is posted");
	}
	plane_case_fini(&c);
	net_case_fini(&net);
}

static void test_failure(int nth_post)
{
	const struct plane_rules rules = plane_unbatched();
	struct net_case net;
	struct plane_case c;

	if (!net_case_init(&net, "zb", 4, 6, OP_NS))
		return;
	pair_exchange_fail(2, 1, nth_post);
	if (init(&c, &net, &rules)) {
		tap_is_int(plane_case_run(&c, 0), -ENETDOWN,
		           "an exchange that fails at post %d ends the job", nth_post);
		tap_contains(c.err.text, "stage 2 has lost its exchange with stage 1",
		             "and its reason is told");
	}
	pair_exchange_fail(2, 1, -1);
	plane_case_fini(&c);
	net_case_fini(&net);
	tap_is_int(pair_exchange_n_open(), 0, "and every exchange is closed");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		test_random(schedules[i]);
		test_switches(schedules[i]);
	}
	test_groups();
	test_end();
	for (int nth_post = 0; nth_post < 12; nth_post += 3)
		test_failure(nth_post);
	return tap_done();
}
