/* validate_measured.c - measured runs are found by what was run, and their numbers are the file's.
 */
#include "engine/validate/measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/strbuf.h"
#include "tests/tap.h"

static const char head[] = "run_id,model,experiment,schedule,links,delay_s,clean_median,"
			   "steady_median\n";

static void check_run(const struct measurements *measured, const struct measured_key *key,
                      struct measured_run wanted)
{
	struct measured_run run = {.run_id = -1};

	tap_ok(measurements_find(measured, key, &run), "%s, %s, %s is found", key->model,
	       key->experiment, key->schedule);
	tap_is_int(run.run_id, wanted.run_id, "as run %d", wanted.run_id);
	tap_is_number(run.clean_ms, wanted.clean_ms, 0, "with its time before the fault");
	if (isnan(wanted.steady_ms))
		tap_ok(isnan(run.steady_ms), "and none under one, for there was none");
	else
		tap_is_number(run.steady_ms, wanted.steady_ms, 0, "and under it");
}

static void test_published(void)
{
	const char *source = getenv("ADAPTRA_SOURCE");
	struct strbuf folder = {0};
	struct measurements *measured;
	struct measured_run run;
	struct err err = {0};

	strbuf_addf(&folder, "%s/tests/data/pipemorph", source ? source : ".");
	if (measurements_open(strbuf_text(&folder), &measured, &err)) {
		tap_ok(false, "the measurements open: %s", err.text);
		strbuf_fini(&folder);
		return;
	}
	check_run(measured,
	          &(struct measured_key){"14B", "increasing-delay", "1F1B", "6_7", "0.03"},
	          (struct measured_run){12, 874.5, 1580.8});
	check_run(measured, &(struct measured_key){"14B", "multiple", "ZB", "0_1,3_4,6_7", "0.03"},
	          (struct measured_run){51, 746.3, 2101.15});
	check_run(measured,
	          &(struct measured_key){"7B", "dynamic", "ZB-CPU-ReSchedule", "0_1,1_2,2_3",
	                                 "trace100-200"},
	          (struct measured_run){181, 372.3, 549.95});
	check_run(measured, &(struct measured_key){"30B", "single", "1F1B", "6_7", "0.03"},
	          (struct measured_run){85, 1070.8, 1698.25});
	check_run(measured, &(struct measured_key){"60B", "overhead", "ALL-CPU", "", ""},
	          (struct measured_run){65, 1313.8, NAN});
	tap_ok(!measurements_find(measured,
	                          &(struct measured_key){"14B", "increasing-delay", "1F1B", "6_7",
	                                                 "0.07"},
	                          &run),
	       "what was not measured is not found");
	measurements_close(measured);
	strbuf_fini(&folder);
}

/* Open a folder whose summary.csv holds text; the sentence of what is wrong. */
static int open_text(const char *text, struct err *err)
{
	char folder[] = "/tmp/measured.XXXXXX", path[64];
	struct measurements *measured = NULL;
	struct strbuf whole = {0};
	int rc;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/summary.csv", folder);
	strbuf_add(&whole, text);
	rc = file_write(path, strbuf_text(&whole), whole.length, err);
	if (rc == 0)
		rc = measurements_open(folder, &measured, err);
	measurements_close(measured);
	strbuf_fini(&whole);
	(void)unlink(path);
	(void)rmdir(folder);
	return rc;
}

static void check_damage(const char *row, const char *want)
{
	struct strbuf text = {0};
	struct err err = {0};

	strbuf_addf(&text, "%s%s", head, row);
	tap_is_int(open_text(strbuf_text(&text), &err), -EINVAL, "refused: %s", want);
	tap_contains(err.text, want, "and said");
	strbuf_fini(&text);
}

static void test_damage(void)
{
	struct measurements *measured;
	struct err err = {0};

	tap_is_int(measurements_open("/nowhere", &measured, &err), -ENOENT,
	           "a folder that is none");
	tap_contains(err.text, "measurements in '/nowhere'", "is named");
	tap_is_int(open_text("run_id,model\n1,7B\n", &err), -ENOENT, "a table of something else");
	tap_contains(err.text, "'experiment'", "misses a column by its name");
	check_damage("x,7B,single,ZB,0_1,0.03,1,2\n", "run_id");
	check_damage("-1,7B,single,ZB,0_1,0.03,1,2\n", "no run's number");
	check_damage("1,7B,single,ZB,0_1,0.03,long,2\n", "clean_median");
	check_damage("1,7B,single,ZB,0_1,0.03,1,nan\n", "steady_median");
}

int main(void)
{
	test_published();
	test_damage();
	return tap_done();
}
