/* schedule_golden.c - the orders that the published systems used, made again.
 *
 * The strings are rows of schedules.csv; the tables are read from tests/data/pipemorph, whose
 * README says where they come from. */
#include "engine/validate/truth.h"
#include "tests/unit/schedule_fixture.h"
#include "tests/unit/schedule_recorded.h"

static const int64_t MS = NS_PER_MS;

/* One recorded run: consecutive rows of one run_id. */
struct recorded {
	struct fixture fixture;
	const char *schedule;
	const char *model;
	const char *letters[FIXTURE_STAGES_MAX];
	int64_t makespan_ms;
	bool has_one_delay;
};

/* Each of the links slow by delay_s. */
static void read_links(struct recorded *run, const char *links, const char *delay_s)
{
	char *end;
	int64_t delay_ms = (int64_t)(strtod(delay_s, &end) * 1000 + 0.5);
	bool is_slow[TRUTH_STAGES_MAX];

	run->has_one_delay = end > delay_s && *end == '\0' && !truth_links(links, is_slow, NULL);
	for (int link = 0; run->has_one_delay && link < TRUTH_STAGES_MAX; link++)
		if (is_slow[link])
			run->fixture.link_ns[link] = delay_ms * MS;
}

/* Read the run whose first row is row; returns the row after it. */
static size_t read_run(const struct csv_table *table, size_t row, struct recorded *out)
{
	int64_t run_id = recorded_number(table, row, "run_id");
	int n_stages = 0, n_microbatches;

	n_microbatches = (int)strlen(recorded_text(table, row, "order")) / OP_KINDS;
	fixture_init(&out->fixture, FIXTURE_STAGES_MAX, n_microbatches, 0);
	out->schedule = recorded_text(table, row, "schedule");
	out->model = recorded_text(table, row, "model");
	out->makespan_ms = recorded_number(table, row, "makespan_ms");
	read_links(out, recorded_text(table, row, "links"), recorded_text(table, row, "delay_s"));
	for (; row < csv_table_n_rows(table) && recorded_number(table, row, "run_id") == run_id;
	     row++) {
		out->letters[n_stages] = recorded_text(table, row, "order");
		out->fixture.op_ns[OP_F][n_stages] = recorded_number(table, row, "F_ms") * MS;
		out->fixture.op_ns[OP_B][n_stages] = recorded_number(table, row, "B_ms") * MS;
		out->fixture.op_ns[OP_W][n_stages] = recorded_number(table, row, "W_ms") * MS;
		n_stages++;
	}
	out->fixture.request.times.n_stages = n_stages;
	out->fixture.request.has_straggler = true;
	return row;
}

/* Is the plan the recorded order, op by op? */
static bool is_recorded(const struct plan *plan, const struct recorded *run)
{
	char text[256];

	if (OP_KINDS * plan->n_microbatches >= (int)sizeof(text))
		return false;
	for (int s = 0; s < plan->n_stages; s++)
		if (strcmp(plan_letters(plan, s, text), run->letters[s]) != 0)
			return false;
	return plan->makespan_ns == run->makespan_ms * MS;
}

static bool is_made_again(struct recorded *run, const char *schedule)
{
	struct fixture *fixture = &run->fixture;
	struct plan plan;
	bool is_same;

	fixture->request.times.link_ns = fixture->link_ns;
	fixture->request.healthy_link_ns = fixture->healthy_ns;
	for (int kind = OP_F; kind <= OP_W; kind++)
		fixture->request.times.op_ns[kind] = fixture->op_ns[kind];
	if (schedule_make(schedule_find(schedule, NULL), &fixture->request, &plan, NULL))
		return false;
	is_same = is_recorded(&plan, run);
	plan_fini(&plan);
	return is_same;
}

/* Rows that are no re-schedule hold the fault-free order that was used, whatever the delay of the
 * run was. */
static void check_recorded(void)
{
	struct csv_table *table = recorded_open("schedules.csv");
	int n_greedy = 0, n_greedy_same = 0, n_search = 0, n_search_same = 0;
	size_t row = 0;

	while (table && row < csv_table_n_rows(table)) {
		struct recorded run;

		row = read_run(table, row, &run);
		if (strcmp(run.schedule, "ZB-CPU-ReSchedule") != 0) {
			memset(run.fixture.link_ns, 0, sizeof(run.fixture.link_ns));
			n_greedy++;
			n_greedy_same += is_made_again(&run, "zb-cpu");
		} else if (run.has_one_delay && strncmp(run.model, "AE-", 3) != 0) {
			/* The A10 runs had another planner, and four runs several delays. */
			n_search++;
			n_search_same += is_made_again(&run, "adaptra-search");
		}
	}
	tap_is_int(n_greedy, 80, "80 runs recorded the greedy order for equal times");
	tap_is_int(n_greedy_same, n_greedy, "zb-cpu makes every one of them");
	tap_is_int(n_search, 31, "31 runs on H800 recorded a searched order");
	tap_is_int(n_search_same, n_search, "adaptra-search makes every one of them");
	csv_table_free(table);
}

static void check_zb_cpu(int n_stages, int n_microbatches, const char *const *wanted)
{
	struct fixture fixture;
	struct plan plan;
	char text[128];

	/* Times that are not equal: they must not matter. */
	fixture_init(&fixture, n_stages, n_microbatches, 10 * MS);
	for (int s = 0; s < n_stages; s++)
		fixture.op_ns[OP_B][s] = (7 + 5 * s) * MS;
	fixture.link_ns[0] = 30 * MS;
	if (!tap_ok(schedule_make(schedule_find("zb-cpu", NULL), &fixture.request, &plan, NULL) ==
	                    0,
	            "zb-cpu makes a plan for %d microbatches", n_microbatches))
		return;
	for (int s = 0; s < n_stages; s++) {
		tap_is_str(plan_letters(&plan, s, text), wanted[s],
		           "zb-cpu for %d microbatches is the recorded order on stage %d",
		           n_microbatches, s);
		tap_is_int(plan.warmups[s], 2 * (n_stages - s) - 1, "with its warm-ups");
	}
	plan_fini(&plan);
}

static void check_zb_cpu_strings(void)
{
	static const char *const small[] = {
		/* schedules.csv, run 3 */
		"FFFFFFFBFBFBFBFBFBWBWBWBWBWBWBWWWWWW", "FFFFFBFBFBFBFBFBFBFBWBWBWBWBWWWWWWWW",
		"FFFBFBFBFBFBFBFBFBFBFBWBWBWWWWWWWWWW", "FBFBFBFBFBFBFBFBFBFBFBFBWWWWWWWWWWWW"};
	static const char *const large[] = {
		/* schedules.csv, run 22 */
		"FFFFFFFFFFFFFFFBFBFBFBFBFBFBFBFBFBWBWBWBWBWBWBWBWBWBWBWBWBWBWBWWWWWWWWWW",
		"FFFFFFFFFFFFFBFBFBFBFBFBFBFBFBFBFBFBWBWBWBWBWBWBWBWBWBWBWBWBWWWWWWWWWWWW",
		"FFFFFFFFFFFBFBFBFBFBFBFBFBFBFBFBFBFBFBWBWBWBWBWBWBWBWBWBWBWWWWWWWWWWWWWW",
		"FFFFFFFFFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBWBWBWBWBWBWBWBWBWWWWWWWWWWWWWWWW",
		"FFFFFFFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBWBWBWBWBWBWBWWWWWWWWWWWWWWWWWW",
		"FFFFFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBWBWBWBWBWWWWWWWWWWWWWWWWWWWW",
		"FFFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBWBWBWWWWWWWWWWWWWWWWWWWWWW",
		"FBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBWWWWWWWWWWWWWWWWWWWWWWWW",
	};

	check_zb_cpu(4, 12, small);
	check_zb_cpu(8, 24, large);
}

int main(void)
{
	check_recorded();
	check_zb_cpu_strings();
	return tap_done();
}
