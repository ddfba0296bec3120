/* truth.c - the measured runs, profiles and orders, read from their CSV files.
 *
 * Facts about the files that are not in the files (data/pipemorph/README.md): a run's last segment
 * counts; all pipelines ran as many microbatches as the recorded ZB order of their size has. */
#include "engine/validate/truth.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/scenario/fault.h"

enum truth_file {
	FILE_SUMMARY,
	FILE_RUNS,
	FILE_PROFILES,
	FILE_MEDIANS,
	FILE_ZB_ORDERS,
	FILE_SCHEDULES
};
enum { TRUTH_FILES = FILE_SCHEDULES + 1 };

static const char *const file_names[TRUTH_FILES] = {
	[FILE_SUMMARY] = "summary.csv",
	[FILE_RUNS] = "runs.csv",
	[FILE_PROFILES] = "profiles.csv",
	[FILE_MEDIANS] = "profiles_median.csv",
	[FILE_ZB_ORDERS] = "zb_original_orders.csv",
	[FILE_SCHEDULES] = "schedules.csv",
};

struct truth {
	struct csv_table *files[TRUTH_FILES];
	struct truth_run *runs;
	size_t n_runs;
	size_t capacity;
};

/* The text of a column by name; "" and a sentence when the file has no such column. */
static const char *field(const struct truth *truth, enum truth_file file, size_t row,
                         const char *column, struct err *err)
{
	int i = csv_table_column(truth->files[file], column, err);

	return i < 0 ? "" : csv_table_text(truth->files[file], row, i);
}

static int number(const struct truth *truth, enum truth_file file, size_t row, const char *column,
                  double *out, struct err *err)
{
	int i = csv_table_column(truth->files[file], column, err);

	return i < 0 ? -EINVAL : csv_table_number(truth->files[file], row, i, out, err);
}

/* A time as nanoseconds; the column's name tells its unit. */
static int duration(const struct truth *truth, enum truth_file file, size_t row, const char *column,
                    int64_t *out_ns, struct err *err)
{
	size_t length = strlen(column);
	bool is_ms = length > 3 && strcmp(column + length - 3, "_ms") == 0;
	int64_t unit_ns = is_ms ? NS_PER_MS : NS_PER_S;
	double value;
	int rc = number(truth, file, row, column, &value, err);

	if (rc)
		return rc;
	if (!(value >= 0 && value * (double)unit_ns <= (double)FAULT_DELAY_MAX_NS))
		return err_set(err, -EINVAL,
		               "%s, line %zu: %s is %g; wanted a time of 0 to 24 hours",
		               file_names[file], csv_table_line(truth->files[file], row), column,
		               value);
	*out_ns = (int64_t)(value * (double)unit_ns + 0.5);
	return 0;
}

static int integer(const struct truth *truth, enum truth_file file, size_t row, const char *column,
                   int *out, struct err *err)
{
	int i = csv_table_column(truth->files[file], column, err);
	int64_t value;
	int rc = i < 0 ? -EINVAL : csv_table_int(truth->files[file], row, i, &value, err);

	if (rc)
		return rc;
	if (value < INT_MIN || value > INT_MAX)
		return err_set(err, -EINVAL,
		               "%s, line %zu: %s is %lld; wanted a small whole number",
		               file_names[file], csv_table_line(truth->files[file], row), column,
		               (long long)value);
	*out = (int)value;
	return 0;
}

int truth_links(const char *text, bool is_slow[TRUTH_STAGES_MAX], struct err *err)
{
	const char *at = text;

	memset(is_slow, 0, TRUTH_STAGES_MAX * sizeof(*is_slow));
	while (*at) {
		char *end;
		long from = strtol(at, &end, 10), to;

		if (end == at || *end != '_')
			return err_set(err, -EINVAL, "links '%s' are not like 0_1,2_3", text);
		at = end + 1;
		to = strtol(at, &end, 10);
		if (end == at || from < 0 || from >= TRUTH_STAGES_MAX - 1 || to != from + 1)
			return err_set(err, -EINVAL,
			               "links '%s' do not join neighbours of 8 stages", text);
		is_slow[from] = true;
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return err_set(err, -EINVAL, "links '%s' are not like 0_1,2_3", text);
	}
	return 0;
}

int truth_open_file(const char *folder, const char *name, struct csv_table **out, struct err *err)
{
	struct strbuf path = {0};
	int rc;

	strbuf_addf(&path, "%s/%s", folder, name);
	rc = csv_table_read(strbuf_text(&path), out, err);
	strbuf_fini(&path);
	return rc;
}

static int open_files(struct truth *truth, const char *folder, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < TRUTH_FILES && rc == 0; i++)
		rc = truth_open_file(folder, file_names[i], &truth->files[i], err);
	return rc;
}

/* Everything that is read by name below; a column that is missing is found here, with its name. */
static int check_columns(const struct truth *truth, struct err *err)
{
	static const struct {
		enum truth_file file;
		const char *names[9];
	} wanted[] = {
		{FILE_SUMMARY,
	         {"run_id", "model", "experiment", "schedule", "links", "delay_s", "clean_median",
	          "steady_median"}},
		{FILE_RUNS, {"run_id", "experiment", "schedule", "fault"}},
		{FILE_PROFILES,
	         {"model", "experiment", "links", "delay_s", "stage", "F_ms", "B_ms", "W_ms"}},
		{FILE_MEDIANS, {"model", "stage", "F_ms", "B_ms", "W_ms"}},
		{FILE_ZB_ORDERS, {"stages", "stage", "order"}},
		{FILE_SCHEDULES, {"run_id", "stage", "order", "schedule", "links", "delay_s"}},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		for (const char *const *name = wanted[i].names; *name; name++)
			if (csv_table_column(truth->files[wanted[i].file], *name, err) < 0)
				return -EINVAL;
	return 0;
}

/* Row of runs.csv; the files are ordered by run, but that is not relied on. −1: none. */
static long find_run(const struct truth *truth, const char *run_id, struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[FILE_RUNS]);

	for (size_t row = 0; row < n; row++)
		if (strcmp(field(truth, FILE_RUNS, row, "run_id", err), run_id) == 0)
			return (long)row;
	return -1;
}

static bool is_wanted(const struct truth *truth, size_t run, struct err *err)
{
	if (strcmp(field(truth, FILE_RUNS, run, "schedule", err), "ALL-CPU") == 0)
		return true;
	return strcmp(field(truth, FILE_RUNS, run, "fault", err), "delay") == 0 &&
	       strcmp(field(truth, FILE_RUNS, run, "experiment", err), "dpvspp") != 0;
}

static int fill_run(const struct truth *truth, size_t row, struct truth_run *run, struct err *err)
{
	int rc;

	run->model = field(truth, FILE_SUMMARY, row, "model", err);
	run->experiment = field(truth, FILE_SUMMARY, row, "experiment", err);
	run->schedule = field(truth, FILE_SUMMARY, row, "schedule", err);
	run->links = field(truth, FILE_SUMMARY, row, "links", err);
	run->delay = field(truth, FILE_SUMMARY, row, "delay_s", err);
	rc = integer(truth, FILE_SUMMARY, row, "run_id", &run->run_id, err);
	if (rc == 0 && strcmp(run->schedule, "ALL-CPU") == 0)
		run->links = run->delay = "";
	if (rc == 0 && *run->delay)
		rc = duration(truth, FILE_SUMMARY, row, "delay_s", &run->delay_ns, err);
	if (rc == 0)
		rc = number(truth, FILE_SUMMARY, row, "clean_median", &run->clean_ms, err);
	/* A run without a fault has no iterations after one. */
	if (rc == 0 && *run->links)
		rc = number(truth, FILE_SUMMARY, row, "steady_median", &run->steady_ms, err);
	return rc ? rc : truth_links(run->links, run->is_slow, err);
}

static int add_run(struct truth *truth, size_t row, struct err *err)
{
	struct truth_run run = {0};
	struct truth_run *runs;
	int rc = fill_run(truth, row, &run, err);

	if (rc)
		return rc;
	/* A later row of the same run is a later segment. */
	if (truth->n_runs > 0 && truth->runs[truth->n_runs - 1].run_id == run.run_id) {
		truth->runs[truth->n_runs - 1] = run;
		return 0;
	}
	runs = array_grow(truth->runs, &truth->capacity, truth->n_runs + 1, sizeof(*runs));
	if (!runs)
		return err_set(err, -ENOMEM, "no memory for the measured runs");
	truth->runs = runs;
	truth->runs[truth->n_runs++] = run;
	return 0;
}

static int read_runs(struct truth *truth, struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[FILE_SUMMARY]);
	int rc = 0;

	for (size_t row = 0; rc == 0 && row < n; row++) {
		const char *run_id = field(truth, FILE_SUMMARY, row, "run_id", err);
		long run = find_run(truth, run_id, err);

		if (run < 0)
			return err_set(err, -EINVAL,
			               "summary.csv names run '%s', runs.csv does not", run_id);
		if (is_wanted(truth, (size_t)run, err))
			rc = add_run(truth, row, err);
	}
	return rc;
}

int truth_open(const char *folder, struct truth **out, struct err *err)
{
	struct truth *truth = array_new(1, sizeof(*truth));
	int rc;

	if (!truth)
		return err_set(err, -ENOMEM, "no memory for the ground truth");
	rc = open_files(truth, folder, err);
	if (rc == 0)
		rc = check_columns(truth, err);
	if (rc == 0)
		rc = read_runs(truth, err);
	if (rc) {
		truth_close(truth);
		return rc;
	}
	*out = truth;
	return 0;
}

void truth_close(struct truth *truth)
{
	if (!truth)
		return;
	for (int i = 0; i < TRUTH_FILES; i++)
		csv_table_free(truth->files[i]);
	free(truth->runs);
	free(truth);
}

const struct truth_run *truth_runs(const struct truth *truth, size_t *n_out)
{
	*n_out = truth->n_runs;
	return truth->runs;
}

static int read_profile_row(const struct truth *truth, enum truth_file file, size_t row,
                            struct truth_profile *out, struct err *err)
{
	static const char *const columns[OP_KINDS] = {"F_ms", "B_ms", "W_ms"};
	int stage, rc = integer(truth, file, row, "stage", &stage, err);

	if (rc)
		return rc;
	if (stage < 0 || stage >= TRUTH_STAGES_MAX)
		return err_set(err, -EINVAL, "%s: stage %d; wanted 0 to 7", file_names[file],
		               stage);
	for (int kind = 0; kind < OP_KINDS; kind++) {
		rc = duration(truth, file, row, columns[kind], &out->op_ns[kind][stage], err);
		if (rc)
			return rc;
	}
	if (stage >= out->n_stages)
		out->n_stages = stage + 1;
	return 0;
}

static bool is_profile_of(const struct truth *truth, size_t row, const struct truth_run *run,
                          struct err *err)
{
	const char *delay = field(truth, FILE_PROFILES, row, "delay_s", err);

	return strcmp(field(truth, FILE_PROFILES, row, "model", err), run->model) == 0 &&
	       strcmp(field(truth, FILE_PROFILES, row, "experiment", err), run->experiment) == 0 &&
	       strcmp(field(truth, FILE_PROFILES, row, "links", err), run->links) == 0 &&
	       strtod(delay, NULL) == strtod(run->delay, NULL);
}

int truth_run_profile(const struct truth *truth, const struct truth_run *run,
                      struct truth_profile *out, struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[FILE_PROFILES]);
	int rc = 0;

	*out = (struct truth_profile){0};
	for (size_t row = 0; rc == 0 && row < n; row++)
		if (is_profile_of(truth, row, run, err))
			rc = read_profile_row(truth, FILE_PROFILES, row, out, err);
	if (rc == 0 && out->n_stages == 0)
		return err_set(err, -ENOENT,
		               "profiles.csv has no profile for run %d (%s, %s, links %s, %s s)",
		               run->run_id, run->model, run->experiment, run->links, run->delay);
	return rc;
}

int truth_median_profile(const struct truth *truth, const char *model, struct truth_profile *out,
                         struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[FILE_MEDIANS]);
	int rc = 0;

	*out = (struct truth_profile){0};
	for (size_t row = 0; rc == 0 && row < n; row++)
		if (strcmp(field(truth, FILE_MEDIANS, row, "model", err), model) == 0)
			rc = read_profile_row(truth, FILE_MEDIANS, row, out, err);
	if (rc == 0 && out->n_stages == 0)
		return err_set(err, -ENOENT, "profiles_median.csv has no model '%s'", model);
	return rc;
}

/* The order in the rows of file where column has value. */
static int read_order(const struct truth *truth, enum truth_file file, const char *column,
                      int value, struct truth_order *out, struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[file]);

	*out = (struct truth_order){0};
	for (size_t row = 0; row < n; row++) {
		int found, stage, rc = integer(truth, file, row, column, &found, err);

		if (rc)
			return rc;
		if (found != value)
			continue;
		rc = integer(truth, file, row, "stage", &stage, err);
		if (rc)
			return rc;
		if (stage != out->n_stages || stage >= TRUTH_STAGES_MAX)
			return err_set(err, -EINVAL, "%s: %s %d: stage %d comes after %d stages",
			               file_names[file], column, value, stage, out->n_stages);
		out->letters[out->n_stages++] = field(truth, file, row, "order", err);
	}
	if (out->n_stages == 0)
		return err_set(err, -ENOENT, "%s has no order for %s %d", file_names[file], column,
		               value);
	for (const char *letter = out->letters[0]; *letter; letter++)
		out->n_microbatches += *letter == 'F';
	return 0;
}

int truth_zb_order(const struct truth *truth, int n_stages, struct truth_order *out,
                   struct err *err)
{
	return read_order(truth, FILE_ZB_ORDERS, "stages", n_stages, out, err);
}

int truth_run_order(const struct truth *truth, int run_id, struct truth_order *out, struct err *err)
{
	return read_order(truth, FILE_SCHEDULES, "run_id", run_id, out, err);
}

/* The delay of a row of schedules.csv on the links that it names. */
static int read_delays(const struct truth *truth, size_t row, int64_t link_ns[TRUTH_STAGES_MAX],
                       struct err *err)
{
	bool is_slow[TRUTH_STAGES_MAX];
	int64_t delay_ns = 0;
	int rc = truth_links(field(truth, FILE_SCHEDULES, row, "links", err), is_slow, err);

	rc = rc ? rc : duration(truth, FILE_SCHEDULES, row, "delay_s", &delay_ns, err);
	for (int link = 0; rc == 0 && link < TRUTH_STAGES_MAX; link++)
		link_ns[link] = is_slow[link] ? delay_ns : 0;
	return rc;
}

int truth_recorded_delays(const struct truth *truth, int64_t run_id,
                          int64_t link_ns[TRUTH_STAGES_MAX], struct err *err)
{
	size_t n = csv_table_n_rows(truth->files[FILE_SCHEDULES]);

	memset(link_ns, 0, TRUTH_STAGES_MAX * sizeof(*link_ns));
	for (size_t row = 0; row < n; row++) {
		int found, rc = integer(truth, FILE_SCHEDULES, row, "run_id", &found, err);

		if (rc)
			return rc;
		if (found != run_id)
			continue;
		if (strcmp(field(truth, FILE_SCHEDULES, row, "schedule", err),
		           "ZB-CPU-ReSchedule") != 0)
			return 0;
		return read_delays(truth, row, link_ns, err);
	}
	return err_set(err, -EINVAL, "schedules.csv does not know run %lld of schedule_ops.csv",
	               (long long)run_id);
}
