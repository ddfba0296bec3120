/* schedule_plan.c - checks plans: storage, text, and questions about an order. */
#include <errno.h>
#include <limits.h>

#include "tests/unit/schedule_fixture.h"

static void check_sizes(void)
{
	struct plan plan = {.n_stages = 77};
	struct err err = {0};

	tap_is_int(plan_init(&plan, 0, 4, &err), -EINVAL, "no stage makes no plan");
	tap_is_int(plan_init(&plan, 4, 0, &err), -EINVAL, "no microbatch makes no plan");
	tap_is_int(plan_init(&plan, 4, -1, &err), -EINVAL, "a negative count makes no plan");
	tap_is_int(plan_init(&plan, 4, INT_MAX, &err), -EINVAL,
	           "more microbatches than can be counted make no plan");
	tap_contains(err.text, "4 stages", "the sentence says what was asked");
	tap_is_int(plan.n_stages, 77, "a failure leaves the plan alone");
	plan_fini(NULL);
}

static void check_copy(void)
{
	static const char *const letters[] = {"FFBWBW", "FBFBWW"};
	struct plan_clamp clamp = {.stage = 1, .asked = 9, .given = 2, .reason = "microbatches"};
	struct fixture fixture;
	struct err err = {0};
	struct plan plan, copy;

	fixture_init(&fixture, 2, 2, 10);
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	tap_is_int(plan_add_clamp(&plan, clamp, &err), 0, "a clamp is recorded");
	clamp.stage = 0;
	tap_is_int(plan_add_clamp(&plan, clamp, &err), 0, "a second one too");
	if (tap_is_int(plan_copy(&plan, &copy, &err), 0, "a plan is copied")) {
		char *text;

		plan_stage(&plan, 0)[0].kind = OP_W;
		plan.warmups[0] = 99;
		plan.clamps[1].asked = 1;
		text = plan_order_text(&copy, 0);
		tap_is_str(text, "F0 F1 B0 W0 B1 W1", "the copy keeps its own order");
		tap_is_int(copy.warmups[0], 2, "and its own warm-ups");
		tap_is_int((int64_t)copy.n_clamps, 2, "and both clamps");
		tap_is_int(copy.clamps[1].asked, 9, "as they were");
		tap_is_int(copy.makespan_ns, plan.makespan_ns, "and the makespan");
		free(text);
		plan_fini(&copy);
	}
	plan_fini(&plan);
}

static void check_questions(void)
{
	static const char *const letters[] = {"FFFBWBBWW", "FBFBWWFBW"};
	struct fixture fixture;
	struct plan plan;
	char *text;

	fixture_init(&fixture, 2, 3, 10);
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	tap_is_int(plan_peak_activations(&plan, 0), 3, "three forwards hold three activations");
	tap_is_int(plan_peak_activations(&plan, 1), 2, "W frees what F took, B does not");
	tap_is_int(plan.warmups[0], 3, "warm-ups are the forwards before the first backward");
	tap_is_int(plan.warmups[1], 1, "and no later ones");
	text = plan_order_text(&plan, 1);
	tap_is_str(text, "F0 B0 F1 B1 W0 W1 F2 B2 W2", "an order is written with its microbatches");
	free(text);
	tap_ok(plan_is_in_microbatch_order(&plan), "letters are in microbatch order");
	plan_stage(&plan, 0)[0].microbatch = 1;
	plan_stage(&plan, 0)[1].microbatch = 0;
	tap_ok(!plan_is_in_microbatch_order(&plan), "two exchanged forwards are not");
	plan_fini(&plan);
}

static void check_letters(void)
{
	static const char *const bad[][2] = {
		{"FFBWBW", "FBWFB"},
		{"FFBWBW", "FBxFBW"},
		{"FFBWBW", "FBFBFW"},
		{"FFBWBW", "FBWFBWW"},
	};
	static const char *const why[] = {"ends after 5 letters; wanted 6", "is 'x'",
	                                  "more than 2 F", NULL};
	struct fixture fixture;
	struct plan plan;

	fixture_init(&fixture, 2, 2, 10);
	for (int i = 0; i < 4; i++) {
		struct err err = {0};

		if (plan_init(&plan, 2, 2, &err))
			return;
		tap_is_int(plan_from_letters(&plan, bad[i], &fixture.request.times, &err),
		           why[i] ? -EINVAL : 0, "letters '%s' are %s", bad[i][1],
		           why[i] ? "refused" : "read up to the number of ops");
		if (why[i])
			tap_contains(err.text, why[i], "the sentence says why");
		plan_fini(&plan);
	}
}

int main(void)
{
	check_sizes();
	check_copy();
	check_questions();
	check_letters();
	return tap_done();
}
