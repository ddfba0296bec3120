/* reports_history_page.c - the page of histories: a made-up history with a regression, an
 * improvement, a lone spike and another environment. */
#include "reports/history_page.h"

#include <math.h>
#include <time.h>

#include "engine/base/rng.h"
#include "tests/markup_check.h"
#include "tests/unit/store_fixture.h"

enum {
	NIGHTS = 60,
	SPIKE = 12,
	WORSE = 25,
	BETTER = 45,
	YEAR = 365,
	SCENARIOS = 3,
	SCHEDULES = 3,
	MOST_BYTES = 5000000,
	CREATED_BYTES = 32,
};

static const char *const schedules[SCHEDULES] = {"1f1b", "zb", "adaptra"};

static char path[PATH_BYTES];

/* A night of a made-up machine. */
struct night {
	uint64_t environment;
	const char *title;
	const char *version;
	const char *settings;
	const char *transport;
	int number;
	int n_schedules;
};

/* What becomes slower waits longer; the last schedule alone does. */
static void fill(const struct night *night, int schedule, double out[NIGHTLY_METRICS])
{
	uint64_t bits = rng_mix((uint64_t)night->number, (uint64_t)schedule);
	double usual = 300 + 100 * schedule, more = 0;
	double noise = 1 + 0.004 * (rng_uniform(bits) - 0.5);

	if (schedule == 1 && night->number >= WORSE && night->number < BETTER)
		more = 0.06 * usual;
	if (schedule == 1 && night->number == SPIKE)
		more = 0.8 * usual;
	out[NIGHTLY_P50_MS] = (usual + more) * noise;
	out[NIGHTLY_TOTAL_S] = (usual + more) * noise / 10;
	out[NIGHTLY_COMPUTE_MS] = usual * 0.6 * noise;
	out[NIGHTLY_WAIT_MS] = (usual * 0.4 + more) * noise;
	out[NIGHTLY_BLOCKED_MS] = schedule == 2 ? 0 : usual * 0.01 * noise;
	out[NIGHTLY_TRANSFER_MS] = (5 + more / 10) * noise;
	out[NIGHTLY_CONTROL] = schedule == 0 ? 0.011 * noise : NAN;
}

/* The comparison and its runs, so that there is something to find differences in. */
static int64_t begin(struct store *store, const struct night *night)
{
	struct scenario scenario = fixture_scenario();
	struct record_run row = fixture_run();
	struct record_sink *sink;
	int64_t comparison = 0, run;

	scenario.title = (char *)(size_t)night->title;
	row.version = night->version;
	row.settings_json = night->settings;
	row.transport = night->transport;
	row.is_control = false;
	must(!store_begin_comparison(store, &scenario, &comparison, NULL), "cannot begin");
	for (int s = 0; s < night->n_schedules; s++) {
		const struct store_new_run new_run = {comparison, &row, &scenario, false, false};

		row.schedule = schedules[s];
		must(!store_begin_run(store, &new_run, &run, &sink, NULL), "cannot begin a run");
		must(!store_end_run(store, run, "done", "", NULL), "cannot end a run");
	}
	return comparison;
}

static void put(struct store *store, const struct night *night)
{
	struct night_value values[SCHEDULES * NIGHTLY_METRICS];
	int64_t comparison = begin(store, night);
	size_t n = 0;

	for (int s = 0; s < night->n_schedules; s++) {
		double numbers[NIGHTLY_METRICS];

		fill(night, s, numbers);
		for (int m = 0; m < NIGHTLY_METRICS; m++)
			values[n++] = (struct night_value){
				.comparison = comparison,
				.schedule = (char *)(size_t)schedules[s],
				.metric = (char *)(size_t)nightly_metric_name(m),
				.value = numbers[m],
			};
	}
	must(!store_put_night(store, night->environment, values, n, NULL), "cannot put a night");
}

/* One night a day; the store takes the moment of storing for it. */
static void set_days(void)
{
	char out[CELL_BYTES];

	(void)fixture_query(path,
	                    "UPDATE comparison SET created = "
	                    "date('2026-01-01', '+' || (comparison - 1) || ' days') || "
	                    "'T02:30:00Z'",
	                    out);
}

static void make_nights(struct store *store)
{
	struct night night = {.environment = 7,
	                      .title = "One slow link",
	                      .version = "1.0",
	                      .settings = "{\"lab\": \"netns\", \"delay\": \"30ms\"}",
	                      .transport = "loopback",
	                      .n_schedules = 2};

	for (int i = 0; i < 4; i++)
		put(store, &night);
	night.environment = 8;
	night.settings = "{\"delay\": \"30ms\"}";
	night.transport = "tcp";
	for (int i = 0; i < NIGHTS; i++) {
		night.number = i;
		night.version = i < WORSE ? "1.0" : "1.1";
		night.settings = i < BETTER ? "{\"delay\": \"30ms\"}" : "{\"delay\": \"20ms\"}";
		put(store, &night);
	}
}

/* What the command would say of the last night. */
struct judged {
	struct nightly_history history;
	struct nightly_verdict verdicts[SCHEDULES * NIGHTLY_JUDGED];
	struct nightly_report report;
};

static void judge(struct store *store, uint64_t environment, const char *title, struct judged *out)
{
	struct err err = {0};
	size_t n = 0;

	*out = (struct judged){0};
	must(!nightly_load(store, environment, &out->history, &err), err.text);
	for (size_t s = 0; s < out->history.n_schedules; s++)
		for (int m = 0; m < NIGHTLY_JUDGED; m++)
			must(!nightly_judge(&out->history, s, m, &out->verdicts[n++], &err),
			     err.text);
	out->report = (struct nightly_report){
		.title = title,
		.path = "slow.lua",
		.comparison = out->history.n_nights
	                              ? out->history.comparisons[out->history.n_nights - 1]
	                              : 0,
		.history = &out->history,
		.verdicts = out->verdicts,
		.n_verdicts = n,
	};
}

static void judged_fini(struct judged *judged)
{
	for (size_t i = 0; i < judged->report.n_verdicts; i++)
		nightly_verdict_fini(&judged->verdicts[i]);
	nightly_fini(&judged->history);
}

static struct strbuf page_of(struct store *store, const struct nightly_report *reports, size_t n)
{
	struct history_page page;
	struct strbuf out = {0};
	struct err err = {0};

	must(!history_page_read(&page, store, reports, n, &err), err.text);
	history_page_write(&page, &out);
	history_page_fini(&page);
	must(!out.is_failed, "out of memory");
	return out;
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void test_page(struct store *store)
{
	struct judged judged;
	struct strbuf out;
	const char *text;

	judge(store, 8, "One slow link", &judged);
	out = page_of(store, &judged.report, 1);
	text = strbuf_text(&out);
	tap_is_golden(text, "tests/golden/reports/history.html", "a page reads as it did");
	tap_is_str(markup_complaint(text), NULL, "and is well-formed");
	tap_contains(text, "<h1>Nothing became slower.</h1>", "it begins with the answer");
	tap_contains(text, "adaptra-bench 1.0 and 1.1", "a step stands beside the new version");
	tap_contains(text, "delay 30ms and 20ms", "another one beside the new setting");
	tap_contains(text,
	             "4 other nights (2026-01-01 to 2026-01-04) cannot be compared with "
	             "these; then and tonight: ",
	             "nights of another environment are told of");
	tap_contains(text, "<td class=\"n\">+24.09</td>",
	             "waiting is what became more, the lone spike left out");
	tap_contains(text, "transport loopback and tcp, lab netns and none, delay 30ms and 20ms.",
	             "with what was another there");
	tap_contains(text, ", a lone spike</title>", "a lone spike is called one");
	tap_is_int(count(text, "</svg>"), 2 * NIGHTLY_METRICS - 1,
	           "each metric of a schedule that has numbers has a picture");
	tap_ok(!strstr(text, "<script"), "there is no script");
	strbuf_fini(&out);
	judged_fini(&judged);
}

/* Titles come from scripts, versions and settings from databases. */
static void test_hostile(struct store *store)
{
	const struct night night = {.environment = 9,
	                            .title = "</title><script>alert(1)</script>",
	                            .version = "\"><b>",
	                            .settings = "not JSON",
	                            .transport = "&",
	                            .n_schedules = 1};
	struct judged judged;
	struct strbuf out;

	put(store, &night);
	judge(store, 9, night.title, &judged);
	out = page_of(store, &judged.report, 1);
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "a single hostile night is text");
	tap_ok(!strstr(strbuf_text(&out), "<script"), "and nothing but text");
	strbuf_fini(&out);
	judged_fini(&judged);
	judge(store, 1234, "Nothing", &judged);
	out = page_of(store, &judged.report, 1);
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "so is a history without a night");
	tap_contains(strbuf_text(&out), "There is no night yet.", "which says so");
	strbuf_fini(&out);
	judged_fini(&judged);
}

/* A year of three scenarios and three schedules. */
static void test_year(struct store *store)
{
	static const char *const titles[SCENARIOS] = {"a", "b", "c"};
	static struct judged judged[SCENARIOS];
	struct nightly_report reports[SCENARIOS];
	struct strbuf out;
	clock_t start;

	for (int i = 0; i < SCENARIOS * YEAR; i++) {
		const struct night night = {.environment = 100 + (uint64_t)(i % SCENARIOS),
		                            .title = titles[i % SCENARIOS],
		                            .version = i / SCENARIOS % 7 ? "1" : "2",
		                            .settings = "{}",
		                            .transport = "tcp",
		                            .number = i / SCENARIOS % NIGHTS,
		                            .n_schedules = SCHEDULES};

		put(store, &night);
	}
	start = clock();
	for (int i = 0; i < SCENARIOS; i++) {
		judge(store, 100 + (uint64_t)i, titles[i], &judged[i]);
		reports[i] = judged[i].report;
	}
	out = page_of(store, reports, SCENARIOS);
	tap_note("%zu bytes in %.2f s", out.length, (double)(clock() - start) / CLOCKS_PER_SEC);
	tap_is_str(markup_complaint(strbuf_text(&out)), NULL, "a year's page is well-formed");
	tap_ok(out.length < MOST_BYTES, "and stays below 5 MB: %zu bytes", out.length);
	strbuf_fini(&out);
	for (int i = 0; i < SCENARIOS; i++)
		judged_fini(&judged[i]);
}

int main(void)
{
	struct store *store;

	fixture_make_folder();
	fixture_path("a.db", path);
	store = fixture_open(path, STORE_WRITE);
	make_nights(store);
	must(!store_close(store, NULL), "cannot close");
	set_days();
	store = fixture_open(path, STORE_WRITE);
	test_page(store);
	test_hostile(store);
	test_year(store);
	must(!store_close(store, NULL), "cannot close");
	fixture_remove_folder();
	return tap_done();
}
