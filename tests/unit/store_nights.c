/* store_nights.c - histories come back as they were put, and go with their comparison. */
#include "tests/unit/store_fixture.h"

static char path[PATH_BYTES], answer[CELL_BYTES];

static int64_t begin(struct store *store)
{
	struct scenario scenario = fixture_scenario();
	int64_t comparison = 0;

	must(!store_begin_comparison(store, &scenario, &comparison, NULL), "cannot begin");
	return comparison;
}

static const uint64_t ENVIRONMENT = UINT64_MAX - 3;

static void test_values(struct store *store)
{
	int64_t first = begin(store), second = begin(store);
	const struct night_value put[] = {
		{second, (char *)"zb", (char *)"p50_ms", true, 3, NULL, NULL, NULL},
		{first, (char *)"zb", (char *)"p50_ms", false, 1.5, NULL, NULL, NULL},
		{first, (char *)"1f1b", (char *)"p50_ms", false, 2, NULL, NULL, NULL},
		{first, (char *)"1f1b", (char *)"total_s", false, NAN, NULL, NULL, NULL},
	};
	struct night_value *values = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_is_int(store_put_night(store, ENVIRONMENT, put, 4, &err), 0, "a night is put %s",
	           err.text);
	must(!store_put_night(store, 1, put, 1, NULL), "cannot put another");
	tap_is_int(store_read_nights(store, ENVIRONMENT, &values, &n, &err), 0, "and read %s",
	           err.text);
	if (!tap_is_int((int64_t)n, 3,
	                "without what was no number, and without other environments"))
		return;
	tap_is_int(values[0].comparison, first, "the oldest comparison first");
	tap_is_str(values[0].schedule, "1f1b", "its schedules in order");
	tap_is_str(values[0].metric, "p50_ms", "with the metric");
	tap_is_number(values[1].value, 1.5, 0, "the value");
	tap_is_int((int64_t)strlen(values[1].created), 20, "when it was made");
	tap_is_str(values[1].version, "", "and by what, if it has a run");
	tap_ok(!values[1].is_fresh && values[2].is_fresh, "and whether it was to confirm one");
	stored_nights_fini(values, n);
	tap_is_int(store_put_night(store, ENVIRONMENT, put, 1, &err), -EINVAL,
	           "a number is not put twice");
	tap_is_str(fixture_query(path,
	                         "SELECT \"table\", on_delete FROM "
	                         "pragma_foreign_key_list('night_value')",
	                         answer),
	           "comparison|CASCADE", "a comparison takes its numbers along");
}

static void test_alarms(struct store *store)
{
	const struct night_alarm put = {2, (char *)"zb", (char *)"p50_ms", 1, 100, 105, 1e-9};
	struct night_alarm *alarms = NULL;
	size_t n = 0;

	tap_is_int(store_put_alarm(store, ENVIRONMENT, &put, NULL), 0, "an alarm is put");
	tap_is_int(store_read_alarms(store, ENVIRONMENT, &alarms, &n, NULL), 0, "and read");
	if (!tap_is_int((int64_t)n, 1, "it alone"))
		return;
	tap_is_str(alarms[0].schedule, "zb", "with its schedule");
	tap_is_str(alarms[0].metric, "p50_ms", "its metric");
	tap_ok(alarms[0].comparison == 2 && alarms[0].since == 1, "when it was found, since when");
	tap_ok(alarms[0].before == 100 && alarms[0].after == 105 && alarms[0].p == 1e-9,
	       "and its numbers");
	stored_alarms_fini(alarms, n);
}

static void test_transfer(struct store *store)
{
	struct record_op ops[24];
	struct record_iteration iteration = fixture_iteration(3, ops);
	struct record_sink *sink;
	double mean = 0, want = 0;
	int n = 0;
	int64_t run = fixture_begin(store, true, &sink);

	must(!record_put_iteration(sink, &iteration, NULL), "cannot put an iteration");
	must(!store_end_run(store, run, "done", "", NULL), "cannot end a run");
	for (int i = 0; i < 24; i++) {
		if (ops[i].message_arrive_ns < 0)
			continue;
		want += (double)(ops[i].message_arrive_ns - ops[i].message_request_ns);
		n++;
	}
	tap_is_int(store_read_transfer_ns(store, run, &mean, NULL), 0, "transfers are read");
	tap_is_number(mean, want / n, 1e-9, "as the mean from request to arrival");
	tap_is_int(store_read_transfer_ns(store, run + 1, &mean, NULL), 0,
	           "of a run that is not there");
	tap_ok(isnan(mean), "there is none");
}

int main(void)
{
	struct store *store;

	fixture_make_folder();
	fixture_path("a.db", path);
	store = fixture_open(path, STORE_WRITE);
	test_values(store);
	test_alarms(store);
	test_transfer(store);
	must(!store_close(store, NULL), "cannot close");
	fixture_remove_folder();
	return tap_done();
}
