/* format_dump_ops.c - simulators' dumps have times: those of the published artefact's re-scheduler
 * give back the profiles that it planned with. */
#include "engine/format/dump_ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/format/csv_table.h"
#include "engine/format/observed_profile.h"
#include "tests/tap.h"

static int read_text(const char *text, struct observed *out, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes("x", text, strlen(text), &input, err);

	observed_init(out, 0);
	if (rc == 0)
		rc = dump_ops_read(input, out, err);
	input_close(input);
	return rc;
}

static struct csv_table *table_of(const char *name)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	struct csv_table *table = NULL;
	struct err err = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/data/pipemorph/%s", root ? root : ".", name);
	if (csv_table_read(path, &table, &err))
		tap_ok(false, "%s is read: %s", name, err.text);
	return table;
}

static const char *cell(const struct csv_table *table, size_t row, const char *column)
{
	struct err err = {0};

	return csv_table_text(table, row, csv_table_column(table, column, &err));
}

/* The dump of one run, from row on; returns the row behind it. */
static size_t add_dump(const struct csv_table *ops, size_t row, struct strbuf *out)
{
	const char *run = cell(ops, row, "run_id");

	for (; row < csv_table_n_rows(ops) && strcmp(cell(ops, row, "run_id"), run) == 0; row++)
		strbuf_addf(out, "%s, %s, %s, %s\n", cell(ops, row, "stage"),
		            cell(ops, row, "kind"), cell(ops, row, "start_ms"),
		            cell(ops, row, "end_ms"));
	return row;
}

/* Stages of the run whose times are the profile's; *n_out: stages that the profile has. */
static int n_right(const struct csv_table *profiles, const char *run,
                   const struct observed_profile *profile, int *n_out)
{
	static const char *const columns[OP_KINDS] = {"F_ms", "B_ms", "W_ms"};
	int n = 0;

	*n_out = 0;
	for (size_t row = 0; row < csv_table_n_rows(profiles); row++) {
		int stage = atoi(cell(profiles, row, "stage")), n_kinds = 0;

		if (strcmp(cell(profiles, row, "run_id"), run) != 0)
			continue;
		++*n_out;
		for (int kind = 0; kind < OP_KINDS && stage < profile->n_stages; kind++)
			n_kinds += profile->stages[stage][kind].median_ns ==
			           atoi(cell(profiles, row, columns[kind])) * (int64_t)NS_PER_MS;
		n += n_kinds == OP_KINDS;
	}
	return n;
}

static void check_published(void)
{
	struct csv_table *ops = table_of("schedule_ops.csv");
	struct csv_table *profiles = table_of("profiles.csv");
	int n_runs = 0, n_stages = 0, n_equal = 0;

	for (size_t row = 0; row < csv_table_n_rows(ops);) {
		const char *run = cell(ops, row, "run_id");
		struct observed_profile profile = {0};
		struct strbuf text = {0};
		struct observed observed;
		struct err err = {0};
		int n;

		row = add_dump(ops, row, &text);
		if (read_text(strbuf_text(&text), &observed, &err) ||
		    observed_profile_make(&observed, &profile, &err))
			tap_ok(false, "the dump of run %s makes a profile: %s", run, err.text);
		n_equal += n_right(profiles, run, &profile, &n);
		n_stages += n;
		n_runs++;
		observed_profile_fini(&profile);
		observed_fini(&observed);
		strbuf_fini(&text);
	}
	tap_is_int(n_runs, 127, "all published dumps are read");
	tap_is_int(n_stages, 280, "of 280 stages the published profile is known");
	tap_is_int(n_equal, n_stages, "and every one of them comes back exactly");
	csv_table_free(ops);
	csv_table_free(profiles);
}

static void check_format(void)
{
	struct observed observed;
	struct err err = {0};

	tap_is_int(read_text("0, F, 0, 1.5\n\n0, B, 2, 4\n1,F,1,2\r\n1, B, 2, 3\n1, W, 3, 4\n",
	                     &observed, &err),
	           0, "a dump is read");
	tap_ok(observed.ops[0].end_ns == 1500000 && observed.ops[0].clock == CLOCK_SIMULATED &&
	               observed.ops[2].stage == 1 && observed.ops[2].place == 4,
	       "with its times, stages and lines");
	tap_ok(observed.ops[1].kind == OBSERVED_BACKWARD &&
	               observed.ops[3].kind == OBSERVED_BACKWARD_INPUT,
	       "B is whole on a stage without W, and for the input on one with");
	tap_ok(observed.n_read[OBSERVED_BACKWARD] == 1 &&
	               observed.n_read[OBSERVED_BACKWARD_INPUT] == 1,
	       "and is counted as what it is");
	observed_fini(&observed);
}

static void check_refused(void)
{
	static const char *const cases[][2] = {
		{"0, F, 0\n", "x: line 1: found '0, F, 0'; wanted 'stage, F|B|W, start, end'"},
		{"0, F, 0, 1\n0, X, 0, 1\n", "line 2: found '0, X, 0, 1'"},
		{"0, f, 0, 1\n", "found '0, f, 0, 1'"},
		{"1024, F, 0, 1\n", "found"},
		{"0, F, 2, 1\n", "which ends before it starts"},
		{"0, F, -2, 1\n", "or starts before 0"},
		{"0, F, nan, 1\n", "found"},
		{"0, F, 0, 1e999\n", "found"},
		{"0, F, 0, 1, 2\n", "found"},
		{"3, B, 0, 1\n3, B, 0, 1\n3, W, 0, 1\n", "x: stage 3 has 2 B, but 1 W"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct observed observed;
		struct err err = {0};

		tap_is_int(read_text(cases[i][0], &observed, &err), -EINVAL, "case %zu is refused",
		           i);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		observed_fini(&observed);
	}
}

int main(void)
{
	check_published();
	check_format();
	check_refused();
	return tap_done();
}
