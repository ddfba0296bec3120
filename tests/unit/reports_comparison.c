/* reports_comparison.c - runs written to a database and read back as a comparison. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/comparison.h"
#include "tests/folder.h"
#include "tests/tap.h"

enum { ITERATIONS = 8, WARMUP = 2, REPEATS = 3, MS_NS = 1000000, PATH_BYTES = 256, STAGES = 4 };

static void must(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	printf("Bail out! %s\n", err->text);
	exit(1);
}

/* A scenario on which a fault slows iterations 4 and 5 of link 1-2. */
static struct published published[] = {{(char *)"zb", INT64_C(250) * MS_NS}};
static struct event events[] = {{(char *)"1-2: 30 ms", 4, 5, published, 1}};
static struct fault faults[] = {{
	.kind = FAULT_DELAY,
	.start = {.kind = MOMENT_ITERATION, .value = 4},
	.end = {.kind = MOMENT_ITERATION, .value = 6},
	.from_stage = 1,
	.to_stage = 2,
	.delay_ns = INT64_C(30) * MS_NS,
}};

static struct scenario scenario_of(void)
{
	struct scenario scenario;

	scenario_init(&scenario);
	scenario.title = (char *)"A test";
	scenario.path = (char *)"test.lua";
	scenario.text_digest = (char *)"0123456789abcdef";
	scenario.topology.n_stages = STAGES;
	scenario.profile.name = (char *)"none";
	scenario.profile.source = (char *)"";
	scenario.n_microbatches = 2;
	scenario.n_iterations = ITERATIONS;
	scenario.events = events;
	scenario.n_events = 1;
	scenario.faults = faults;
	scenario.n_faults = 1;
	return scenario;
}

/* What one run is like. */
struct plan_of_run {
	const char *schedule;
	int repeat;
	int64_t healthy_ms, slow_ms;
	int n_done;
	const char *status;
	uint64_t fingerprint;
	const char *settings;
	int n_warmup; /* 0: as the others */
	bool is_control;
};

/* What a run in real time has more; its losses are 5 less its iteration. */
struct live_part {
	double loss_error; /* of iteration 3 */
	const char *facts;
};

static void put_iterations(struct record_sink *sink, const struct plan_of_run *plan,
                           const struct live_part *live)
{
	int64_t now_ns = 0;
	struct err err = {0};

	for (int i = 0; i < plan->n_done; i++) {
		int64_t ms = i == 4 || i == 5 ? plan->slow_ms : plan->healthy_ms;
		struct record_iteration row = {
			.iteration = i,
			.is_complete = true,
			.start_ns = now_ns,
			.duration_ns = ms * MS_NS,
			.compute_ns = INT64_C(50) * MS_NS * STAGES,
			.wait_ns = (ms - 50) * MS_NS * STAGES,
			.loss = live ? 5 - i + (i == 3 ? live->loss_error : 0) : NAN,
		};

		must(record_put_iteration(sink, &row, &err), &err);
		now_ns += row.duration_ns;
	}
}

static int64_t put(struct store *store, int64_t comparison, const struct plan_of_run *plan,
                   const struct live_part *live)
{
	struct scenario scenario = scenario_of();
	struct record_run row = {
		.scenario_title = scenario.title,
		.scenario_path = scenario.path,
		.scenario_digest = scenario.text_digest,
		.workload_fingerprint = plan->fingerprint,
		.schedule = plan->schedule,
		.mode = live ? "live" : "sim",
		.device = "virtual",
		.transport = "virtual",
		.injector = "virtual",
		.seed = 42,
		.repeat = plan->repeat,
		.is_control = plan->is_control,
		.n_stages = STAGES,
		.n_replicas = 1,
		.n_microbatches = 2,
		.samples_per_iteration = 16,
		.n_iterations = ITERATIONS,
		.n_warmup = plan->n_warmup ? plan->n_warmup : WARMUP,
		.speed = live ? 10 : 1,
		.host = "h",
		.version = "v",
		.settings_json = plan->settings ? plan->settings : "{\"delay\":\"30ms\"}",
	};
	struct record_sink *sink;
	struct err err = {0};
	int64_t run = 0;

	must(store_begin_run(store,
	                     &(struct store_new_run){comparison, &row, &scenario, false, false},
	                     &run, &sink, &err),
	     &err);
	put_iterations(sink, plan, live);
	if (live)
		must(store_put_facts(store, run, live->facts, &err), &err);
	must(store_end_run(store, run, plan->status, "", &err), &err);
	return run;
}

static int64_t put_run(struct store *store, int64_t comparison, const struct plan_of_run *plan)
{
	return put(store, comparison, plan, NULL);
}

static int64_t begin(struct store *store)
{
	struct scenario scenario = scenario_of();
	int64_t comparison = 0;
	struct err err = {0};

	must(store_begin_comparison(store, &scenario, &comparison, &err), &err);
	return comparison;
}

/* Iterations 4 and 5 of zb are ten times as long: totals tell of them, medians do not. */
static void test_steady(const struct paired *steady, const struct comparison_schedule *zb)
{
	tap_is_number(zb->repeat_p50_ms[1], 204, 1e-9, "a repeat's number is its median");
	tap_is_number(steady->ratio, cbrt(200.0 / 100 * 204 / 101 * 202 / 102), 1e-9,
	              "the steady speedup is exp of the mean log ratio of the pairs");
	tap_is_number(steady->least, 202.0 / 102, 1e-9, "its spread goes from the least pair");
	tap_is_number(steady->most, 204.0 / 101, 1e-9, "to the one with the most");
	tap_is_number(steady->low, exp(0.6931472 - 4.302653 * 0.0098523 / sqrt(3)), 1e-6,
	              "with the paired t's interval");
	tap_is_int(steady->pairs, REPEATS, "of so many pairs");
	tap_ok(paired_is_wide(steady), "which are few");
}

/* Interleaved repeats of two schedules; adaptra takes 800 + 10 r, zb about twice as long. */
static void test_repeats(struct store *store)
{
	static const int64_t zb_ms[REPEATS] = {200, 204, 202};
	int64_t comparison = begin(store);
	struct comparison loaded;
	struct err err = {0};
	const struct comparison_speedup *speedup;

	for (int r = 0; r < REPEATS; r++) {
		put_run(store, comparison,
		        &(struct plan_of_run){"zb", r, zb_ms[r], zb_ms[r], ITERATIONS, "done", 1,
		                              NULL, 0, false});
		put_run(store, comparison,
		        &(struct plan_of_run){"adaptra", r, 100 + r, 100 + r, ITERATIONS, "done", 1,
		                              NULL, 0, false});
	}
	if (!tap_is_int(comparison_load(store, 0, &loaded, &err), 0, "the last comparison loads"))
		return;
	tap_is_int(loaded.comparison, comparison, "it is the one made last");
	tap_is_int((int64_t)loaded.n_schedules, 2, "repeats of a schedule are one row");
	tap_is_int(loaded.schedules[0].n_repeats, REPEATS, "which counts them");
	tap_is_number(loaded.schedules[1].total_s, 8 * 0.101, 1e-9, "its total is their mean");
	speedup = comparison_speedup_of(&loaded, 1, 0);
	tap_is_number(speedup->ratio, 202.0 / 101, 1e-9, "a speedup is the ratio of mean totals");
	tap_is_int(speedup->pairs, REPEATS, "repeats are paired");
	/* log ratios 0.6931472, 0.7029995, 0.6832949: mean 0.6931472, sd 0.0098523, t(0.975, 2)
	 * = 4.302653 */
	tap_is_number(speedup->low, exp(0.6931472 - 4.302653 * 0.0098523 / sqrt(3)), 1e-6,
	              "the interval is the paired t's over log ratios");
	tap_is_number(speedup->low * comparison_speedup_of(&loaded, 0, 1)->high, 1, 1e-12,
	              "and inverts with the ratio");
	test_steady(&speedup->steady, &loaded.schedules[0]);
	comparison_fini(&loaded);
}

static void test_single(struct store *store)
{
	int64_t comparison = begin(store);
	struct comparison loaded;
	struct err err = {0};

	put_run(store, comparison,
	        &(struct plan_of_run){"zb", 0, 100, 240, ITERATIONS, "done", 1, NULL, 0, false});
	put_run(store, comparison,
	        &(struct plan_of_run){"1f1b", 0, 110, 200, 5, "interrupted", 1, NULL, 0, false});
	if (!tap_is_int(comparison_load(store, comparison, &loaded, &err), 0,
	                "a comparison loads by number"))
		return;
	tap_is_str(loaded.scenario_title, "A test", "with its scenario");
	tap_is_number(loaded.schedules[0].p50_ms, 100, 1e-9, "p50 leaves the warm-up out");
	tap_is_number(loaded.schedules[0].compute_ms + loaded.schedules[0].wait_ms +
	                      loaded.schedules[0].blocked_ms,
	              loaded.schedules[0].mean_ms, 1e-9, "the shares add up to the mean");
	tap_is_int((int64_t)loaded.n_events, 1, "the scenario's events are there");
	tap_is_str(loaded.events[0].links, "1-2", "with their links");
	tap_is_int(loaded.events[0].event, 0, "and their number in the scenario");
	tap_is_number(loaded.events[0].p50_ms[0], 240, 1e-9, "an event's p50 is of its iterations");
	tap_is_number(loaded.events[0].published_ms[0], 250, 1e-9,
	              "what was published is beside it");
	tap_ok(isnan(loaded.events[0].published_ms[1]), "where it was");
	tap_is_str(loaded.schedules[1].status, "interrupted", "who did not finish says so");
	tap_is_int(loaded.schedules[1].n_iterations, 5, "and how far it got");
	tap_ok(isnan(comparison_speedup_of(&loaded, 0, 1)->ratio), "and has no speedup");
	tap_is_int((int64_t)comparison_subject(&loaded), 0, "the subject is one that finished");
	tap_ok(!loaded.schedules[0].n_losses && !loaded.schedules[0].has_facts && !loaded.simulated,
	       "in virtual time there are no losses and no facts");
	comparison_fini(&loaded);
	tap_is_int(comparison_load(store, 999, &loaded, &err), -ENOENT,
	           "a number without runs is an error");
}

static void test_warmups(struct store *store)
{
	int64_t first = begin(store), second = begin(store), runs[2];
	struct comparison loaded = {0};
	struct err err = {0};

	runs[0] = put_run(store, first,
	                  &(struct plan_of_run){.schedule = "zb",
	                                        .healthy_ms = 100,
	                                        .slow_ms = 100,
	                                        .n_done = ITERATIONS,
	                                        .status = "done",
	                                        .n_warmup = 3});
	runs[1] = put_run(store, second,
	                  &(struct plan_of_run){"1f1b", 0, 110, 110, ITERATIONS, "done", 0, NULL, 0,
	                                        false});
	must(comparison_load_runs(store, runs, 2, false, &loaded, &err), &err);
	tap_is_number(loaded.speedups[0].ratio, 1.1, 1e-9,
	              "runs with different warm-ups have a ratio of totals");
	tap_ok(isnan(loaded.speedups[0].steady.ratio),
	       "but none of their steady iterations, which are not the same");
	comparison_fini(&loaded);
}

static void test_by_hand(struct store *store)
{
	int64_t first = begin(store), second = begin(store), runs[3];
	struct comparison loaded = {0};
	struct err err = {0};

	runs[0] = put_run(store, first,
	                  &(struct plan_of_run){"zb", 0, 100, 100, ITERATIONS, "done", 7, NULL, 0,
	                                        false});
	runs[1] = put_run(store, second,
	                  &(struct plan_of_run){"zb", 0, 110, 110, ITERATIONS, "done", 7, NULL, 0,
	                                        false});
	runs[2] = put_run(store, second,
	                  &(struct plan_of_run){"zb", 1, 110, 110, ITERATIONS, "done", 8,
	                                        "{\"delay\":\"60ms\"}", 0, false});
	if (!tap_is_int(comparison_load_runs(store, runs, 2, false, &loaded, &err), 0,
	                "runs of one workload are compared"))
		return;
	tap_is_int((int64_t)loaded.n_schedules, 2, "one schedule of two comparisons is two rows");
	tap_contains(loaded.schedules[0].name, "zb #", "told apart by their runs' numbers");
	tap_ok(loaded.schedules[0].run == runs[0] && loaded.schedules[1].run == runs[1],
	       "which they know");
	tap_is_int(loaded.comparison, 0, "runs put together by hand are no stored comparison");
	comparison_fini(&loaded);
	tap_is_int(comparison_load_runs(store, runs, 3, false, &loaded, &err), -EINVAL,
	           "runs of different workloads are not");
	tap_contains(err.text, "settings: delay 30ms and 60ms",
	             "and the setting that differs is named");
	tap_is_int(comparison_load_runs(store, runs, 3, true, &loaded, &err), 0, "unless by force");
	tap_contains(loaded.warning, "delay 30ms and 60ms", "which the report then says");
	comparison_fini(&loaded);
	runs[1] = runs[0];
	tap_is_int(comparison_load_runs(store, runs, 2, false, &loaded, &err), -EINVAL,
	           "a run named twice is refused");
	runs[1] = 12345;
	tap_is_int(comparison_load_runs(store, runs, 2, false, &loaded, &err), -ENOENT,
	           "a run that is not there is named");
	tap_contains(err.text, "no run 12345", "by its number");
}

/* Two repeats of two schedules in real time beside one of each in virtual time. */
static void put_live(struct store *store, int64_t comparison, double loss_error)
{
	static const char *const facts[REPEATS] = {
		"{\"workers\":2,\"speed\":10,\"ops\":100,\"late_mean_us\":2,\"late_max_us\":90,"
		"\"foreign_cores\":0.5,\"between_s\":1}",
		"{\"workers\":2,\"speed\":10,\"ops\":300,\"late_mean_us\":4,\"late_max_us\":70,"
		"\"foreign_cores\":0.1,\"between_s\":2}",
	};

	for (int r = 0; r < 2; r++) {
		put(store, comparison,
		    &(struct plan_of_run){"zb", r, 100, 240, ITERATIONS, "done", 1, NULL, 0, false},
		    &(struct live_part){0, facts[r]});
		put(store, comparison,
		    &(struct plan_of_run){"1f1b", r, 110, 200, ITERATIONS, "done", 1, NULL, 0,
		                          false},
		    &(struct live_part){r == 1 ? loss_error : 0,
		                        r == 1 ? facts[r] : "{\"ops\":\"x\"}"});
	}
}

static void test_live(struct store *store)
{
	int64_t simulated = begin(store), comparison = begin(store);
	struct strbuf sentence = {0};
	struct comparison loaded;
	struct err err = {0};

	must(store_put_simulated(store, comparison, simulated, &err), &err);
	put_live(store, comparison, 0);
	if (!tap_is_int(comparison_load(store, comparison, &loaded, &err), 0,
	                "a live comparison loads"))
		return;
	tap_is_int(loaded.simulated, simulated, "it knows what was simulated beside it");
	tap_is_number(loaded.speed, 10, 0, "and its speed");
	tap_is_int((int64_t)loaded.schedules[1].n_losses, 2, "every run has losses");
	tap_is_number(loaded.schedules[1].losses[1].loss[3], 2, 0, "as they were stored");
	tap_ok(comparison_losses_agree(&loaded, &sentence), "equal losses agree");
	tap_is_number(loaded.schedules[0].facts.n_ops, 400, 0, "counts of repeats are added");
	tap_is_number(loaded.schedules[0].facts.late_mean_us, 3, 0, "means are averaged");
	tap_is_number(loaded.schedules[0].facts.late_max_us, 90, 0, "the largest counts");
	tap_is_number(loaded.schedules[1].facts.n_ops, 300, 0, "what is no number does not");
	tap_is_number(loaded.schedules[0].facts.op_cpu_us, NAN, 0,
	              "what is not there is not known");
	comparison_fini(&loaded);
	comparison = begin(store);
	put_live(store, comparison, 0x1p-50);
	must(comparison_load(store, comparison, &loaded, &err), &err);
	tap_ok(!comparison_losses_agree(&loaded, &sentence), "one bit in one repeat is seen");
	tap_contains(strbuf_text(&sentence), "iteration 3 differ: zb (repeat 2) gives 2 and 1f1b",
	             "and named");
	tap_ok(!loaded.simulated && loaded.schedules[0].has_facts, "nothing was simulated here");
	strbuf_fini(&sentence);
	comparison_fini(&loaded);
}

static int64_t put_control(struct store *store, int64_t comparison, int repeat, int64_t ms,
                           const struct live_part *live)
{
	return put(store, comparison,
	           &(struct plan_of_run){"zb", repeat, ms, ms, ITERATIONS, "done", 1, NULL, 0,
	                                 true},
	           live);
}

/* zb takes 200 + 4 r, beside itself 2 more; in front of 1f1b, so that it has to be taken out. */
static int64_t put_controlled(struct store *store, int64_t comparison)
{
	int64_t control = 0;

	for (int r = 0; r < REPEATS; r++) {
		int64_t ms = 200 + 4 * r;
		struct plan_of_run run = {"zb", r, ms, ms, ITERATIONS, "done", 1, NULL, 0, false};

		put_run(store, comparison, &run);
		control = put_control(store, comparison, r, ms + 2, NULL);
		run.schedule = "1f1b";
		put_run(store, comparison, &run);
	}
	return control;
}

static void test_control(struct store *store)
{
	int64_t comparison = begin(store), control = put_controlled(store, comparison);
	struct comparison loaded;
	struct err err = {0};

	must(comparison_load(store, comparison, &loaded, &err), &err);
	tap_is_int((int64_t)loaded.n_schedules, 2, "a control is no schedule");
	tap_is_str(loaded.schedules[1].name, "1f1b", "what follows moves up");
	tap_is_str(loaded.control.schedule, "zb", "it is of one");
	tap_is_int(loaded.control.steady.pairs, REPEATS, "with which it is paired");
	tap_is_number(loaded.control.steady.ratio, cbrt(200.0 / 202 * 204 / 206 * 208 / 210), 1e-9,
	              "and over which it has a speedup");
	tap_is_number(loaded.control.total.ratio, loaded.control.steady.ratio, 1e-9,
	              "by total as well");
	comparison_fini(&loaded);
	must(comparison_load_runs(store, &control, 1, false, &loaded, &err), &err);
	tap_ok(loaded.n_schedules == 1 && !loaded.control.schedule,
	       "a control that is named by hand is a schedule like any other");
	comparison_fini(&loaded);
}

/* What a control computes has to be the same, too. */
static void test_control_losses(struct store *store)
{
	struct plan_of_run zb = {"zb", 0, 100, 240, ITERATIONS, "done", 1, NULL, 0, false};
	struct strbuf sentence = {0};
	struct comparison loaded;
	struct err err = {0};
	int64_t comparison = begin(store);

	put(store, comparison, &zb, &(struct live_part){0, "{}"});
	put_control(store, comparison, 0, 100, &(struct live_part){0x1p-50, "{}"});
	must(comparison_load(store, comparison, &loaded, &err), &err);
	tap_ok(!comparison_losses_agree(&loaded, &sentence),
	       "a control whose losses differ is found");
	strbuf_fini(&sentence);
	comparison_fini(&loaded);
}

int main(void)
{
	char path[PATH_BYTES];
	struct store *store;
	struct err err = {0};

	snprintf(path, sizeof(path), "%s", folder_path("results.db"));
	must(store_open(path, STORE_WRITE, &store, &err), &err);
	test_single(store);
	test_by_hand(store);
	test_warmups(store);
	test_live(store);
	test_control(store);
	test_control_losses(store);
	test_repeats(store);
	must(store_close(store, &err), &err);
	unlink(path);
	tap_ok(rmdir(folder_open()) == 0, "closing the store leaves nothing but the database");
	return tap_done();
}
