/* schedule_policies.c - properties that hold for every schedule and any request. */
#include <stdio.h>

#include "tests/unit/schedule_fixture.h"

enum { N_REQUESTS = 400 };

/* What went wrong first, for a person. */
struct trouble {
	int n;
	char text[2048];
};

static void add_trouble(struct trouble *trouble, const struct fixture *fixture, const char *what,
                        const char *detail)
{
	if (trouble->n++ == 0)
		(void)snprintf(trouble->text, sizeof(trouble->text),
		               "%s, seed %llu, S %d, N %d, limits %d, straggler %d: %s", what,
		               (unsigned long long)fixture->seed, fixture->request.times.n_stages,
		               fixture->request.n_microbatches, fixture->request.limits != NULL,
		               fixture->request.has_straggler, detail);
}

static bool is_same(const struct plan *a, const struct plan *b)
{
	size_t n = (size_t)a->n_stages * OP_KINDS * (size_t)a->n_microbatches;

	if (a->makespan_ns != b->makespan_ns || a->n_clamps != b->n_clamps)
		return false;
	for (size_t i = 0; i < n; i++)
		if (a->ops[i].kind != b->ops[i].kind ||
		    a->ops[i].microbatch != b->ops[i].microbatch ||
		    a->ops[i].start_ns != b->ops[i].start_ns ||
		    a->ops[i].idle_before_ns != b->ops[i].idle_before_ns)
			return false;
	return true;
}

static void check_made_again(const struct schedule_ops *ops, const struct fixture *fixture,
                             const struct plan *plan, struct trouble *trouble)
{
	struct plan again;

	if (schedule_make(ops, &fixture->request, &again, NULL)) {
		add_trouble(trouble, fixture, "made once only", "");
		return;
	}
	if (!is_same(plan, &again))
		add_trouble(trouble, fixture, "another plan the second time", "");
	if (plan_time(&again, &fixture->request.times, NULL) || !is_same(plan, &again))
		add_trouble(trouble, fixture, "planned starts are not a replay's", "");
	plan_fini(&again);
}

static void check_plan(const struct schedule_ops *ops, const struct fixture *fixture,
                       const struct plan *plan, struct trouble *trouble)
{
	char warning[PLAN_WARNING_BYTES];
	struct err err = {0};

	if (plan_verify(plan, fixture->request.limits, warning, &err))
		add_trouble(trouble, fixture, "not verified", err.text);
	else if (ops->is_batched && !fixture->request.limits && warning[0])
		add_trouble(trouble, fixture, "batched, but needs buffers", warning);
	if (ops->is_batched != plan->merges_backward)
		add_trouble(trouble, fixture, "splits the backward", "");
	if (!plan_is_in_microbatch_order(plan))
		add_trouble(trouble, fixture, "not in microbatch order", "");
	for (size_t i = 0; i < plan->n_clamps; i++)
		if (plan->clamps[i].given >= plan->clamps[i].asked || !plan->clamps[i].reason)
			add_trouble(trouble, fixture, "a clamp that clamps nothing", "");
	check_made_again(ops, fixture, plan, trouble);
}

static void check_request(const struct schedule_ops *ops, struct fixture *fixture,
                          struct trouble *trouble)
{
	struct plan order = {0}, plan;
	struct err err = {0};

	/* csv is given an order that fits. */
	if (strcmp(ops->name, "csv") == 0 &&
	    schedule_make(schedule_find("zb-cpu", NULL), &fixture->request, &order, &err) == 0)
		fixture->request.order = &order;
	if (schedule_make(ops, &fixture->request, &plan, &err)) {
		add_trouble(trouble, fixture, "no plan", err.text);
	} else {
		check_plan(ops, fixture, &plan, trouble);
		plan_fini(&plan);
	}
	fixture->request.order = NULL;
	plan_fini(&order);
}

static void check_random(const struct schedule_ops *ops)
{
	struct trouble trouble = {0};

	for (uint64_t seed = 0; seed < N_REQUESTS; seed++) {
		struct fixture fixture;

		fixture_random(&fixture, seed);
		check_request(ops, &fixture, &trouble);
	}
	tap_ok(trouble.n == 0, "%s keeps its contract for %d random requests", ops->name,
	       N_REQUESTS);
	if (trouble.n > 0)
		tap_note("%d times; first: %s", trouble.n, trouble.text);
}

/* Every small size, with no limit and with the tightest. */
static void check_small(const struct schedule_ops *ops)
{
	struct trouble trouble = {0};

	for (int i = 0; i < 6 * 13 * 3 * 2; i++) {
		struct fixture fixture;
		int n_stages = 1 + i % 6, n_microbatches = 1 + i / 6 % 13;
		int limit = i / 78 % 3;

		fixture_init(&fixture, n_stages, n_microbatches, 10);
		fixture.request.has_straggler = i / 234 == 1;
		fixture.request.limits = fixture.limits;
		for (int s = 0; s < n_stages; s++)
			fixture.limits[s] = limit;
		if (n_stages > 1)
			fixture.link_ns[n_stages / 2 - 1] = 35;
		check_request(ops, &fixture, &trouble);
	}
	tap_ok(trouble.n == 0, "%s makes plans of 1 to 6 stages and 1 to 13 microbatches",
	       ops->name);
	if (trouble.n > 0)
		tap_note("%d times; first: %s", trouble.n, trouble.text);
}

static void check_letters(const char *name, int n_stages, int n_microbatches, int limit,
                          const char *const *wanted)
{
	struct fixture fixture;
	struct err err = {0};
	struct plan plan;
	char text[128];

	fixture_init(&fixture, n_stages, n_microbatches, 10);
	fixture.request.limits = fixture.limits;
	fixture.limits[n_stages - 1] = limit;
	if (!tap_ok(schedule_make(schedule_find(name, &err), &fixture.request, &plan, &err) == 0,
	            "%s makes a plan %s", name, err.text))
		return;
	for (int s = 0; s < n_stages; s++)
		tap_is_str(plan_letters(&plan, s, text), wanted[s],
		           "%s for %d microbatches, limit %d: stage %d", name, n_microbatches,
		           limit, s);
	tap_is_int((int64_t)plan.n_clamps, limit > 0, "%s says what a limit clamped", name);
	plan_fini(&plan);
}

static void check_known(void)
{
	static const char *const gpipe[] = {"FFFFBWBWBWBW", "FFFFBWBWBWBW"};
	static const char *const rounds[] = {"FFFBWBWBWFBW", "FFFBWBWBWFBW"};
	static const char *const one_f_one_b[] = {"FFFBWFBWBWBW", "FFBWFBWFBWBW", "FBWFBWFBWFBW"};
	static const char *const few[] = {"FFBWBW", "FFBWBW", "FBWFBW"};
	static const char *const hold[] = {"FFFFBFBWBWBWBWW", "FBFBFBFBFBWWWWW"};

	check_letters("gpipe", 2, 4, 0, gpipe);
	check_letters("gpipe", 2, 4, 3, rounds);
	check_letters("1f1b", 3, 4, 0, one_f_one_b);
	check_letters("1f1b", 3, 2, 0, few);
	check_letters("hold", 2, 5, 0, hold);
}

int main(void)
{
	for (const struct schedule_ops *const *ops = schedule_list(); *ops; ops++) {
		check_random(*ops);
		check_small(*ops);
	}
	check_known();
	return tap_done();
}
