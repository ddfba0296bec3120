/* reports_nightly.c - what histories in a database say of their last night. */
#include "reports/nightly.h"

#include <math.h>

#include "reports/report_nightly.h"
#include "tests/unit/store_fixture.h"

enum { NIGHTS = 12, SPIKE = 7, SLOW = 3 };

static const uint64_t ENVIRONMENT = 99;

static char path[PATH_BYTES];

/* The numbers of zb on one night. */
static int64_t put(struct store *store, const double numbers[NIGHTLY_METRICS], bool is_fresh)
{
	struct scenario scenario = fixture_scenario();
	struct night_value values[NIGHTLY_METRICS];
	int64_t comparison = 0;

	must(!store_begin_comparison(store, &scenario, &comparison, NULL), "cannot begin");
	for (int m = 0; m < NIGHTLY_METRICS; m++)
		values[m] = (struct night_value){.comparison = comparison,
		                                 .schedule = (char *)"zb",
		                                 .metric = (char *)nightly_metric_name(m),
		                                 .is_fresh = is_fresh,
		                                 .value = numbers[m]};
	must(!store_put_night(store, ENVIRONMENT, values, NIGHTLY_METRICS, NULL), "cannot put");
	return comparison;
}

/* p50 and total, then computation, waiting, blocking, transfer, width of the control. */
static const double usual[] = {100, 10, 50, 40, 10, 5, 0.03},
		    slow[] = {110, 10.1, 50, 47, 13, 9, 0.05},
		    spike[] = {200, 20, 50, 140, 10, 50, 0.03};

static struct nightly_verdict judge(struct store *store, enum nightly_metric metric,
                                    struct nightly_history *history)
{
	struct nightly_verdict verdict = {0};
	struct err err = {0};

	nightly_fini(history);
	must(!nightly_load(store, ENVIRONMENT, history, &err), err.text);
	must(!nightly_judge(history, 0, metric, &verdict, &err), err.text);
	return verdict;
}

static void is_state(struct store *store, struct nightly_history *history, enum nightly_state want,
                     const char *name)
{
	struct nightly_verdict verdict = judge(store, NIGHTLY_P50_MS, history);

	tap_is_str(nightly_state_name(verdict.state), nightly_state_name(want), "%s", name);
	nightly_verdict_fini(&verdict);
}

static void test_quiet(struct store *store, struct nightly_history *history)
{
	for (int i = 0; i < NIGHTS; i++) {
		put(store, i == SPIKE ? spike : usual, false);
		if (i == 4)
			is_state(store, history, NIGHTLY_SHORT, "five nights are too few");
	}
	is_state(store, history, NIGHTLY_STEADY, "twelve equal ones are steady, but for a spike");
	tap_is_number(history->settings.least_ratio, 0.03, 1e-12,
	              "the width of the controls is what matters where it is above 2 %%");
}

static void test_slow(struct store *store, struct nightly_history *history)
{
	struct nightly_verdict verdict;
	struct strbuf text = {0};
	struct nightly_report report;

	for (int i = 0; i < SLOW; i++)
		put(store, slow, false);
	verdict = judge(store, NIGHTLY_TOTAL_S, history);
	tap_is_int(verdict.state, NIGHTLY_STEADY, "1 %% more in total is less than the width");
	nightly_verdict_fini(&verdict);
	verdict = judge(store, NIGHTLY_P50_MS, history);
	tap_is_int(verdict.state, NIGHTLY_SUSPECT, "10 %% more is suspect, until a fresh run");
	tap_is_int((int64_t)verdict.changes[0].night, NIGHTS, "from the first slow night on");
	tap_is_number(verdict.more[NIGHTLY_COMPUTE_MS], 0, 1e-9, "computation is not to blame");
	tap_is_number(verdict.more[NIGHTLY_WAIT_MS], 7, 1e-9, "waiting is, the spike left out");
	tap_is_number(verdict.more[NIGHTLY_BLOCKED_MS], 3, 1e-9, "and blocking");
	tap_is_number(verdict.more[NIGHTLY_TRANSFER_MS], 4, 1e-9, "for messages took longer");
	report = (struct nightly_report){
		.title = "", .path = "", .history = history, .verdicts = &verdict, .n_verdicts = 1};
	nightly_explain(&report, &verdict, &text);
	tap_contains(strbuf_text(&text), "zb, p50_ms: from 100 to 110 (+10 %) with the night of ",
	             "a sentence says so");
	tap_contains(strbuf_text(&text),
	             "more: computation +0.000 ms, waiting +7.000 ms, blocking +3.000 ms, "
	             "transfer of a message +4.000 ms",
	             "with what became more");
	strbuf_fini(&text);
	nightly_verdict_fini(&verdict);
}

static void test_fresh(struct store *store, struct nightly_history *history)
{
	struct night_alarm alarm = {.schedule = (char *)"zb", .metric = (char *)"p50_ms", .p = 0};

	put(store, usual, true);
	is_state(store, history, NIGHTLY_DISMISSED, "a fresh run as fast as ever dismisses it");
	tap_is_int((int64_t)history->n_nights, NIGHTS + SLOW, "and is no night");
	alarm.comparison = put(store, slow, false);
	is_state(store, history, NIGHTLY_SUSPECT, "of the next night it says nothing");
	put(store, slow, true);
	is_state(store, history, NIGHTLY_REGRESSION, "one as slow confirms it");
	must(!store_put_alarm(store, ENVIRONMENT, &alarm, NULL), "cannot put an alarm");
	is_state(store, history, NIGHTLY_KNOWN, "which is announced once");
	for (int i = 0; i < SLOW; i++)
		put(store, usual, false);
	is_state(store, history, NIGHTLY_BETTER, "a step back is for the better");
	for (int i = 0; i < SLOW; i++)
		put(store, slow, false);
	is_state(store, history, NIGHTLY_SUSPECT, "the old alarm is not about the next step");
}

static void test_environment(void)
{
	struct stored_run run = {.mode = (char *)"sim", .host = (char *)"a", .speed = 1};
	struct stored_run other = run;

	other.host = (char *)"b";
	tap_ok(nightly_environment(&run) == nightly_environment(&other),
	       "virtual time is the same on every machine");
	run.mode = other.mode = (char *)"live";
	tap_ok(nightly_environment(&run) != nightly_environment(&other), "real time is not");
	other = run;
	other.speed = 2;
	tap_ok(nightly_environment(&run) != nightly_environment(&other), "nor is another speed");
	other = run;
	other.settings_json = (char *)"{\"seed\":1,\"lab\":\"netns\"}";
	tap_ok(nightly_environment(&run) != nightly_environment(&other), "nor are hosts of a lab");
	other.settings_json = (char *)"{\"interfaces\":\"eth8\"}";
	tap_ok(nightly_environment(&run) != nightly_environment(&other), "or named interfaces");
	other.settings_json = (char *)"{\"seed\":1,\"lab\":\"none\"}";
	tap_ok(nightly_environment(&run) == nightly_environment(&other), "no lab is no lab");
	other = run;
	other.workload_fingerprint = 1;
	tap_ok(nightly_environment(&run) != nightly_environment(&other), "or workload");
	other = run;
	other.version = (char *)"2";
	tap_ok(nightly_environment(&run) == nightly_environment(&other),
	       "another version is what nights are for");
}

static void differs(const char *before, const char *after, const char *want, const char *name)
{
	char none[] = "";
	struct stored_run a = {.version = none,
	                       .mode = none,
	                       .host = none,
	                       .device = none,
	                       .transport = none,
	                       .injector = none,
	                       .settings_json = (char *)(size_t)before};
	struct stored_run b = a;
	struct strbuf text = {0};

	b.settings_json = (char *)(size_t)after;
	must(!nightly_add_differences(&a, &b, &text, NULL), "no differences can be told");
	tap_is_str(strbuf_text(&text), want, "%s", name);
	strbuf_fini(&text);
}

static void test_places(void)
{
	differs("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"lab\":\"netns\"}",
	        "{\"a\":2,\"b\":2,\"c\":2,\"d\":2,\"e\":2}",
	        "lab netns and none, a 1 and 2, b 1 and 2, c 1 and 2, d 1 and 2 and 1 more",
	        "a lab is named before all settings");
	differs("{\"interfaces\":\"eth8\",\"seed\":1}", "{\"interfaces\":\"eth8,eth9\",\"seed\":2}",
	        "interfaces eth8 and eth8,eth9, seed 1 and 2", "so are interfaces");
	differs("{\"lab\":\"auto\"}", "{\"lab\":\"none\"}", "", "no lab is no lab");
	differs("{}", "{\"lab\":\"netns\"}", "lab none and netns", "also where nothing was said");
	differs("", "{\"lab\":\"netns\"}", "lab none and netns", "or nothing can be read");
}

int main(void)
{
	struct nightly_history history = {0};
	struct store *store;

	fixture_make_folder();
	fixture_path("a.db", path);
	store = fixture_open(path, STORE_WRITE);
	test_quiet(store, &history);
	test_slow(store, &history);
	test_fresh(store, &history);
	test_environment();
	test_places();
	nightly_fini(&history);
	must(!store_close(store, NULL), "cannot close");
	fixture_remove_folder();
	return tap_done();
}
