/* schedule_list.c - checks list scheduling and hold, and what a delay costs under either. */
#include "engine/schedule/stage_queue.h"
#include "tests/unit/schedule_fixture.h"

static const int64_t MS = NS_PER_MS;

static void check_order(const struct list_rules *rules, const char *const *wanted, const char *name)
{
	struct fixture fixture;
	struct err err = {0};
	struct plan plan;
	char text[64];

	fixture_init(&fixture, 2, 4, 10);
	if (plan_init(&plan, 2, 4, &err))
		return;
	tap_is_int(list_schedule(&fixture.request, rules, &plan, &err), 0, "%s is made", name);
	for (int s = 0; s < 2; s++)
		tap_is_str(plan_letters(&plan, s, text), wanted[s], "%s on stage %d", name, s);
	plan_fini(&plan);
}

static void check_rules(void)
{
	static const int warmups[] = {4, 1}, grown[] = {1, 99}, limits[] = {2, 1};
	static const char *const greedy[] = {"FFFBFBWBWBWW", "FBFBFBFBWWWW"};
	static const char *const warm[] = {"FFFFBBWBWBWW", "FBFBFBFBWWWW"};
	static const char *const tight[] = {"FFBWFBWFBWBW", "FBWFBWFBWFBW"};
	static const char *const lowered[] = {"FBFFFBWBWBWW", "FBWFBFBFBWWW"};

	check_order(&(struct list_rules){0}, greedy, "the greedy order");
	check_order(&(struct list_rules){.warmups = warmups, .waits_for_backward = true}, warm,
	            "an order with warm-ups");
	check_order(&(struct list_rules){.limits = limits}, tight, "an order with limits");
	check_order(&(struct list_rules){.warmups = grown, .waits_for_backward = true}, lowered,
	            "an order whose warm-ups grow");
}

/* By how much the makespan of the order made for no delay grows when the link then takes delay_ms.
 */
static int64_t growth_ms(bool holds, int64_t delay_ms)
{
	static const int warmups[] = {7, 1};
	struct list_rules rules = {.warmups = warmups, .waits_for_backward = true};
	struct fixture fixture;
	struct plan plan;
	int64_t before_ns, growth_ns = -1;
	int rc = 0;

	fixture_init(&fixture, 2, 30, 10 * MS);
	if (plan_init(&plan, 2, 30, NULL))
		return -1;
	if (holds)
		hold_order(&fixture.request, warmups, &plan);
	else
		rc = list_schedule(&fixture.request, &rules, &plan, NULL);
	rc = rc ? rc : plan_time(&plan, &fixture.request.times, NULL);
	before_ns = plan.makespan_ns;
	fixture.link_ns[0] = delay_ms * MS;
	if (rc == 0 && plan_time(&plan, &fixture.request.times, NULL) == 0)
		growth_ns = plan.makespan_ns - before_ns;
	plan_fini(&plan);
	return growth_ns / MS;
}

static void check_slackness(void)
{
	tap_is_int(growth_ms(false, 10), 10, "B > F > W absorbs 10 ms");
	tap_is_int(growth_ms(false, 15), 100, "and cascades at 15 ms");
	for (int64_t delay_ms = 0; delay_ms <= 50; delay_ms += 5)
		tap_is_int(growth_ms(true, delay_ms), delay_ms, "hold pays a delay of %d ms once",
		           (int)delay_ms);
	tap_is_int(growth_ms(true, 55), 100, "and cascades beyond its lead of 7");
}

static void check_hold_limit(void)
{
	static const int warmups[] = {3, 1};
	static const char *const wanted[] = {"FFFBWFBWFBWBWBW", "FBWFBWFBWFBWFBW"};
	struct fixture fixture;
	struct plan plan;
	char text[64];

	fixture_init(&fixture, 2, 5, 10);
	fixture.request.limits = fixture.limits;
	fixture.limits[0] = 3;
	fixture.limits[1] = 1;
	if (plan_init(&plan, 2, 5, NULL))
		return;
	hold_order(&fixture.request, warmups, &plan);
	tap_is_int(plan_verify(&plan, fixture.limits, NULL, NULL), 0, "hold obeys limits");
	for (int s = 0; s < 2; s++)
		tap_is_str(plan_letters(&plan, s, text), wanted[s],
		           "stage %d runs W to make room for F", s);
	plan_fini(&plan);
}

/* Against the plainest search for the smallest time. */
static void check_queue(void)
{
	struct stage_queue queue;
	int n_wrong = 0;

	if (!tap_ok(stage_queue_init(&queue, 13, NULL) == 0, "a queue of stages is made"))
		return;
	for (uint64_t i = 0; i < 5000; i++) {
		int stage = (int)(rng_mix(1, i) % 13), first = -1;
		int64_t at_ns = (int64_t)(rng_mix(2, i) % 20);

		stage_queue_set(&queue, stage, at_ns == 0 ? STAGE_QUEUE_NEVER : at_ns);
		for (int s = 0; s < 13; s++)
			if (queue.at_ns[s] != STAGE_QUEUE_NEVER &&
			    (first < 0 || queue.at_ns[s] < queue.at_ns[first]))
				first = s;
		n_wrong += stage_queue_first(&queue) != first;
	}
	for (int s = 0; s < 13; s++)
		stage_queue_set(&queue, s, STAGE_QUEUE_NEVER);
	tap_is_int(n_wrong, 0, "the first stage is the one with the smallest time and number");
	tap_is_int(stage_queue_first(&queue), -1, "nobody is first when nobody has a time");
	stage_queue_fini(&queue);
}

int main(void)
{
	check_rules();
	check_slackness();
	check_hold_limit();
	check_queue();
	return tap_done();
}
