/* reports_page_read.c - which iterations of stored runs a page draws, and what they waited for. */
#include "reports/page.h"
#include "tests/page_sample.h"
#include "tests/unit/store_fixture.h"

enum { ITERATIONS = 10, FIRST_SLOW = 4, LAST_SLOW = 6, WARMUP = 1, PERIOD_NS = 1000000000 };

static struct fault faults[] = {
	{.kind = FAULT_DELAY, .event = 0, .from_stage = 2, .to_stage = 3, .delay_ns = 5},
};

static struct event events[] = {
	{.label = (char *)(size_t) "2-3: 5 ns", FIRST_SLOW, LAST_SLOW, NULL, 0},
};

static void put(struct record_sink *sink)
{
	const struct record_fault fault = {
		.asked_ns = (int64_t)FIRST_SLOW * PERIOD_NS,
		.applied_ns = (int64_t)FIRST_SLOW * PERIOD_NS,
		.cleared_ns = (int64_t)(LAST_SLOW + 1) * PERIOD_NS,
		.measured_ns = 6,
		.n_messages = 4,
	};
	struct err err = {0};

	for (int i = 0; i < ITERATIONS; i++) {
		struct record_op ops[24];
		const struct record_iteration iteration = fixture_iteration(i, ops);

		must(!record_put_iteration(sink, &iteration, &err), err.text);
	}
	must(!record_put_fault(sink, &fault, &err), err.text);
}

/* A comparison of two runs, one without ops; returns its number. */
static int64_t fill(struct store *store, bool has_events)
{
	static const char *const schedules[] = {"zb", "1f1b"};
	struct scenario scenario = fixture_scenario();
	struct err err = {0};
	int64_t comparison, number;

	scenario.faults = faults;
	scenario.n_faults = 1;
	scenario.events = events;
	scenario.n_events = has_events ? 1 : 0;
	must(!store_begin_comparison(store, &scenario, &comparison, &err), err.text);
	for (int i = 0; i < 2; i++) {
		struct record_run row = fixture_run();
		const struct store_new_run new_run = {.comparison = comparison,
		                                      .run = &row,
		                                      .scenario = &scenario,
		                                      .keeps_ops = i == 0};
		struct record_sink *sink;

		row.schedule = schedules[i];
		row.n_iterations = ITERATIONS;
		row.n_warmup = WARMUP;
		must(!store_begin_run(store, &new_run, &number, &sink, &err), err.text);
		put(sink);
		must(!store_end_run(store, number, "done", "", &err), err.text);
	}
	return comparison;
}

static void check_choice(struct store *store, int64_t number, const char *what)
{
	const struct report_extras extras = {0};
	struct comparison comparison;
	struct page page;
	struct err err = {0};
	struct strbuf out = {0};

	must(!comparison_load(store, number, &comparison, &err), err.text);
	tap_is_int(page_read(&page, store, &comparison, &extras, &err), 0, "%s: it is read %s",
	           what, err.text);
	tap_is_int(page.runs[0].chosen[PAGE_HEALTHY].iteration, WARMUP,
	           "%s: the first after warm-up is the healthy one", what);
	tap_is_int(page.runs[0].chosen[PAGE_FAULTY].iteration, (FIRST_SLOW + LAST_SLOW) / 2,
	           "%s: the middle one of the fault is the faulty one", what);
	tap_is_int((int64_t)page.runs[0].chosen[PAGE_FAULTY].n_ops, 24, "%s: with its ops", what);
	tap_ok(page.runs[1].chosen[PAGE_HEALTHY].n_ops == 0 && page.runs[1].source.n_faults == 1,
	       "%s: a run without ops has none, but its faults", what);
	page_write(&page, &out);
	tap_contains(strbuf_text(&out),
	             "adaptra-bench sim scenarios/x.lua --seed 1 --schedule zb "
	             "--schedule 1f1b</code>",
	             "%s: the page says how to make it again", what);
	strbuf_fini(&out);
	page_fini(&page);
	comparison_fini(&comparison);
}

static void test_transfer(void)
{
	struct page_iteration iteration = sample_iteration(2, 1, 3000);
	const struct stored_run run = {.n_stages = 2, .n_replicas = 1, .n_microbatches = 1};
	struct record_op *ops = iteration.ops;
	int64_t ns = -1;
	struct err err = {0};

	/* F0, F1, B1, W1, B0, W0, one ms each; F1 starts when its message is there. */
	ops[1].start_ns += 3000;
	tap_is_int(page_transfer(&iteration, &run, &ns, &err), 0, "it is computed %s", err.text);
	tap_is_int(ns, 3000 + 3000, "the time under way that a stage waited for counts");
	ops[2].message_request_ns = ops[2].message_arrive_ns = -1;
	ops[3].message_request_ns = ops[3].end_ns;
	ops[3].message_arrive_ns = ops[3].end_ns + 500;
	must(!page_transfer(&iteration, &run, &ns, &err), err.text);
	tap_is_int(ns, 3000, "no more than until the op starts");
	ops[4].start_ns += 2000;
	must(!page_transfer(&iteration, &run, &ns, &err), err.text);
	tap_is_int(ns, 3000 + 500, "where B and W are one, the message leaves after W");
	ops[0].message_arrive_ns = -1;
	must(!page_transfer(&iteration, &run, &ns, &err), err.text);
	tap_is_int(ns, 500, "a message that did not arrive has no time");
	ops[0].stage = 7;
	must(!page_transfer(&iteration, &run, &ns, &err), err.text);
	tap_is_int(ns, 500, "nor has an op of a stage that is not there");
	free(iteration.ops);
}

int main(void)
{
	char path[PATH_BYTES];
	struct store *store;
	struct err err = {0};

	fixture_make_folder();
	store = fixture_open(fixture_path("a.db", path), STORE_WRITE);
	check_choice(store, fill(store, true), "a fault by iteration");
	check_choice(store, fill(store, false), "a fault of no event");
	test_transfer();
	tap_ok(!store_close(store, &err), "the store closes %s", err.text);
	fixture_remove_folder();
	return tap_done();
}
