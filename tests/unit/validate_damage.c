/* validate_damage.c - tests that damaged ground truth is refused with one sentence. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/strbuf.h"
#include "engine/validate/validate.h"
#include "tests/folder.h"
#include "tests/tap.h"

enum { FILE_BYTES_MAX = 64 << 20, N_FILES = 7 };

static const char *const files[N_FILES] = {"summary.csv",
                                           "runs.csv",
                                           "profiles.csv",
                                           "profiles_median.csv",
                                           "zb_original_orders.csv",
                                           "schedules.csv",
                                           "schedule_ops.csv"};

/* A folder in which every file is that of the truth, through a link, but the one that is damaged.
 */
struct copy {
	const char *folder;
	char *source; /* of the truth */
};

static char *path_of(const char *folder, const char *file)
{
	struct strbuf path = {0};

	strbuf_addf(&path, "%s/%s", folder, file);
	return strbuf_take(&path);
}

static bool copy_make(struct copy *copy)
{
	const char *source = getenv("ADAPTRA_SOURCE");

	copy->folder = folder_open();
	copy->source = path_of(source ? source : ".", "tests/data/pipemorph");
	if (copy->source && copy->source[0] != '/') {
		char *absolute = realpath(copy->source, NULL);

		free(copy->source);
		copy->source = absolute;
	}
	return copy->source != NULL;
}

/* Undo damage: all files are links. */
static void copy_mend(const struct copy *copy)
{
	for (int i = 0; i < N_FILES; i++) {
		char *from = path_of(copy->source, files[i]), *to = path_of(copy->folder, files[i]);

		unlink(to);
		if (symlink(from, to))
			tap_note("cannot link %s", files[i]);
		free(from);
		free(to);
	}
}

static void copy_remove(struct copy *copy)
{
	for (int i = 0; i < N_FILES; i++) {
		char *path = path_of(copy->folder, files[i]);

		unlink(path);
		free(path);
	}
	tap_is_int(rmdir(copy->folder), 0, "nothing else is in the folder");
	free(copy->source);
}

/* The truth's file with the first occurrence of old, at or after the line that begins with at,
 * replaced. */
static bool copy_damage(const struct copy *copy, const char *file, const char *at, const char *old,
                        const char *with)
{
	char *from = path_of(copy->source, file), *to = path_of(copy->folder, file), *text, *place;
	struct strbuf damaged = {0};
	struct err err = {0};
	size_t n_bytes;
	bool is_done = false;

	if (file_read(from, FILE_BYTES_MAX, &text, &n_bytes, &err) == 0) {
		place = strstr(text, at);
		place = place ? strstr(place, old) : NULL;
		if (place) {
			strbuf_add_bytes(&damaged, text, (size_t)(place - text));
			strbuf_add(&damaged, with);
			strbuf_add(&damaged, place + strlen(old));
			unlink(to);
			is_done = file_write(to, strbuf_text(&damaged), damaged.length, &err) == 0;
		}
		free(text);
	}
	strbuf_fini(&damaged);
	free(from);
	free(to);
	return is_done;
}

/* One sentence: something, on one line, without a full stop. */
static bool is_sentence(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && text[n - 1] != '.' && !strchr(text, '\n');
}

static void check_refused(const struct copy *copy, const char *wanted, const char *name)
{
	struct validation validation = {0};
	struct err err = {0};
	int rc = validate_folder(copy->folder, &validation, &err);

	if (rc == 0)
		validation_fini(&validation);
	tap_ok(rc < 0 && is_sentence(err.text) && strstr(err.text, wanted), "%s is refused: %s",
	       name, err.text);
}

static void test_missing_files(const struct copy *copy)
{
	for (int i = 0; i < N_FILES; i++) {
		char *path = path_of(copy->folder, files[i]);

		copy_mend(copy);
		unlink(path);
		check_refused(copy, files[i], "a truth without a file");
		free(path);
	}
}

static void test_missing_columns(const struct copy *copy)
{
	static const struct {
		const char *file, *column;
	} columns[] = {
		{"summary.csv", "run_id"},
		{"summary.csv", "model"},
		{"summary.csv", "experiment"},
		{"summary.csv", "schedule"},
		{"summary.csv", "links"},
		{"summary.csv", "delay_s"},
		{"summary.csv", "clean_median"},
		{"summary.csv", "steady_median"},
		{"runs.csv", "run_id"},
		{"runs.csv", "schedule"},
		{"runs.csv", "fault"},
		{"runs.csv", "experiment"},
		{"profiles.csv", "stage"},
		{"profiles.csv", "F_ms"},
		{"profiles.csv", "B_ms"},
		{"profiles.csv", "W_ms"},
		{"profiles.csv", "model"},
		{"profiles.csv", "experiment"},
		{"profiles.csv", "links"},
		{"profiles.csv", "delay_s"},
		{"profiles_median.csv", "model"},
		{"profiles_median.csv", "W_ms"},
		{"zb_original_orders.csv", "stages"},
		{"zb_original_orders.csv", "stage"},
		{"zb_original_orders.csv", "order"},
		{"schedules.csv", "run_id"},
		{"schedules.csv", "stage"},
		{"schedules.csv", "order"},
		{"schedules.csv", "links"},
		{"schedules.csv", "schedule"},
		{"schedules.csv", "delay_s"},
		{"schedule_ops.csv", "run_id"},
		{"schedule_ops.csv", "stage"},
		{"schedule_ops.csv", "kind"},
		{"schedule_ops.csv", "microbatch"},
		{"schedule_ops.csv", "start_ms"},
		{"schedule_ops.csv", "end_ms"},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct strbuf name = {0};

		copy_mend(copy);
		if (!copy_damage(copy, columns[i].file, "", columns[i].column, "x"))
			tap_ok(false, "%s has a column %s", columns[i].file, columns[i].column);
		strbuf_addf(&name, "%s without %s", columns[i].file, columns[i].column);
		check_refused(copy, "", strbuf_text(&name));
		strbuf_fini(&name);
	}
}

/* In the first line of the file that begins like that. */
static const struct {
	const char *file, *at, *old, *with;
} damages[] = {
	{"summary.csv", "\n28,", "756.4", "much"},
	{"summary.csv", "\n28,", "756.4", "nan"},
	{"summary.csv", "\n28,", "756.4", ""},
	{"summary.csv", "\n28,", "6_7", "6_8"},
	{"summary.csv", "\n28,", "6_7", "-1_0"},
	{"summary.csv", "\n28,", "6_7", "9223372036854775807_0"},
	{"summary.csv", "\n28,", "28", "4000000000"},
	{"summary.csv", "\n28,", "0.01", "-0.01"},
	{"summary.csv", "\n28,", "0.01", "1e300"},
	{"profiles.csv", "\n16,", ",0.01,0,8,", ",0.01,0,-8,"},
	{"profiles.csv", "\n16,", ",0.01,0,8,", ",0.01,8,8,"},
	{"profiles.csv", "\n16,", ",0.01,0,8,", ",0.01,0,x,"},
	{"profiles_median.csv", "\nH800,14B,0,", ",8,", ",1e300,"},
	{"profiles_median.csv", "\nH800,14B,0,", ",8,", ",-8,"},
	{"profiles_median.csv", "\nH800,14B,7,", "7", "8"},
	{"zb_original_orders.csv", "\n4,12,0,", "FFFFFFFBFB", "FFFFFFFXFB"},
	{"zb_original_orders.csv", "\n4,12,0,", "FFFFFFFBFB", "BFFFFFFFFB"},
	{"zb_original_orders.csv", "\n4,12,0,", "FFFFFFFBFB", ""},
	{"zb_original_orders.csv", "\n4,12,2,", "4,12,2", "4,12,1"},
	{"schedules.csv", "\n22,", "FFF", "FFB"},
	{"schedule_ops.csv", "\n", ",F,", ",Q,"},
	{"schedule_ops.csv", "\n", ",F,", ",,"},
	{"schedule_ops.csv", "\n", ",F,", ",FB,"},
	{"schedule_ops.csv", "\n0,0,", ",F,0,0,", ",F,-1,0,"},
	{"schedule_ops.csv", "\n0,0,", ",F,0,0,", ",F,4294967296,0,"},
	{"schedule_ops.csv", "\n0,0,", ",F,0,0,", ",F,0,-9000000000000000000,"},
	{"schedule_ops.csv", "\n0,0,", ",F,0,0,", ",F,0,9000000000000000000,"},
	{"schedule_ops.csv", "\n0,0,", "0,0,", "0,8,"},
	{"schedule_ops.csv", "\n0,0,", "0,0,", "99999,0,"},
};

static void test_damages(const struct copy *copy)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct strbuf name = {0};

		copy_mend(copy);
		if (!copy_damage(copy, damages[i].file, damages[i].at, damages[i].old,
		                 damages[i].with))
			tap_ok(false, "%s has '%s' after '%s'", damages[i].file, damages[i].old,
			       damages[i].at);
		strbuf_addf(&name, "%s with '%s' for '%s'", damages[i].file, damages[i].with,
		            damages[i].old);
		check_refused(copy, "", strbuf_text(&name));
		strbuf_fini(&name);
	}
}

/* A recorded time that is wrong is not damage but a finding. */
static void test_wrong_time(const struct copy *copy)
{
	struct validation validation;
	struct err err = {0};

	copy_mend(copy);
	if (!tap_ok(copy_damage(copy, "schedule_ops.csv", "\n1,0,", "F,1,8,16", "F,1,9,17"),
	            "a start is put later"))
		return;
	if (tap_is_int(validate_folder(copy->folder, &validation, &err), 0, "the truth is read: %s",
	               err.text)) {
		tap_is_int(validation.n_exact, validation.n_orders - 1, "one order is not exact");
		tap_is_int(validation.first_wrong_run, 1, "and named");
		tap_ok(!validation.is_held, "so that not everything holds");
		validation_fini(&validation);
	}
}

int main(void)
{
	struct copy copy;

	if (!tap_ok(copy_make(&copy), "the truth is found"))
		return tap_done();
	copy_mend(&copy);
	test_missing_files(&copy);
	test_missing_columns(&copy);
	test_damages(&copy);
	test_wrong_time(&copy);
	copy_remove(&copy);
	return tap_done();
}
