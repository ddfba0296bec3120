/* store_rows_fixture.h - a database with rows in every table. */
#ifndef TESTS_UNIT_STORE_ROWS_FIXTURE_H
#define TESTS_UNIT_STORE_ROWS_FIXTURE_H

#include "tests/unit/store_fixture.h"

static struct fault rows_faults[] = {
	{.kind = FAULT_DELAY, .from_stage = 2, .to_stage = 3, .delay_ns = 5},
	{.kind = FAULT_DOWN, .event = 1, .from_stage = 0, .to_stage = 0},
};

static struct published rows_published[] = {{.schedule = (char *)(size_t) "zb", .p50_ns = 77}};

static struct event rows_events[] = {
	{.label = (char *)(size_t) "2-3: 5 ns",
         .first_iteration = 1,
         .last_iteration = 2,
         .published = rows_published,
         .n_published = 1},
	{.label = (char *)(size_t) "an RNIC", .first_iteration = 1, .last_iteration = 2},
};

/* One run with everything that a run has. */
static inline void rows_put_run(struct store *store, int64_t comparison, int repeat,
                                int n_iterations)
{
	struct scenario scenario = fixture_scenario();
	struct record_run row = fixture_run();
	const struct record_fault fault = {
		.fault = 0, .applied_ns = 100, .cleared_ns = -1, .measured_ns = 4, .n_messages = 3};
	const struct record_decision decision = {.kind = DECISION_REPLAN,
	                                         .iteration = 1,
	                                         .link = 2,
	                                         .seen_ns = 9,
	                                         .since_iteration = -1,
	                                         .warmups = "4 3",
	                                         .clamped = "",
	                                         .reason = "it's slow"};
	struct record_sink *sink;
	int64_t run = 0;
	bool is_kept;

	scenario.faults = rows_faults;
	scenario.n_faults = sizeof(rows_faults) / sizeof(rows_faults[0]);
	scenario.events = rows_events;
	scenario.n_events = sizeof(rows_events) / sizeof(rows_events[0]);
	row.repeat = repeat;
	is_kept = !store_begin_run(store,
	                           &(struct store_new_run){comparison, &row, &scenario, true, true},
	                           &run, &sink, NULL);
	for (int i = 0; i < n_iterations && is_kept; i++) {
		struct record_op ops[24];
		struct record_iteration iteration = fixture_iteration(i, ops);

		is_kept = !record_put_iteration(sink, &iteration, NULL);
	}
	must(is_kept && !record_put_fault(sink, &fault, NULL) &&
	             !record_put_decision(sink, &decision, NULL) &&
	             !store_put_facts(store, run, "{\"foreign\": 1}", NULL) &&
	             !store_end_run(store, run, "done", "", NULL),
	     "cannot store a run");
}

/* What was found of a comparison, and one night of a history. */
static inline void rows_put_findings(struct store *store, int64_t comparison)
{
	const struct stored_check check = {(char *)(size_t) "a check", true, (char *)(size_t) ""};
	const struct stored_variant variant = {0, (char *)(size_t) "a variant",
	                                       (char *)(size_t) "zb", 1.5};
	const struct night_value value = {comparison,
	                                  (char *)(size_t) "zb",
	                                  (char *)(size_t) "p50_ms",
	                                  false,
	                                  2.5,
	                                  NULL,
	                                  NULL,
	                                  NULL};
	const struct night_alarm alarm = {
		comparison, (char *)(size_t) "zb", (char *)(size_t) "p50_ms", comparison, 1, 2,
		1e-6};

	must(!store_put_findings(store, comparison, &check, 1, &variant, 1, NULL) &&
	             !store_put_night(store, 7, &value, 1, NULL) &&
	             !store_put_alarm(store, 7, &alarm, NULL),
	     "cannot store findings");
}

/* Make a database at path: two comparisons of two runs each, and
 * a run alone. */
static inline void rows_make(const char *path, int n_iterations)
{
	struct store *store = fixture_open(path, STORE_WRITE);
	struct scenario scenario = fixture_scenario();

	for (int i = 0; i < 2; i++) {
		int64_t comparison = 0;

		must(!store_begin_comparison(store, &scenario, &comparison, NULL), "cannot begin");
		rows_put_run(store, comparison, 0, n_iterations);
		rows_put_run(store, comparison, 1, n_iterations);
		rows_put_findings(store, comparison);
	}
	must(!store_put_simulated(store, 2, 1, NULL), "cannot store a comparison");
	rows_put_run(store, 0, 3, n_iterations);
	must(!store_close(store, NULL), "cannot close");
}

#endif
