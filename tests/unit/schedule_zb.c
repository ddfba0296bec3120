/* schedule_zb.c - checks the zero-bubble heuristic against the theory and against recorded orders.
 */
#include "tests/unit/schedule_fixture.h"
#include "tests/unit/schedule_recorded.h"

static const int64_t MS = NS_PER_MS;

/* For equal times, a limit of 2 S and N >= 2 S nothing but the fill of the pipeline is lost. */
static void check_uniform(void)
{
	const struct schedule_ops *zb = schedule_find("zb", NULL);
	int n_wrong = 0, n = 0;

	for (int n_stages = 1; n_stages <= 12; n_stages++) {
		for (int n_microbatches = 2 * n_stages; n_microbatches <= 4 * n_stages;
		     n_microbatches++) {
			struct fixture fixture;
			struct plan plan;

			fixture_init(&fixture, n_stages, n_microbatches, 1000);
			if (schedule_make(zb, &fixture.request, &plan, NULL))
				continue;
			n++;
			n_wrong += plan.makespan_ns != 1000 * (3 * n_microbatches + n_stages - 1);
			for (int s = 0; s < n_stages; s++)
				n_wrong += plan_peak_activations(&plan, s) > 2 * n_stages;
			plan_fini(&plan);
		}
	}
	tap_is_int(n, 168, "zb makes plans for equal times");
	tap_is_int(n_wrong, 0, "each takes 3 N + S - 1 op times and keeps to 2 S activations");
}

static int64_t zb_makespan(struct fixture *fixture, int n_microbatches, int limit)
{
	struct plan plan;
	int64_t makespan_ns = -1;

	fixture->request.n_microbatches = n_microbatches;
	fixture->request.limits = limit > 0 ? fixture->limits : NULL;
	for (int s = 0; s < fixture->request.times.n_stages; s++)
		fixture->limits[s] = limit;
	if (schedule_make(schedule_find("zb", NULL), &fixture->request, &plan, NULL) == 0) {
		makespan_ns = plan.makespan_ns;
		plan_fini(&plan);
	}
	return makespan_ns;
}

static void check_limits(void)
{
	struct fixture fixture;

	fixture_init(&fixture, 4, 12, 10);
	tap_is_int(zb_makespan(&fixture, 12, 100), zb_makespan(&fixture, 12, 0),
	           "a limit above 2 S changes nothing");
	tap_is_int(zb_makespan(&fixture, 12, 8), zb_makespan(&fixture, 12, 0),
	           "a limit of 2 S is the default");
	tap_ok(zb_makespan(&fixture, 12, 3) > zb_makespan(&fixture, 12, 0),
	       "a tighter one costs time");
	/* One microbatch at a time: F and B through all stages, then stage 0's W. */
	tap_is_int(zb_makespan(&fixture, 12, 1), 12 * (4 * 20 + 10),
	           "with one activation microbatches go through one by one");
}

/* Makespan of the order recorded for so many stages, under the fixture's times. */
static int64_t recorded_makespan(const struct csv_table *orders, const struct fixture *fixture)
{
	const char *letters[FIXTURE_STAGES_MAX] = {0};
	int n_stages = fixture->request.times.n_stages;
	int64_t makespan_ns = -1;
	struct plan plan;

	for (size_t row = 0; row < csv_table_n_rows(orders); row++)
		if (recorded_number(orders, row, "stages") == n_stages)
			letters[recorded_number(orders, row, "stage")] =
				recorded_text(orders, row, "order");
	if (!letters[0] || plan_init(&plan, n_stages, (int)strlen(letters[0]) / OP_KINDS, NULL))
		return -1;
	if (plan_from_letters(&plan, letters, &fixture->request.times, NULL) == 0)
		makespan_ns = plan.makespan_ns;
	plan_fini(&plan);
	return makespan_ns;
}

/* Read a profile, one row a stage; returns the row after it. */
static size_t read_profile(const struct csv_table *profiles, size_t row, struct fixture *out)
{
	int64_t run_id = recorded_number(profiles, row, "run_id");
	int n_stages = 0;

	fixture_init(out, FIXTURE_STAGES_MAX, 1, 0);
	for (;
	     row < csv_table_n_rows(profiles) && recorded_number(profiles, row, "run_id") == run_id;
	     row++) {
		out->op_ns[OP_F][n_stages] = recorded_number(profiles, row, "F_ms") * MS;
		out->op_ns[OP_B][n_stages] = recorded_number(profiles, row, "B_ms") * MS;
		out->op_ns[OP_W][n_stages] = recorded_number(profiles, row, "W_ms") * MS;
		n_stages++;
	}
	out->request.times.n_stages = n_stages;
	return row;
}

static void check_profiles(void)
{
	struct csv_table *orders = recorded_open("zb_original_orders.csv");
	struct csv_table *profiles = recorded_open("profiles.csv");
	int n = 0, n_worse = 0, n_above = 0;
	size_t row = 0;

	while (orders && profiles && row < csv_table_n_rows(profiles)) {
		struct fixture fixture;
		int64_t recorded_ns, made_ns;

		row = read_profile(profiles, row, &fixture);
		recorded_ns = recorded_makespan(orders, &fixture);
		made_ns = zb_makespan(&fixture, fixture.request.times.n_stages == 4 ? 12 : 24, 0);
		n++;
		n_worse += made_ns > recorded_ns;
		n_above += made_ns < 0 || 100 * made_ns > 101 * recorded_ns;
	}
	tap_ok(n > 40, "zb is compared on %d measured profiles", n);
	tap_is_int(n_above, 0, "it is nowhere more than 1 %% above the recorded order");
	tap_is_int(n_worse, 0, "in fact nowhere above it at all");
	csv_table_free(orders);
	csv_table_free(profiles);
}

int main(void)
{
	check_uniform();
	check_limits();
	check_profiles();
	return tap_done();
}
