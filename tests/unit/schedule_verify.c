/* schedule_verify.c - checks that the verifier finds what is wrong with a plan, and nothing else.
 */
#include <errno.h>

#include "tests/unit/schedule_fixture.h"

/* A good plan of two stages and two microbatches, to be spoilt. */
static bool good_plan(struct plan *out)
{
	static const char *const letters[] = {"FFBWBW", "FBWFBW"};
	struct fixture fixture;

	fixture_init(&fixture, 2, 2, 10);
	return fixture_plan(&fixture, letters, out);
}

static void set_op(struct plan *plan, int stage, int i, enum op_kind kind, int microbatch)
{
	plan_stage(plan, stage)[i] = (struct plan_op){.kind = kind, .microbatch = microbatch};
}

static void check_refused(struct plan *plan, const int *limits, int code, const char *sentence,
                          const char *name)
{
	char warning[PLAN_WARNING_BYTES] = "untouched";
	struct err err = {0};

	tap_is_int(plan_verify(plan, limits, warning, &err), code, "%s is refused", name);
	tap_contains(err.text, sentence, "the sentence says what is wrong with %s", name);
	tap_is_str(warning, "untouched", "no warning is written for %s", name);
	plan_fini(plan);
}

static void check_order_on_a_stage(void)
{
	struct plan plan;

	if (!good_plan(&plan))
		return;
	set_op(&plan, 0, 5, OP_W, 0);
	check_refused(&plan, NULL, -EINVAL, "stage 0 has W0 twice", "a doubled op");
	if (!good_plan(&plan))
		return;
	set_op(&plan, 1, 3, OP_W, 1);
	check_refused(&plan, NULL, -EINVAL, "stage 1 has W1 before its B1", "a missing F");
	if (!good_plan(&plan))
		return;
	set_op(&plan, 1, 1, OP_W, 0);
	set_op(&plan, 1, 2, OP_B, 0);
	check_refused(&plan, NULL, -EINVAL, "stage 1 has W0 before its B0", "W before B");
	if (!good_plan(&plan))
		return;
	set_op(&plan, 1, 0, OP_B, 0);
	set_op(&plan, 1, 1, OP_F, 0);
	check_refused(&plan, NULL, -EINVAL, "stage 1 has B0 before its F0", "B before F");
	if (!good_plan(&plan))
		return;
	set_op(&plan, 0, 1, OP_F, 2);
	check_refused(&plan, NULL, -EINVAL, "stage 0 has F2; microbatches are 0 to 1",
	              "a microbatch out of range");
	if (!good_plan(&plan))
		return;
	set_op(&plan, 0, 1, (enum op_kind)7, 1);
	check_refused(&plan, NULL, -EINVAL, "unknown kind 7", "an unknown kind");
	if (!good_plan(&plan))
		return;
	plan.merges_backward = true;
	set_op(&plan, 0, 3, OP_B, 1);
	set_op(&plan, 0, 4, OP_W, 0);
	check_refused(&plan, NULL, -EINVAL, "B0 of stage 0 is not followed by its W",
	              "a split backward in a plan that says it has none");
}

static void check_deadlock(void)
{
	struct plan plan;

	if (!good_plan(&plan))
		return;
	/* Stage 1 wants F1 before it gives B0, stage 0 wants B0 before it gives F1. */
	set_op(&plan, 0, 1, OP_B, 0);
	set_op(&plan, 0, 2, OP_F, 1);
	set_op(&plan, 1, 1, OP_F, 1);
	set_op(&plan, 1, 2, OP_B, 0);
	set_op(&plan, 1, 3, OP_W, 0);
	check_refused(&plan, NULL, -EDEADLK, "stage 0 at B0, stage 1 at F1",
	              "two stages that wait for each other");
}

static void check_limits(void)
{
	const int none[2] = {0, 0}, enough[2] = {2, 1}, too_few[2] = {1, 1};
	struct err err = {0};
	struct plan plan;

	if (!good_plan(&plan))
		return;
	tap_is_int(plan_verify(&plan, NULL, NULL, &err), 0, "no limits are kept by every plan");
	tap_is_int(plan_verify(&plan, none, NULL, &err), 0, "a limit of 0 is none");
	tap_is_int(plan_verify(&plan, enough, NULL, &err), 0, "a peak at the limit is within it");
	check_refused(&plan, too_few, -EINVAL,
	              "stage 0 holds 2 activations at F1; its activation limit is 1",
	              "a peak above the limit");
}

static void check_warning(const char *const *letters, int n_stages, int n_microbatches,
                          bool merges_backward, const char *wanted, const char *name)
{
	char warning[PLAN_WARNING_BYTES] = "untouched";
	struct err err = {0};
	struct fixture fixture;
	struct plan plan;

	fixture_init(&fixture, n_stages, n_microbatches, 10);
	if (!fixture_plan(&fixture, letters, &plan))
		return;
	plan.merges_backward = merges_backward;
	tap_is_int(plan_verify(&plan, NULL, warning, &err), 0, "%s is a plan", name);
	if (wanted)
		tap_contains(warning, wanted, "%s: the warning says who waits", name);
	else
		tap_is_str(warning, "", "%s needs no buffers", name);
	plan_fini(&plan);
}

static void check_rendezvous(void)
{
	static const char *const in_turn[] = {"FBWFBW", "FBWFBW"};
	static const char *const ahead[] = {"FFBWBW", "FBWFBW"};
	static const char *const two_ahead[] = {"FFFBWBWBW", "FBWFBWFBW"};
	static const char *const three_ahead[] = {"FFFFBWBWBWBW", "FBWFBWFBWFBW"};
	static const char *const filled[] = {"FFBWBW", "FFBWBW"};
	static const char *const behind[] = {"FFFBWBWBW", "FFBWFBWBW", "FBWFBWFBW"};
	static const char *const alone[] = {"FFBWBW"};

	/* Stage 0 only stands behind the pair that waits for each other. */
	check_warning(behind, 3, 3, false, "(stage 1 sends F1, stage 2 sends B0)",
	              "an order of three stages");
	check_warning(alone, 1, 2, false, NULL, "an order of one stage");
	check_warning(in_turn, 2, 2, false, NULL, "an order that is strictly in turn");
	check_warning(filled, 2, 2, false, NULL, "an order with equal warm-ups");
	/* Stage 0 sends F1 before it posts B0's receive, stage 1 sends B0 before it posts F1's. */
	check_warning(ahead, 2, 2, false, "(stage 0 sends F1, stage 1 sends B0)",
	              "a slackness of 1, unbatched");
	check_warning(ahead, 2, 2, true, NULL, "1F1B, batched");
	/* F1 goes with the batch that B0 is in, and F2 with the one that takes B0. */
	check_warning(two_ahead, 2, 3, true, NULL, "a slackness of 2, batched");
	check_warning(three_ahead, 2, 4, true, "(stage 0 sends F2, stage 1 sends B0)",
	              "a slackness of 3, batched");
}

int main(void)
{
	check_order_on_a_stage();
	check_deadlock();
	check_limits();
	check_rendezvous();
	return tap_done();
}
