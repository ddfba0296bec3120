/* reports_json.c - comparisons as JSON: golden, and valid whatever is in them. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "tests/reports_live_sample.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

enum { RANDOM_COMPARISONS = 200, ANSWER_BYTES = 256 };

static const double latency_s[] = {1460, NAN, 1371};
static const struct report_variant variants[] = {{"delay model latency", latency_s}};

/* What SQLite's reader, which is not ours, finds at path in text, "" for NULL. */
static const char *ask(sqlite3 *db, const char *sql, const char *text, char *out)
{
	sqlite3_stmt *stmt;

	snprintf(out, ANSWER_BYTES, "error");
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
		return out;
	if (!sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC) &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		const char *answer = (const char *)sqlite3_column_text(stmt, 0);

		snprintf(out, ANSWER_BYTES, "%s", answer ? answer : "");
	}
	sqlite3_finalize(stmt);
	return out;
}

/* A query on the document, and what it should find. */
struct question {
	const char *sql, *want, *name;
};

static void ask_all(sqlite3 *db, const struct question *questions, size_t n, const char *text)
{
	char answer[ANSWER_BYTES];

	for (size_t i = 0; i < n; i++)
		tap_is_str(ask(db, questions[i].sql, text, answer), questions[i].want, "%s",
		           questions[i].name);
}

static void test_golden(sqlite3 *db)
{
	static const struct question cases[] = {
		{"SELECT json_valid(?)", "1", "the document is JSON"},
		{"SELECT json_extract(?, '$.schema')", "1", "its schema is 1"},
		{"SELECT json_extract(?, '$.schedules[2].name')", "adaptra",
	         "schedules are in order"},
		{"SELECT json_type(?, '$.schedules[0].loss_digest')", "null", "sim has no losses"},
		{"SELECT json_type(?, '$.loss')", "null", "none at all"},
		{"SELECT json_type(?, '$.simulated')", "null", "nor anything simulated beside it"},
		{"SELECT json_type(?, '$.schedules[0].facts')", "null", "nor facts"},
		{"SELECT json_array_length(?, '$.speedups')", "6",
	         "every ordered pair has a speedup"},
		{"SELECT json_type(?, '$.control')", "null", "there is no control"},
		{"SELECT json_type(?1, '$.speedups[0].steady_low') || ' ' || "
	         "json_type(?1, '$.speedups[0].steady_ratio')",
	         "null real", "a single pair has a steady speedup without an interval"},
		{"SELECT json_type(?, '$.speedups[0].low')", "null",
	         "a single run has no interval"},
		{"SELECT json_extract(?, '$.events[1].links[1]')", "5-6", "links are a list"},
		{"SELECT json_extract(?, '$.events[0].published_ms.zb')", "2269.9",
	         "published by schedule"},
		{"SELECT json_type(?, '$.events[9].published_ms.zb')", "null",
	         "what was not is null"},
		{"SELECT json_extract(?, '$.settings.queues')", "6", "settings are an object"},
		{"SELECT json_extract(?, '$.checks[0].held')", "0",
	         "a check that did not hold says so"},
		{"SELECT json_type(?, '$.variants[0].total_s.zb')", "null",
	         "a missing total is null"},
	};
	static const struct report_check checks[] = {{"adaptra beats zb", false, "it does not"}};
	const struct report_extras extras = {variants, 1, checks, 1, NULL};
	struct comparison comparison = sample_trace();
	struct strbuf out = {0};

	report_json(&comparison, &extras, &out);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/trace.json",
	              "a comparison is the document that it was");
	ask_all(db, cases, sizeof(cases) / sizeof(cases[0]), strbuf_text(&out));
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

static void test_live(sqlite3 *db)
{
	static const struct question cases[] = {
		{"SELECT json_valid(?)", "1", "a live document is JSON"},
		{"SELECT json_extract(?, '$.mode')", "live", "its mode is live"},
		{"SELECT json_extract(?, '$.speed')", "10", "its speed is there"},
		{"SELECT json_extract(?, '$.loss.first')", "5.545", "so is the first loss"},
		{"SELECT json_extract(?, '$.loss.equal')", "0", "losses that differ are not equal"},
		{"SELECT json_extract(?, '$.loss.first_difference')", "17",
	         "the iteration is there"},
		{"SELECT substr(json_extract(?, '$.loss.difference'), 1, 33)",
	         "the losses of iteration 17 differ", "and the sentence"},
		{"SELECT json_extract(?, '$.simulated.comparison')", "7",
	         "simulated has its number"},
		{"SELECT printf('%.9f', json_extract(?, "
	         "'$.simulated.schedules[1].total_error_ratio'))",
	         "0.020000000", "the error of a total is a ratio"},
		{"SELECT printf('%.9f', json_extract(?, '$.simulated.events[1].error_ratio.1f1b'))",
	         "0.200000000", "so is that of an event"},
		{"SELECT json_extract(?, '$.simulated.events[0].links[0]')", "1-2",
	         "an event has its links"},
		{"SELECT json_extract(?, '$.schedules[1].facts.overruns')", "3",
	         "each schedule has its facts"},
	};
	struct comparison live = sample_smoke(3, true), simulated = sample_smoke(3, false);
	const struct report_extras extras = {.simulated = &simulated};
	struct strbuf out = {0};

	report_json(&live, &extras, &out);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/live.json",
	              "a live comparison is the document that it was");
	strbuf_clear(&out);
	live.schedules[1].losses[0].loss[17] += 0.5;
	report_json(&live, &extras, &out);
	ask_all(db, cases, sizeof(cases) / sizeof(cases[0]), strbuf_text(&out));
	strbuf_fini(&out);
	comparison_fini(&live);
	comparison_fini(&simulated);
}

static void test_random(sqlite3 *db)
{
	int n_bad = 0;

	for (uint64_t seed = 1; seed <= RANDOM_COMPARISONS; seed++) {
		struct comparison comparison = sample_random(seed);
		const struct report_extras extras = {.simulated = seed % 2 ? &comparison : NULL};
		struct strbuf out = {0};
		char answer[ANSWER_BYTES];

		sample_add_random_live(&comparison, seed);
		report_json(&comparison, &extras, &out);
		if (strcmp(ask(db, "SELECT json_valid(?)", strbuf_text(&out), answer), "1") != 0) {
			n_bad++;
			tap_note("seed %llu gives what is not JSON", (unsigned long long)seed);
		}
		strbuf_fini(&out);
		comparison_fini(&comparison);
	}
	tap_is_int(n_bad, 0, "%d random comparisons are all JSON", RANDOM_COMPARISONS);
}

int main(void)
{
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db)) {
		printf("Bail out! SQLite does not open a database in memory\n");
		return 1;
	}
	test_golden(db);
	test_live(db);
	test_random(db);
	sqlite3_close(db);
	return tap_done();
}
