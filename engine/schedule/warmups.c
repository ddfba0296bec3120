/* warmups.c - how many forwards each stage runs before its first backward: Algorithms 1 and 2.
 *
 * Whatever a rule asks for, a stage can run no more forwards than there are microbatches, than its
 * activations may be, or than the stage before sends it ahead of that one's own first backward. The
 * caps are worked out first, from stage 0 on, so that the rules give counts that never grow towards
 * the last stage. */
#include <limits.h>

#include "engine/schedule/policy_internal.h"

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* The most that a stage can do, and why. */
struct cap {
	int most;
	const char *reason;
};

static struct cap cap_after(const struct schedule_request *request, int stage, int cap_before)
{
	struct cap cap;

	cap.most = policy_cap(request, request->limits, stage, cap_before, &cap.reason);
	return cap;
}

/* What is left of asked; records what is not. */
static int give(struct plan *plan, int stage, int asked, struct cap cap, struct err *err)
{
	struct plan_clamp clamp = {
		.stage = stage, .asked = asked, .given = cap.most, .reason = cap.reason};

	plan->warmups[stage] = least(asked, cap.most);
	return asked > cap.most ? plan_add_clamp(plan, clamp, err) : 0;
}

int warmups_initial(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int n_links = plan->n_stages - 1;
	int limit = request->limits ? request->limits[0] : 0;
	int asked = request->n_fitting > 0 ? request->n_fitting : limit;
	struct cap cap = cap_after(request, 0, plan->n_microbatches);
	int rc, spread;

	asked = asked > 0 ? asked : 2 * plan->n_stages;
	/* The last stage runs one forward, and the only stage is the last. */
	asked = n_links > 0 ? asked : 1;
	rc = give(plan, 0, asked, cap, err);
	asked = plan->warmups[0];
	spread = asked - 1;
	for (int i = 0; i < n_links && rc == 0; i++) {
		asked -= spread / n_links + (i < spread % n_links);
		cap = cap_after(request, i + 1, cap.most);
		rc = give(plan, i + 1, asked, cap, err);
	}
	return rc;
}

/* Equation 1's difference: the smallest with tF_i + tB_i + 2·c_i <= Δ·(tF_{i+1} + tB_{i+1}), at
 * least 2. */
static int hiding_difference(const struct schedule_request *request, int stage)
{
	const int64_t *const *op_ns = request->times.op_ns;
	int64_t round_ns = op_ns[OP_F][stage + 1] + op_ns[OP_B][stage + 1];
	int64_t trip_ns =
		op_ns[OP_F][stage] + op_ns[OP_B][stage] + 2 * request->times.link_ns[stage];
	int64_t difference;

	round_ns = round_ns > 0 ? round_ns : 1;
	difference = trip_ns / round_ns + (trip_ns % round_ns > 0);
	if (difference < 2)
		return 2;
	return difference < INT_MAX / 2 ? (int)difference : INT_MAX / 2;
}

static int add_saturated(int a, int b)
{
	return a > INT_MAX - b ? INT_MAX : a + b;
}

/* Every stage's cap into warmups, where give() replaces it from the last stage on; reasons are
 * found again. */
static void write_caps(const struct schedule_request *request, struct plan *plan)
{
	struct cap cap = {.most = plan->n_microbatches};

	for (int s = 0; s < plan->n_stages; s++) {
		cap = cap_after(request, s, cap.most);
		plan->warmups[s] = cap.most;
	}
}

static struct cap read_cap(const struct schedule_request *request, const struct plan *plan,
                           int stage)
{
	return cap_after(request, stage,
	                 stage > 0 ? plan->warmups[stage - 1] : plan->n_microbatches);
}

int warmups_adapted(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int last = plan->n_stages - 1;
	int rc;

	write_caps(request, plan);
	rc = give(plan, last, 1, read_cap(request, plan, last), err);
	for (int s = last - 1; s >= 0 && rc == 0; s--) {
		int asked = add_saturated(plan->warmups[s + 1], hiding_difference(request, s));

		rc = give(plan, s, asked, read_cap(request, plan, s), err);
	}
	return rc;
}

/* The published cap on the difference, recorded like every other. */
static int cap_difference(const struct schedule_request *request, struct plan *plan, int stage,
                          int *asked, struct err *err)
{
	int64_t room = (int64_t)plan->n_microbatches - 2 * (int64_t)plan->n_stages;
	int difference = hiding_difference(request, stage);
	int most = room > 0 ? (int)room : 0;
	struct plan_clamp clamp = {
		.stage = stage,
		.asked = add_saturated(*asked, difference),
		.given = add_saturated(*asked, least(difference, most)),
		.reason = "published cap on the difference, N - 2S",
	};

	*asked = clamp.given;
	return clamp.given < clamp.asked ? plan_add_clamp(plan, clamp, err) : 0;
}

int warmups_published(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	int last = plan->n_stages - 1;
	int asked = 1;
	int rc;

	write_caps(request, plan);
	rc = give(plan, last, asked, read_cap(request, plan, last), err);
	for (int s = last - 1; s >= 0 && rc == 0; s--) {
		rc = cap_difference(request, plan, s, &asked, err);
		rc = rc ? rc : give(plan, s, asked, read_cap(request, plan, s), err);
	}
	return rc;
}
