/* schedule_time.c - checks the replay that says when every op of a plan starts. */
#include <errno.h>

#include "tests/unit/schedule_fixture.h"

/* Two stages, two microbatches, F 3, B 5, W 2 on stage 0 and F 4, B 6, W 1 on stage 1, link 10;
 * worked out by hand. */
static void check_by_hand(void)
{
	static const char *const letters[] = {"FFBWBW", "FBWFBW"};
	static const int64_t start_ns[2][6] = {{0, 3, 33, 38, 44, 49}, {13, 17, 23, 24, 28, 34}};
	static const int64_t idle_ns[2][6] = {{0, 0, 27, 0, 4, 0}, {13, 0, 0, 0, 0, 0}};
	static const int64_t op_ns[2][OP_KINDS] = {{3, 5, 2}, {4, 6, 1}};
	struct fixture fixture;
	struct plan plan;

	fixture_init(&fixture, 2, 2, 0);
	for (int s = 0; s < 2; s++)
		for (int kind = OP_F; kind <= OP_W; kind++)
			fixture.op_ns[kind][s] = op_ns[s][kind];
	fixture.link_ns[0] = 10;
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	for (int s = 0; s < 2; s++) {
		for (int i = 0; i < 6; i++) {
			const struct plan_op *op = plan_stage(&plan, s) + i;

			tap_is_int(op->start_ns, start_ns[s][i], "op %d of stage %d starts", i, s);
			tap_is_int(op->idle_before_ns, idle_ns[s][i],
			           "op %d of stage %d comes after idle time", i, s);
		}
	}
	tap_is_int(plan.makespan_ns, 51, "the makespan is the last op's end");
	plan_fini(&plan);
}

/* A whole backward hands its gradient on after W: stage 1 runs F 10-20, B 20-30, W 30-40. */
static void check_whole_backward(void)
{
	static const char *const letters[] = {"FBW", "FBW"};
	struct err err = {0};
	struct fixture fixture;
	struct plan plan;

	fixture_init(&fixture, 2, 1, 10);
	fixture.link_ns[0] = 0;
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	tap_is_int(plan_stage(&plan, 0)[1].start_ns, 30,
	           "a split backward sends its gradient after B");
	plan.merges_backward = true;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), 0, "the plan is timed again");
	tap_is_int(plan_stage(&plan, 0)[1].start_ns, 40, "a whole one sends its gradient after W");
	plan_fini(&plan);
}

static void check_deadlock(void)
{
	static const char *const letters[] = {"FFBWBW", "FFBWBW"};
	struct err err = {0};
	struct fixture fixture;
	struct plan plan;
	int64_t makespan_ns;

	fixture_init(&fixture, 2, 2, 10);
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	makespan_ns = plan.makespan_ns;
	/* Stage 0 now wants B0 before it gives F1, which stage 1 wants before it gives B0. */
	plan_stage(&plan, 0)[1] = (struct plan_op){.kind = OP_B, .microbatch = 0};
	plan_stage(&plan, 0)[2] = (struct plan_op){.kind = OP_F, .microbatch = 1};
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EDEADLK,
	           "an order that cannot run is refused");
	tap_contains(err.text, "stage 0 at B0", "the sentence names the first stage's next op");
	tap_contains(err.text, "stage 1 at F1", "and the other's");
	tap_is_int(plan.makespan_ns, makespan_ns, "the plan keeps what it had");
	plan_fini(&plan);
}

static void check_hostile(void)
{
	static const char *const letters[] = {"FBW", "FBW"};
	struct err err = {0};
	struct fixture fixture;
	struct plan plan;

	fixture_init(&fixture, 2, 1, 10);
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	fixture.op_ns[OP_B][1] = -1;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EINVAL,
	           "a negative time is refused");
	tap_contains(err.text, "B on stage 1 takes -1 ns", "the sentence says where");
	fixture.op_ns[OP_B][1] = INT64_MAX;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EINVAL,
	           "a time whose sums overflow is refused");
	fixture.op_ns[OP_B][1] = 10;
	fixture.link_ns[0] = INT64_MAX / 2;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EINVAL,
	           "such a link is refused");
	tap_contains(err.text, "link 0-1", "the sentence names the link");
	fixture.link_ns[0] = 0;
	fixture.request.times.n_stages = 1;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EINVAL,
	           "times of another pipeline are refused");
	fixture.request.times.n_stages = 2;
	plan_stage(&plan, 1)[0].microbatch = 5;
	tap_is_int(plan_time(&plan, &fixture.request.times, &err), -EINVAL,
	           "a microbatch out of range is refused");
	plan_fini(&plan);
}

/* More latency is never faster under the same order, and no stage beats its own work. */
static void check_monotone(void)
{
	int n_wrong = 0, n = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		const struct schedule_ops *zb_cpu = schedule_find("zb-cpu", NULL);
		struct fixture fixture;
		struct plan plan;
		int64_t before_ns;

		fixture_random(&fixture, seed);
		if (schedule_make(zb_cpu, &fixture.request, &plan, NULL))
			continue;
		n++;
		before_ns = plan.makespan_ns;
		for (int s = 0; s < plan.n_stages; s++)
			n_wrong += before_ns < plan.n_microbatches * (fixture.op_ns[OP_F][s] +
			                                              fixture.op_ns[OP_B][s] +
			                                              fixture.op_ns[OP_W][s]);
		fixture.link_ns[fixture_draw(&fixture, plan.n_stages)] += 7;
		n_wrong += plan_time(&plan, &fixture.request.times, NULL) != 0;
		n_wrong += plan.makespan_ns < before_ns;
		plan_fini(&plan);
	}
	tap_ok(n > 200, "there are many random plans (%d)", n);
	tap_is_int(n_wrong, 0, "more latency is never faster, and no plan is faster than its work");
}

int main(void)
{
	check_by_hand();
	check_whole_backward();
	check_deadlock();
	check_hostile();
	check_monotone();
	return tap_done();
}
