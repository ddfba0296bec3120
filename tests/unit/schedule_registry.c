/* schedule_registry.c - the contract of every schedule: its row, its plan. */
#include <errno.h>

#include "tests/unit/schedule_fixture.h"

static void check_rows(void)
{
	const struct schedule_ops *const *list = schedule_list();
	int n = 0;

	for (; list[n]; n++) {
		const struct schedule_ops *ops = list[n];

		if (!tap_ok(ops->name && ops->name[0], "row %d has a name", n))
			continue;
		tap_ok(ops->summary && ops->summary[0], "%s has a summary", ops->name);
		tap_ok(ops->make != NULL, "%s makes plans", ops->name);
		tap_ok(ops->plane == PLANE_STREAM || !ops->is_batched,
		       "%s batches on the stream plane only", ops->name);
		tap_ok(schedule_find(ops->name, NULL) == ops, "%s is found by its name", ops->name);
		for (int i = 0; i < n; i++)
			tap_ok(strcmp(list[i]->name, ops->name) != 0, "%s is not also row %d",
			       ops->name, i);
	}
}

static void check_find(void)
{
	struct err err = {0};

	tap_is_str(schedule_find("csv:some file.csv", &err)->name, "csv", "csv:FILE is csv");
	tap_ok(!schedule_find("csv:", &err), "csv: without a file is refused");
	tap_contains(err.text, "csv:FILE", "the sentence says how it is written");
	tap_ok(!schedule_find("adaptra-serch", &err), "an unknown name is refused");
	tap_contains(err.text, "did you mean 'adaptra-search'?", "the nearest name is offered");
	tap_contains(err.text, "gpipe, 1f1b, zb, zb-cpu", "and all there are");
	tap_is_int(err.code, -ENOENT, "the code says that there is none");
	tap_ok(!schedule_find("something else altogether", &err), "a far name is refused");
	tap_contains(err.text, "no schedule 'something else altogether'; there are gpipe",
	             "without a guess");
	tap_ok(!schedule_find("", &err), "no name is refused");
}

/* Row by row, as DESIGN.md section 5 has it. */
static void check_planes(void)
{
	static const struct {
		const char *name;
		enum plane_kind plane;
		bool is_batched;
		enum schedule_adaptation adaptation;
	} wanted[] = {
		{"gpipe", PLANE_STREAM, true, SCHEDULE_FIXED},
		{"1f1b", PLANE_STREAM, true, SCHEDULE_FIXED},
		{"zb", PLANE_STREAM, false, SCHEDULE_FIXED},
		{"zb-cpu", PLANE_DELEGATE, false, SCHEDULE_FIXED},
		{"adaptra", PLANE_STREAM, false, SCHEDULE_REPLANS},
		{"adaptra-cpu", PLANE_STREAM, false, SCHEDULE_MOVES},
		{"adaptra-search", PLANE_STREAM, false, SCHEDULE_REPLANS},
		{"hold", PLANE_STREAM, false, SCHEDULE_REPLANS},
		{"csv", PLANE_STREAM, false, SCHEDULE_FIXED},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct schedule_ops *ops = schedule_find(wanted[i].name, NULL);
		struct plane_rules rules = schedule_plane_rules(ops, PLANE_STREAM);

		tap_is_int(ops->plane, wanted[i].plane, "%s starts on its plane", ops->name);
		tap_is_int(ops->adaptation, wanted[i].adaptation, "%s adapts as it should",
		           ops->name);
		tap_is_int(rules.kind, PLANE_STREAM, "%s has stream rules", ops->name);
		tap_is_int(rules.is_batched, wanted[i].is_batched, "%s is batched or not",
		           ops->name);
		rules = schedule_plane_rules(ops, PLANE_DELEGATE);
		tap_is_int(rules.kind, PLANE_DELEGATE, "%s has delegate rules", ops->name);
	}
}

/* What no schedule may accept; spoil() makes a good request bad. */
struct bad_request {
	const char *name;
	void (*spoil)(struct fixture *fixture);
};

static void spoil_microbatches(struct fixture *fixture)
{
	fixture->request.n_microbatches = 0;
}

static void spoil_stages(struct fixture *fixture)
{
	fixture->request.times.n_stages = 0;
}

static void spoil_link(struct fixture *fixture)
{
	fixture->link_ns[1] = -5;
}

static void spoil_time(struct fixture *fixture)
{
	fixture->op_ns[OP_W][2] = INT64_MAX / 4;
}

static void spoil_limit(struct fixture *fixture)
{
	fixture->request.limits = fixture->limits;
	fixture->limits[2] = -1;
}

static const struct bad_request bad_requests[] = {
	{"no microbatch", spoil_microbatches}, {"no stage", spoil_stages},
	{"a negative delay", spoil_link},      {"a time that overflows", spoil_time},
	{"a negative limit", spoil_limit},
};

static void check_bad_requests(const struct plan *order)
{
	for (const struct schedule_ops *const *ops = schedule_list(); *ops; ops++) {
		for (size_t i = 0; i < sizeof(bad_requests) / sizeof(bad_requests[0]); i++) {
			struct plan plan = {.n_stages = 77};
			struct fixture fixture;
			struct err err = {0};

			fixture_init(&fixture, 3, 2, 10);
			fixture.request.order = order;
			bad_requests[i].spoil(&fixture);
			tap_is_int(schedule_make(*ops, &fixture.request, &plan, &err), -EINVAL,
			           "%s refuses %s", (*ops)->name, bad_requests[i].name);
			tap_ok(err.text[0] != '\0' && plan.n_stages == 77,
			       "%s says why and leaves the plan alone", (*ops)->name);
		}
	}
}

static void check_bad(void)
{
	static const char *const letters[] = {"FFBWBW", "FFBWBW", "FBFBWW"};
	struct fixture fixture;
	struct plan order, plan;

	fixture_init(&fixture, 3, 2, 10);
	if (!fixture_plan(&fixture, letters, &order))
		return;
	check_bad_requests(&order);
	fixture.request.order = &order;
	for (const struct schedule_ops *const *ops = schedule_list(); *ops; ops++)
		if (tap_is_int(schedule_make(*ops, &fixture.request, &plan, NULL), 0,
		               "%s takes the same request when it is good", (*ops)->name))
			plan_fini(&plan);
	plan_fini(&order);
}

static void check_csv(void)
{
	static const char *const letters[] = {"FFBWBW", "FBFBWW"};
	const struct schedule_ops *csv = schedule_find("csv", NULL);
	struct fixture fixture;
	struct err err = {0};
	struct plan order, plan;

	fixture_init(&fixture, 2, 2, 10);
	if (!fixture_plan(&fixture, letters, &order))
		return;
	tap_is_int(schedule_make(csv, &fixture.request, &plan, &err), -EINVAL,
	           "csv without an order is refused");
	fixture.request.order = &order;
	fixture.link_ns[0] = 5;
	if (tap_is_int(schedule_make(csv, &fixture.request, &plan, &err), 0,
	               "csv takes the order")) {
		char text[16];

		tap_is_str(plan_letters(&plan, 1, text), letters[1], "as it is");
		tap_ok(plan.makespan_ns > order.makespan_ns, "and times it anew");
		plan_fini(&plan);
	}
	fixture.request.n_microbatches = 3;
	tap_is_int(schedule_make(csv, &fixture.request, &plan, &err), -EINVAL,
	           "an order of another size is refused");
	tap_contains(err.text, "for 2 stages and 2 microbatches, the scenario has 2 and 3",
	             "the sentence gives both sizes");
	fixture.request.n_microbatches = 2;
	fixture.request.limits = fixture.limits;
	fixture.limits[1] = 1;
	tap_is_int(schedule_make(csv, &fixture.request, &plan, &err), -EINVAL,
	           "an order above the limit is refused");
	tap_contains(err.text, "activation limit is 1", "the sentence says so");
	plan_fini(&order);
}

int main(void)
{
	check_rows();
	check_find();
	check_planes();
	check_bad();
	check_csv();
	return tap_done();
}
