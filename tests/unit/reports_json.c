/* reports_json.c - comparisons as JSON: golden, and valid whatever is in them. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
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

static void test_golden(sqlite3 *db)
{
	static const struct {
		const char *sql, *want, *name;
	} cases[] = {
		{"SELECT json_valid(?)", "1", "the document is JSON"},
		{"SELECT json_extract(?, '$.schema')", "1", "its schema is 1"},
		{"SELECT json_extract(?, '$.schedules[2].name')", "adaptra",
	         "schedules are in order"},
		{"SELECT json_type(?, '$.schedules[0].loss_digest')", "null", "sim has no losses"},
		{"SELECT json_array_length(?, '$.speedups')", "6",
	         "every ordered pair has a speedup"},
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
	const struct report_extras extras = {variants, 1, checks, 1};
	struct comparison comparison = sample_trace();
	struct strbuf out = {0};
	char answer[ANSWER_BYTES];

	report_json(&comparison, &extras, &out);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/trace.json",
	              "a comparison is the document that it was");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_is_str(ask(db, cases[i].sql, strbuf_text(&out), answer), cases[i].want, "%s",
		           cases[i].name);
	strbuf_fini(&out);
	comparison_fini(&comparison);
}

static void test_random(sqlite3 *db)
{
	const struct report_extras none = {0};
	int n_bad = 0;

	for (uint64_t seed = 1; seed <= RANDOM_COMPARISONS; seed++) {
		struct comparison comparison = sample_random(seed);
		struct strbuf out = {0};
		char answer[ANSWER_BYTES];

		report_json(&comparison, &none, &out);
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
	test_random(db);
	sqlite3_close(db);
	return tap_done();
}
