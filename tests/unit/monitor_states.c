/* monitor_states.c - tests when the detector calls a link slow, healthy, or moved. */
#include "engine/monitor/monitor.h"

#include "tests/tap.h"

enum { N_LINKS = 3, HEALTHY_NS = 100, THRESHOLD_NS = 40 };

struct detector {
	struct monitor *monitor;
	struct monitor_link links[N_LINKS];
	int iteration;
};

static bool detector_init(struct detector *d, int confirm, int clear)
{
	static const int64_t healthy_ns[N_LINKS] = {HEALTHY_NS, HEALTHY_NS, HEALTHY_NS};
	const struct monitor_settings settings = {
		.n_stages = N_LINKS + 1,
		.healthy_ns = healthy_ns,
		.threshold_ns = THRESHOLD_NS,
		.confirm_iterations = confirm,
		.clear_iterations = clear,
	};
	struct err err = {0};

	*d = (struct detector){0};
	return monitor_new(&settings, &d->monitor, &err) == 0 ||
	       tap_ok(false, "a detector is made: %s", err.text);
}

/* An iteration in which every message takes the healthy time, but those of one direction that. */
static bool iterate(struct detector *d, int from_stage, int to_stage, int64_t transfer_ns)
{
	for (int link = 0; link < N_LINKS; link++)
		for (int i = 0; i < 5; i++) {
			bool is_forward = from_stage == link && to_stage == link + 1;
			bool is_backward = from_stage == link + 1 && to_stage == link;

			monitor_add_transfer(d->monitor, link, link + 1,
			                     is_forward ? transfer_ns : HEALTHY_NS);
			monitor_add_transfer(d->monitor, link + 1, link,
			                     is_backward ? transfer_ns : HEALTHY_NS);
		}
	return monitor_edge(d->monitor, d->iteration++, d->links);
}

/* One letter an iteration of the time on 1->2: '.' healthy, '~' in between, 'x' slow. Returns, a
 * letter an iteration, the state: 's' slow, 'h' healthy, capital when the edge was news. */
static const char *states(const char *times, int confirm, int clear, char *out)
{
	struct detector d;
	int i;

	if (!detector_init(&d, confirm, clear))
		return NULL;
	for (i = 0; times[i]; i++) {
		int64_t excess_ns = times[i] == 'x' ? 60 : times[i] == '~' ? 30 : 0;
		bool is_news = iterate(&d, 1, 2, HEALTHY_NS + excess_ns);

		out[i] = d.links[1].is_slow ? 's' : 'h';
		if (is_news)
			out[i] = (char)(out[i] - 'a' + 'A');
	}
	out[i] = '\0';
	monitor_free(d.monitor);
	return out;
}

static void test_states(void)
{
	static const struct {
		int confirm, clear;
		const char *times, *wanted, *name;
	} cases[] = {
		{1, 2, "..xxx....", "hhSsssHhh",
	         "one slow iteration is enough, two healthy ones end it"},
		{3, 1, "xxx..", "hhSHh", "three in a row when three are asked for"},
		{3, 1, "xx.xx.xxx", "hhhhhhhhS", "a healthy one in between starts the count anew"},
		{1, 2, "x.x.x.xx..", "SssssssssH", "single healthy iterations do not end it"},
		{1, 1, "~~~x~~~.", "hhhSsssH",
	         "between half the threshold and all of it nothing changes"},
		{2, 2, "x~x~xx~.~..", "hhhhhSssssH", "nor does it count"},
		{1, 3, "x..x...", "SsssssH", "the count of healthy ones starts anew, too"},
	};
	char found[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_is_str(states(cases[i].times, cases[i].confirm, cases[i].clear, found),
		           cases[i].wanted, "%s", cases[i].name);
}

static void test_threshold_is_exclusive(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 1))
		return;
	tap_ok(!iterate(&d, 0, 1, HEALTHY_NS + THRESHOLD_NS), "at the threshold a link is healthy");
	tap_ok(iterate(&d, 0, 1, HEALTHY_NS + THRESHOLD_NS + 1), "above it, it is slow");
	tap_ok(!iterate(&d, 0, 1, HEALTHY_NS + THRESHOLD_NS / 2), "at half of it, it still is");
	tap_ok(iterate(&d, 0, 1, HEALTHY_NS + THRESHOLD_NS / 2 - 1), "below half, no longer");
	monitor_free(d.monitor);
}

static void test_directions(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 1))
		return;
	tap_ok(iterate(&d, 2, 1, 500), "a link that is slow in one direction is slow");
	tap_ok(d.links[1].is_slow && !d.links[0].is_slow && !d.links[2].is_slow,
	       "its neighbours are not");
	tap_is_int(d.links[1].transfer_ns, 500, "what is believed is the slow direction's time");
	tap_is_int(d.links[0].transfer_ns, HEALTHY_NS, "a healthy link has its healthy time");
	tap_is_int(d.links[0].since_iteration, -1, "and no evidence");
	for (int i = 0; i < 5; i++) {
		monitor_add_transfer(d.monitor, 1, 2, 300);
		monitor_add_transfer(d.monitor, 2, 1, 500);
	}
	tap_ok(monitor_edge(d.monitor, d.iteration++, d.links), "the other direction is news");
	tap_is_int(d.links[1].transfer_ns, 500, "the slower direction counts");
	tap_is_int(d.links[1].since_iteration, 0, "and the older evidence");
	tap_ok(iterate(&d, 1, 2, 300), "that one has recovered is news");
	tap_is_int(d.links[1].transfer_ns, 300, "then the other one counts");
	monitor_free(d.monitor);
}

static void test_since(void)
{
	struct detector d;

	if (!detector_init(&d, 2, 3))
		return;
	iterate(&d, 0, 1, HEALTHY_NS);
	iterate(&d, 0, 1, 500);
	iterate(&d, 0, 1, 500);
	tap_is_int(d.links[0].since_iteration, 1, "the evidence began before it was enough");
	iterate(&d, 0, 1, HEALTHY_NS);
	iterate(&d, 0, 1, 500);
	tap_ok(d.links[0].is_slow, "one healthy iteration does not end it");
	tap_is_int(d.links[0].since_iteration, 1, "nor does it move its beginning");
	monitor_free(d.monitor);
}

static void test_moved(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 2))
		return;
	tap_ok(iterate(&d, 1, 2, 1000), "a slow link is news");
	tap_ok(!iterate(&d, 1, 2, 1190), "a fifth more is not");
	tap_is_int(d.links[1].transfer_ns, 1000, "what the planner was told stays");
	tap_ok(iterate(&d, 1, 2, 1201), "more than a fifth is");
	tap_is_int(d.links[1].transfer_ns, 1201, "and the planner is told");
	tap_ok(!iterate(&d, 1, 2, 1000), "back by less than a fifth of that is not");
	tap_ok(iterate(&d, 1, 2, 900), "by more than a fifth is");
	tap_ok(iterate(&d, 1, 2, 160), "a long way down is");
	tap_ok(!iterate(&d, 1, 2, 200), "a fifth that is less than the threshold is not");
	tap_is_int(d.links[1].transfer_ns, 160, "then nothing is told");
	tap_is_int(d.links[1].since_iteration, 0, "moving does not move the beginning");
	monitor_free(d.monitor);
}

static void test_samples(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 1))
		return;
	for (int i = 0; i < 9; i++)
		monitor_add_transfer(d.monitor, 0, 1, i < 4 ? 100000 : HEALTHY_NS);
	tap_ok(!monitor_edge(d.monitor, 0, d.links), "less than half late messages raise no alarm");
	for (int i = 0; i < 9; i++)
		monitor_add_transfer(d.monitor, 0, 1, i < 5 ? 100000 : HEALTHY_NS);
	tap_ok(monitor_edge(d.monitor, 1, d.links), "more than half do");
	tap_ok(!monitor_edge(d.monitor, 2, d.links), "an iteration without messages says nothing");
	tap_ok(d.links[0].is_slow, "and changes nothing");
	for (int i = 0; i < 20000; i++)
		monitor_add_transfer(d.monitor, 0, 1, i < 4096 ? HEALTHY_NS : 100000);
	tap_ok(monitor_edge(d.monitor, 3, d.links) && !d.links[0].is_slow,
	       "the first 4,096 messages of an iteration count");
	monitor_free(d.monitor);
}

/* What the workers missed: of 200 ns as many as that may be theirs. */
static void test_unsure(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 1))
		return;
	tap_ok(monitor_can_tell(d.monitor, 200, 0), "a message that nobody missed can tell");
	tap_ok(monitor_can_tell(d.monitor, 100, THRESHOLD_NS / 2),
	       "and one with a doubt of half the threshold");
	tap_ok(!monitor_can_tell(d.monitor, 80, THRESHOLD_NS / 2 + 1), "with more it cannot");
	tap_ok(monitor_can_tell(d.monitor, 200, 50), "unless that is a quarter of what it took");
	tap_ok(!monitor_can_tell(d.monitor, 200, 51), "or less");
	tap_ok(!monitor_can_tell(d.monitor, INT64_MAX, INT64_MAX), "whatever it took");
	monitor_free(d.monitor);
}

static void test_forgetting(void)
{
	struct detector d;

	if (!detector_init(&d, 1, 1))
		return;
	for (int i = 0; i < 5; i++)
		monitor_add_transfer(d.monitor, 0, 1, 5000);
	monitor_drop_iteration(d.monitor);
	tap_ok(!iterate(&d, 0, 1, HEALTHY_NS), "an iteration that was dropped raises no alarm");
	tap_ok(iterate(&d, 0, 1, 5000), "one that was not does");
	monitor_drop_iteration(d.monitor);
	tap_ok(!monitor_edge(d.monitor, d.iteration++, d.links) && d.links[0].is_slow,
	       "dropping an iteration keeps what is believed");
	monitor_reset(d.monitor);
	tap_ok(!monitor_edge(d.monitor, d.iteration++, d.links) && !d.links[0].is_slow,
	       "a reset forgets it");
	tap_is_int(d.links[0].transfer_ns, HEALTHY_NS, "and what it took");
	tap_ok(iterate(&d, 0, 1, 5000), "after it, evidence counts from the start");
	monitor_free(d.monitor);
}

static void test_single_stage(void)
{
	const struct monitor_settings settings = {
		.n_stages = 1, .threshold_ns = 1, .confirm_iterations = 1, .clear_iterations = 1};
	struct monitor *monitor;
	struct err err = {0};

	if (!tap_is_int(monitor_new(&settings, &monitor, &err), 0, "one stage has no links"))
		return;
	tap_ok(!monitor_edge(monitor, 0, NULL), "and no news");
	monitor_reset(monitor);
	monitor_free(monitor);
	monitor_free(NULL);
}

int main(void)
{
	test_states();
	test_threshold_is_exclusive();
	test_directions();
	test_since();
	test_moved();
	test_samples();
	test_unsure();
	test_forgetting();
	test_single_stage();
	return tap_done();
}
