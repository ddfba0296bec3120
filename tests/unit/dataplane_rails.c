/* dataplane_rails.c - tests data planes whose rail dies: what goes again, when, and how often. */
#include <errno.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/plane_case.h"
#include "tests/tap.h"

enum {
	N_STAGES = 4,
	N_MICROBATCHES = 6,
	OP_NS = 10000,
	HEALTHY_NS = 7000,
	FAILOVER_NS = 23000,
	VICTIM = 2,
	N_RANDOM = 400,
};

static const char *const schedules[] = {"1f1b", "zb", "zb-cpu"};

static struct plane_rules rules_of(int which)
{
	return which == 0 ? plane_batched() : which == 1 ? plane_unbatched() : plane_delegate();
}

static int die(struct plane_case *c)
{
	return transport_set_rail(c->transport, VICTIM, 0, false, &c->err);
}

static void set_planes(struct plane_case *c, bool is_dead)
{
	for (int peer = VICTIM - 1; peer <= VICTIM + 1; peer += 2) {
		dataplane_set_rail(c->stages[peer].plane, VICTIM, 0, is_dead);
		dataplane_set_rail(c->stages[VICTIM].plane, peer, 0, is_dead);
	}
}

static int fail_over(struct plane_case *c)
{
	c->rails[VICTIM - 1] = c->rails[VICTIM] = 1;
	return die(c);
}

static int come_back(struct plane_case *c)
{
	struct err *err = &c->err;
	int rc = transport_set_rail(c->transport, VICTIM, 0, true, err);

	rc = rc ? rc : transport_connect(c->transport, plane_case_addresses(), NS_PER_S, err);
	set_planes(c, false);
	return rc;
}

static void expect_back(struct plane_case *c, int64_t back_ns)
{
	for (int peer = VICTIM - 1; peer <= VICTIM + 1; peer += 2) {
		dataplane_expect_back(c->stages[peer].plane, VICTIM, 0, back_ns);
		dataplane_expect_back(c->stages[VICTIM].plane, peer, 0, back_ns);
	}
}

/* c->alarm: how long. Their other ends are back sooner. */
static void announce(struct plane_case *c)
{
	expect_back(c, c->start_ns + c->alarm_ns + c->alarm);
	expect_back(c, c->start_ns + c->alarm_ns + c->alarm / 2);
}

static int flap(struct plane_case *c)
{
	announce(c);
	c->alarm_ns += c->alarm;
	c->on_alarm = come_back;
	return die(c);
}

/* The rail is back before anybody has found it dead: what was under way is told of as LOST by those
 * who make it anew, when all of them know it to be dead. */
static int flap_unseen(struct plane_case *c)
{
	int rc;

	announce(c);
	set_planes(c, true);
	rc = die(c);
	rc = rc ? rc : transport_set_rail(c->transport, VICTIM, 0, true, &c->err);
	rc = rc ? rc : transport_connect(c->transport, plane_case_addresses(), NS_PER_S, &c->err);
	rc = rc ? rc : plane_case_poll(c);
	set_planes(c, false);
	return rc;
}

/* Everybody goes over to delegates, then it dies. */
static int switch_and_die(struct plane_case *c)
{
	struct plane_rules rules = plane_delegate();
	int rc = 0;

	rules.n_queues = c->rules.n_queues;
	shaped_set_plane(c->transport, PLANE_DELEGATE, 0);
	for (int i = 0; rc == 0 && i < N_STAGES; i++)
		rc = dataplane_switch(c->stages[i].plane, &rules, c->now_ns, &c->err);
	return rc ? rc : fail_over(c);
}

static bool init(struct plane_case *c, struct net_case *net, const char *schedule,
                 const struct plane_rules *rules)
{
	if (!net_case_init(net, schedule, N_STAGES, N_MICROBATCHES, OP_NS))
		return false;
	for (int i = 0; i < N_STAGES * SIM_DIRECTIONS; i++)
		net->messages[i].latency_ns = HEALTHY_NS;
	if (!plane_case_init(c, net, rules))
		return false;
	c->n_rails = 2;
	c->failover_ns = FAILOVER_NS;
	return true;
}

static void fini(struct plane_case *c, struct net_case *net)
{
	plane_case_fini(c);
	net_case_fini(net);
}

/* The same outage in sim, and an iteration after it without one. */
static void check(struct plane_case *c, struct net_case *net, int64_t from_ns, int64_t lasts_ns,
                  const char *name)
{
	const struct sim_outage outages[] = {{VICTIM - 1, from_ns, from_ns + lasts_ns, 0},
	                                     {VICTIM, from_ns, from_ns + lasts_ns, 0}};
	int rc = plane_case_run(c, 0);

	net->world.outages = outages;
	net->world.n_outages = 2;
	tap_is_int(rc, 0, "%s at %lld ns: the iteration ends: %s", name, (long long)from_ns,
	           c->err.text);
	if (rc == 0)
		plane_case_is_like_sim(c, "%s at %lld ns is as in sim", name, (long long)from_ns);
	net->world.n_outages = 0;
}

/* A rail that has not come back by the end of its iteration is not used in the next. */
static void check_next(struct plane_case *c)
{
	int rc;

	if (c->on_alarm == come_back)
		c->rails[VICTIM - 1] = c->rails[VICTIM] = 1;
	c->on_alarm = NULL;
	rc = plane_case_run(c, 1);

	tap_is_int(rc, 0, "the next iteration ends: %s", c->err.text);
	if (rc == 0)
		plane_case_is_like_sim(c, "and is as if nothing had happened");
}

static void test_fail_over(int64_t at_ns)
{
	struct plane_rules rules = plane_delegate();
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, "zb-cpu", &rules))
		return;
	c.alarm_ns = at_ns;
	c.on_alarm = fail_over;
	check(&c, &net, at_ns, FAILOVER_NS, "fail-over");
	check_next(&c);
	fini(&c, &net);
}

static void test_flap(int which, int64_t at_ns, int lasts_ns)
{
	struct plane_rules rules = rules_of(which);
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, schedules[which], &rules))
		return;
	c.alarm_ns = at_ns;
	c.alarm = lasts_ns;
	c.on_alarm = flap;
	check(&c, &net, at_ns, lasts_ns, schedules[which]);
	check_next(&c);
	fini(&c, &net);
}

/* Links of all kinds, so that outages find messages held, in the link and behind it. They
 * acknowledge at once: what has arrived and is not acknowledged when its rail dies is sent again,
 * and takes its link's time once more, which sim does not know. */
static void randomise(struct net_case *net, uint64_t seed)
{
	for (int i = 0; i < N_STAGES * SIM_DIRECTIONS; i++) {
		uint64_t bits = rng_mix(seed, (uint64_t)i);

		net->messages[i] = (struct shape){
			.hold_ns = bits % 3 == 0 ? (int64_t)(bits >> 8 & 31) * 1000 : 0,
			.latency_ns = (int64_t)(1 + (bits >> 16 & 15)) * 1000,
			.transmit_ns = bits % 5 < 2 ? (int64_t)(bits >> 24 & 7) * 1000 : 0,
		};
	}
}

static void test_random(int which, uint64_t seed, bool occupies_streams)
{
	static const int64_t windows[] = {0, 60, 60, 10000};
	struct plane_rules rules = rules_of(which);
	struct net_case net;
	struct plane_case c;

	rules.n_queues = 1 + (int)(seed >> 8 & 3);
	rules.window_bytes = windows[seed >> 12 & 3];
	if (!init(&c, &net, schedules[which], &rules))
		return;
	randomise(&net, seed);
	/* What is held in front of a link enters it later. */
	for (int i = 0; i < N_STAGES * SIM_DIRECTIONS && occupies_streams; i++)
		net.messages[i].transmit_ns = 0;
	c.occupies_streams = occupies_streams;
	net.world.message_bytes = c.payload_bytes;
	c.alarm_ns = (int64_t)(seed >> 16) % 300000;
	c.alarm = which == 2 && seed % 2 ? FAILOVER_NS : 1 + (int)(seed >> 32 & 16383);
	c.on_alarm = c.alarm == FAILOVER_NS ? fail_over : flap;
	check(&c, &net, c.alarm_ns, c.alarm, schedules[which]);
	check_next(&c);
	fini(&c, &net);
}

static void test_unseen(int which, int64_t at_ns)
{
	struct plane_rules rules = which == 0 ? plane_batched() : plane_delegate();
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, which == 0 ? "1f1b" : "zb-cpu", &rules))
		return;
	c.alarm_ns = at_ns;
	c.on_alarm = flap_unseen;
	check(&c, &net, at_ns, 0, "a flap that nobody saw");
	check_next(&c);
	fini(&c, &net);
}

static void test_switch(int64_t at_ns)
{
	struct plane_rules rules = plane_unbatched(), later = plane_delegate();
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, "zb", &rules))
		return;
	later.n_queues = c.rules.n_queues;
	c.alarm_ns = at_ns;
	c.on_alarm = switch_and_die;
	net.world.switch_rules = &later;
	net.world.switch_ns = at_ns;
	check(&c, &net, at_ns, FAILOVER_NS, "switch");
	fini(&c, &net);
}

static int die_for_good(struct plane_case *c)
{
	int rc = die(c);

	return rc ? rc : transport_set_rail(c->transport, VICTIM, 1, false, &c->err);
}

static void test_no_rail(const char *schedule, const struct plane_rules *rules, const char *want)
{
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, schedule, rules))
		return;
	c.alarm_ns = 55000;
	c.on_alarm = rules->kind == PLANE_STREAM ? die : die_for_good;
	tap_is_int(plane_case_run(&c, 0), -ENETDOWN, "%s: the job dies", schedule);
	tap_contains(c.err.text, want, "and says of what");
	fini(&c, &net);
}

/* An iteration does not begin before the one before has been acknowledged. */
static void test_not_quiet(void)
{
	struct plane_rules rules = plane_delegate();
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, "zb-cpu", &rules))
		return;
	c.alarm_ns = 30000;
	c.on_alarm = die_for_good;
	(void)plane_case_run(&c, 0);
	tap_is_int(dataplane_begin(c.stages[1].plane, &rules, &c.unit_copy, 0, 1, &c.err), -EBUSY,
	           "a message that was not acknowledged is not overwritten");
	tap_contains(c.err.text, "stage 1: the message of F", "and the reason names it");
	fini(&c, &net);
}

/* What a message's way was in the iteration before is not what it is in this one. */
static void test_no_way_yet(void)
{
	const struct plane_rules rules = plane_delegate();
	struct dataplane_path path;
	struct net_case net;
	struct plane_case c;

	if (!init(&c, &net, "zb", &rules))
		return;
	tap_is_int(plane_case_run(&c, 0), 0, "an iteration ends: %s", c.err.text);
	path = dataplane_path(c.stages[0].plane, OP_F, 0);
	tap_ok(path.rail == 0 && path.queue == 0, "its first message went over a queue");
	tap_is_int(dataplane_begin(c.stages[0].plane, &rules, NULL, 0, 1, &c.err), 0,
	           "another begins");
	path = dataplane_path(c.stages[0].plane, OP_F, 0);
	tap_ok(path.rail == -1 && path.queue == -1 && path.n_resends == 0,
	       "that message has not left in it");
	fini(&c, &net);
}

int main(void)
{
	struct plane_rules stream = plane_unbatched(), delegate = plane_delegate();

	for (int64_t at_ns = 5000; at_ns < 400000; at_ns += 6500) {
		test_fail_over(at_ns);
		test_switch(at_ns);
		test_unseen(0, at_ns);
		test_unseen(1, at_ns);
		for (int which = 0; which < 3; which++) {
			test_flap(which, at_ns, 3000);
			test_flap(which, at_ns, 17000);
		}
	}
	for (int i = 0; i < N_RANDOM; i++)
		for (int which = 0; which < 3; which++)
			test_random(which, rng_mix(3, (uint64_t)(i * 3 + which)), i % 2);
	test_no_rail("zb", &stream, "lost rail 0");
	test_no_rail("zb-cpu", &delegate, "has no rail left");
	test_not_quiet();
	test_no_way_yet();
	return tap_done();
}
