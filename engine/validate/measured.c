/* measured.c - iteration times of the measured runs, found by what was run. */
#include "engine/validate/measured.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/validate/truth.h"

enum column { MODEL, EXPERIMENT, SCHEDULE, LINKS, DELAY, RUN, CLEAN, STEADY };
enum { COLUMNS = STEADY + 1, KEY_COLUMNS = DELAY + 1 };

static const char *const column_names[COLUMNS] = {
	[MODEL] = "model",        [EXPERIMENT] = "experiment", [SCHEDULE] = "schedule",
	[LINKS] = "links",        [DELAY] = "delay_s",         [RUN] = "run_id",
	[CLEAN] = "clean_median", [STEADY] = "steady_median",
};

struct measurements {
	struct csv_table *table;
	int columns[COLUMNS];
	struct measured_run *runs; /* a row each */
};

/* An empty cell: that was not measured. */
static int read_time(const struct measurements *measurements, size_t row, enum column column,
                     double *out, struct err *err)
{
	int i = measurements->columns[column];

	*out = NAN;
	if (!*csv_table_text(measurements->table, row, i))
		return 0;
	return csv_table_number(measurements->table, row, i, out, err);
}

static int read_row(const struct measurements *measurements, size_t row, struct measured_run *out,
                    struct err *err)
{
	int64_t run_id;
	int rc = csv_table_int(measurements->table, row, measurements->columns[RUN], &run_id, err);

	if (rc == 0 && (run_id < 0 || run_id > INT_MAX))
		rc = err_set(err, -EINVAL, "summary.csv, line %zu: %lld is no run's number",
		             csv_table_line(measurements->table, row), (long long)run_id);
	rc = rc ? rc : read_time(measurements, row, CLEAN, &out->clean_ms, err);
	rc = rc ? rc : read_time(measurements, row, STEADY, &out->steady_ms, err);
	if (rc == 0)
		out->run_id = (int)run_id;
	return rc;
}

static int read_table(struct measurements *measurements, struct err *err)
{
	size_t n = csv_table_n_rows(measurements->table);
	int rc = 0;

	for (int i = 0; i < COLUMNS; i++) {
		measurements->columns[i] =
			csv_table_column(measurements->table, column_names[i], err);
		if (measurements->columns[i] < 0)
			return -EINVAL;
	}
	measurements->runs = array_new(n, sizeof(*measurements->runs));
	if (!measurements->runs)
		return err_set(err, -ENOMEM, "no memory for the measured runs");
	for (size_t row = 0; row < n && rc == 0; row++)
		rc = read_row(measurements, row, &measurements->runs[row], err);
	return rc;
}

int measurements_open(const char *folder, struct measurements **out, struct err *err)
{
	struct measurements *measurements = array_new(1, sizeof(*measurements));
	int rc;

	if (!measurements)
		return err_set(err, -ENOMEM, "no memory for the measured runs");
	rc = truth_open_file(folder, "summary.csv", &measurements->table, err);
	if (rc == 0)
		rc = read_table(measurements, err);
	if (rc) {
		measurements_close(measurements);
		return err_wrap(err, "measurements in '%s'", folder);
	}
	*out = measurements;
	return 0;
}

void measurements_close(struct measurements *measurements)
{
	if (!measurements)
		return;
	csv_table_free(measurements->table);
	free(measurements->runs);
	free(measurements);
}

static bool is_wanted(const struct measurements *measurements, size_t row,
                      const struct measured_key *key)
{
	const char *const wanted[KEY_COLUMNS] = {
		[MODEL] = key->model, [EXPERIMENT] = key->experiment, [SCHEDULE] = key->schedule,
		[LINKS] = key->links, [DELAY] = key->delay,
	};

	for (int i = 0; i < KEY_COLUMNS; i++) {
		const char *text =
			csv_table_text(measurements->table, row, measurements->columns[i]);

		if (strcmp(text, wanted[i]) != 0)
			return false;
	}
	return true;
}

/* Segments of a run follow one another, so the last row that fits is the last segment's. */
bool measurements_find(const struct measurements *measurements, const struct measured_key *key,
                       struct measured_run *out)
{
	for (size_t row = csv_table_n_rows(measurements->table); row > 0; row--) {
		if (!is_wanted(measurements, row - 1, key))
			continue;
		*out = measurements->runs[row - 1];
		return true;
	}
	return false;
}
