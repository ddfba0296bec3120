/* reports_kept_extras.c - checks and variants go into the store and come back. */
#include "reports/kept_extras.h"

#include "tests/unit/store_fixture.h"

enum { SCHEDULES = 2, VARIANTS = 2, CHECKS = 3 };

static char path[PATH_BYTES];

static const struct report_check checks[CHECKS] = {
	{"b is first", true, ""}, {"a is second", false, ""}, {"'c'", false, "x.lua:3: no field"}};
static const double totals_s[VARIANTS][SCHEDULES] = {{1.5, NAN}, {2.25, 4}};
static const struct report_variant variants[VARIANTS] = {{"one", totals_s[0]},
                                                         {"other", totals_s[1]}};

static const struct report_extras extras = {
	.variants = variants, .n_variants = VARIANTS, .checks = checks, .n_checks = CHECKS};

/* Two schedules, which is all that is asked of it. */
static struct comparison comparison_of(struct store *store,
                                       struct comparison_schedule schedules[SCHEDULES])
{
	struct scenario scenario = fixture_scenario();
	struct comparison comparison = {.schedules = schedules, .n_schedules = SCHEDULES};

	schedules[0] = (struct comparison_schedule){.name = (char *)(size_t) "zb"};
	schedules[1] = (struct comparison_schedule){.name = (char *)(size_t) "1f1b"};
	must(!store_begin_comparison(store, &scenario, &comparison.comparison, NULL),
	     "cannot begin");
	return comparison;
}

static void test_there_and_back(struct store *store)
{
	struct comparison_schedule schedules[SCHEDULES];
	struct comparison comparison = comparison_of(store, schedules);
	struct kept_extras kept;
	struct err err = {0};

	must(!kept_extras_read(store, &comparison, &kept, &err), err.text);
	tap_ok(kept.n_checks == 0 && kept.n_variants == 0, "there is nothing before");
	kept_extras_fini(&kept);
	must(!kept_extras_put(store, &comparison, &extras, &err), err.text);
	must(!kept_extras_read(store, &comparison, &kept, &err), err.text);
	tap_is_int((int64_t)kept.n_checks, CHECKS, "every check comes back");
	for (size_t i = 0; i < kept.n_checks && i < CHECKS; i++) {
		tap_is_str(kept.checks[i].name, checks[i].name, "in its place");
		tap_is_str(kept.checks[i].detail, checks[i].detail, "with what is said of it");
		tap_is_int(kept.checks[i].has_held, checks[i].has_held, "and whether it held");
	}
	tap_is_int((int64_t)kept.n_variants, VARIANTS, "so does every variant");
	for (size_t i = 0; i < kept.n_variants && i < VARIANTS; i++) {
		tap_is_str(kept.variants[i].label, variants[i].label, "with its name");
		for (int s = 0; s < SCHEDULES; s++)
			tap_is_number(kept.variants[i].total_s[s], totals_s[i][s], 0,
			              "and the total of schedule %d", s);
	}
	tap_ok(kept_extras_put(store, &comparison, &extras, &err) < 0,
	       "a comparison has them once: %s", err.text);
	kept_extras_fini(&kept);
}

/* One that was made of runs has no number; nobody's are its own. */
static void test_none(struct store *store)
{
	struct comparison_schedule schedules[SCHEDULES];
	struct comparison comparison = comparison_of(store, schedules);
	struct kept_extras kept;

	comparison.comparison = 0;
	must(!kept_extras_read(store, &comparison, &kept, NULL), "cannot read");
	tap_ok(kept.n_checks == 0 && kept.n_variants == 0, "runs put together have none");
	kept_extras_fini(&kept);
}

/* As an older program made it; and with what nobody of ours has written. */
static void test_other_files(int64_t number)
{
	struct comparison comparison = {.comparison = number};
	struct kept_extras kept;
	char out[CELL_BYTES];
	struct store *store;

	(void)fixture_query(path, "UPDATE variant_total SET schedule = 'gone', number = number * 5",
	                    out);
	store = fixture_open(path, STORE_READ);
	must(!kept_extras_read(store, &comparison, &kept, NULL), "cannot read");
	tap_is_int((int64_t)kept.n_variants, VARIANTS, "numbers may have gaps, schedules be gone");
	kept_extras_fini(&kept);
	must(!store_close(store, NULL), "cannot close");
	(void)fixture_query(path, "DROP TABLE check_result", out);
	(void)fixture_query(path, "DROP TABLE variant_total", out);
	(void)fixture_query(path, "PRAGMA user_version = 7", out);
	store = fixture_open(path, STORE_READ);
	must(!kept_extras_read(store, &comparison, &kept, NULL), "cannot read");
	tap_ok(kept.n_checks == 0 && kept.n_variants == 0, "an older database has none");
	kept_extras_fini(&kept);
	must(!store_close(store, NULL), "cannot close");
}

int main(void)
{
	struct store *store;

	fixture_make_folder();
	fixture_path("a.db", path);
	store = fixture_open(path, STORE_WRITE);
	test_there_and_back(store);
	test_none(store);
	must(!store_close(store, NULL), "cannot close");
	test_other_files(1);
	fixture_remove_folder();
	return tap_done();
}
