/* sim_tolerance.c - tests how much delay a link bears, against trying every delay, and what
 * slackness is worth. */
#include "engine/base/units.h"
#include "engine/sim/sim.h"
#include "tests/tap.h"
#include "tests/unit/schedule_fixture.h"

enum { MOST_TRIED_NS = 3000 };

/* Makespan of the plan when a link takes delay_ns more. */
static int64_t makespan_with(const struct plan *plan, const struct plan_times *times, int link,
                             int64_t delay_ns)
{
	int64_t link_ns[FIXTURE_STAGES_MAX];
	struct plan_times varied = *times;
	struct err err = {0};
	struct plan copy;
	int64_t makespan_ns;

	memcpy(link_ns, times->link_ns, (size_t)(times->n_stages - 1) * sizeof(*link_ns));
	link_ns[link] += delay_ns;
	varied.link_ns = link_ns;
	if (plan_copy(plan, &copy, &err))
		return -1;
	makespan_ns = plan_time(&copy, &varied, &err) ? -1 : copy.makespan_ns;
	plan_fini(&copy);
	return makespan_ns;
}

/* The last of 0, 1, … that is borne before one that is not; −1: all that were tried are. */
static int64_t tolerated_by_trying(const struct plan *plan, const struct plan_times *times,
                                   int link)
{
	int64_t base_ns = makespan_with(plan, times, link, 0);

	for (int64_t delay_ns = 1; delay_ns <= MOST_TRIED_NS; delay_ns++)
		if (makespan_with(plan, times, link, delay_ns) - base_ns > 2 * delay_ns)
			return delay_ns - 1;
	return -1;
}

static void test_against_trying(void)
{
	int n_links = 0, n_wrong = 0, n_unlimited = 0;

	for (uint64_t seed = 1; seed < 60 && n_links < 60; seed++) {
		const struct schedule_ops *schedule = schedule_list()[seed % 8];
		struct fixture fixture;
		struct err err = {0};
		struct plan plan;

		fixture_random(&fixture, seed);
		if (fixture.request.n_microbatches * fixture.request.times.n_stages > 120 ||
		    schedule_make(schedule, &fixture.request, &plan, &err))
			continue;
		for (int link = 0; link < plan.n_stages - 1 && link < 4; link++, n_links++) {
			int64_t found = -2, wanted;

			n_wrong += sim_tolerated_delay(&plan, &fixture.request.times, link, &found,
			                               &err) != 0;
			wanted = tolerated_by_trying(&plan, &fixture.request.times, link);
			n_unlimited += found == -1;
			if (found != wanted && !(wanted == -1 && found > MOST_TRIED_NS)) {
				tap_note("%s, seed %d, link %d: %lld, by trying %lld",
				         schedule->name, (int)seed, link, (long long)found,
				         (long long)wanted);
				n_wrong++;
			}
		}
		plan_fini(&plan);
	}
	tap_ok(n_links >= 50, "there are many links (%d, of which %d bear any delay)", n_links,
	       n_unlimited);
	tap_is_int(n_wrong, 0, "each bears exactly what trying every delay says");
}

/* S = 2, N = 30, x = [7, 1], ops of 10 ms: the plan's makespan at a delay, and its growth. */
static int64_t growth_ms(struct fixture *fixture, const struct plan *plan, int64_t delay_ms)
{
	int64_t healthy_ns = makespan_with(plan, &fixture->request.times, 0, 0);

	return (makespan_with(plan, &fixture->request.times, 0, delay_ms * NS_PER_MS) -
	        healthy_ns) /
	       NS_PER_MS;
}

static void test_slackness(void)
{
	static const int warmups[] = {7, 1};
	const struct list_rules greedy = {.warmups = warmups, .waits_for_backward = true};
	struct fixture fixture;
	struct plan hold, list;
	struct err err = {0};
	int64_t borne_ns = 0;
	int n_wrong = 0;

	fixture_init(&fixture, 2, 30, 10 * NS_PER_MS);
	if (!tap_ok(!plan_init(&hold, 2, 30, &err) && !plan_init(&list, 2, 30, &err) &&
	                    !list_schedule(&fixture.request, &greedy, &list, &err),
	            "the two orders are made"))
		return;
	hold_order(&fixture.request, warmups, &hold);
	for (int delay_ms = 0; delay_ms <= 50; delay_ms++)
		n_wrong += growth_ms(&fixture, &hold, delay_ms) != delay_ms;
	tap_is_int(n_wrong, 0, "an order that holds its lead costs exactly the delay up to 50 ms");
	tap_ok(growth_ms(&fixture, &hold, 60) > 2 * 60, "beyond that it cascades: %lld ms at 60 ms",
	       (long long)growth_ms(&fixture, &hold, 60));
	tap_is_int(growth_ms(&fixture, &list, 10), 10, "B > F > W costs 10 ms at 10 ms");
	tap_is_int(growth_ms(&fixture, &list, 15), 100, "and 100 ms at 15 ms");
	tap_is_int(sim_tolerated_delay(&hold, &fixture.request.times, 0, &borne_ns, &err), 0,
	           "what the first bears is found");
	tap_ok(borne_ns >= 50 * (int64_t)NS_PER_MS, "at least 50 ms");
	tap_is_int(sim_tolerated_delay(&list, &fixture.request.times, 0, &borne_ns, &err), 0,
	           "what the second bears is found");
	tap_ok(borne_ns >= 10 * (int64_t)NS_PER_MS && borne_ns < 15 * (int64_t)NS_PER_MS,
	       "between 10 and 15 ms");
	plan_fini(&hold);
	plan_fini(&list);
}

/* Equation 1, tF_i + tB_i + 2c <= D (tF_{i+1} + tB_{i+1}), for orders that hold their lead. S = 2,
 * ops of 10 ms: a delay of up to 10 (D - 1) ms costs itself, 10 ms more cost several times that. */
static void test_equation_1(void)
{
	struct fixture fixture;
	struct err err = {0};
	int n_wrong = 0;

	fixture_init(&fixture, 2, 30, 10 * NS_PER_MS);
	for (int lead = 2; lead <= 8; lead++) {
		const int warmups[] = {1 + lead, 1};
		int64_t most_ms = 10 * (lead - 1);
		struct plan plan;

		if (plan_init(&plan, 2, 30, &err)) {
			n_wrong++;
			continue;
		}
		hold_order(&fixture.request, warmups, &plan);
		n_wrong += growth_ms(&fixture, &plan, most_ms) != most_ms;
		n_wrong += growth_ms(&fixture, &plan, most_ms + 10) < most_ms + 10 + 60;
		plan_fini(&plan);
	}
	tap_is_int(n_wrong, 0, "Equation 1 says where orders that hold their lead cascade");
}

int main(void)
{
	test_against_trying();
	test_slackness();
	test_equation_1();
	return tap_done();
}
