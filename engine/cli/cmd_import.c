/* cmd_import.c - `import FILE… --as WHAT`: profiles, records, tables, schedules and faults from
 * other programs' files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/base/file_writer.h"
#include "engine/base/interrupt.h"
#include "engine/base/nearest.h"
#include "engine/cli/command.h"
#include "engine/cli/hang_text.h"
#include "engine/cli/import_files.h"
#include "engine/cli/import_record.h"
#include "engine/cli/output.h"
#include "engine/cli/profile_text.h"
#include "engine/cli/scenario_text.h"
#include "engine/cli/trace_faults.h"
#include "engine/format/observed_order.h"
#include "engine/format/observed_table.h"
#include "engine/format/order_file.h"

/* Rows that are made before they are written. */
enum { ROWS_AT_ONCE = 4096, SOURCES_SHOWN = 3 };

struct import {
	const struct options *options;
	struct import_files files;
	struct strbuf next_text; /* the command that makes use of what was written */
};

/* What an import can be made into. Each fills out, or writes by itself and leaves it empty. */
struct target {
	const char *name;
	int (*make)(struct import *import, struct strbuf *out, struct err *err);
};

/* "mine" for "folder/mine.lua"; without --out there is no name to go by. */
static char *profile_name(const struct options *options)
{
	const char *base =
		options->out && strcmp(options->out, "-") != 0 ? options->out : "imported";
	size_t length;

	base = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
	length = strlen(base);
	if (length > 4 && strcmp(base + length - 4, ".lua") == 0)
		length -= 4;
	return strndup(base, length);
}

/* "imported from rank0.json, rank1.json and 6 more". */
static void add_sources(const struct text_list *paths, struct strbuf *out)
{
	strbuf_add(out, "imported from ");
	for (size_t i = 0; i < paths->n_items && i < SOURCES_SHOWN; i++) {
		const char *path = paths->items[i];

		strbuf_addf(out, "%s%s", i > 0 ? ", " : "",
		            strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	}
	if (paths->n_items > SOURCES_SHOWN)
		strbuf_addf(out, " and %zu more", paths->n_items - SOURCES_SHOWN);
}

/* What says nothing of ops says so itself; the reason is better than "no ops". */
static int check_observed(const struct import *import, struct err *err)
{
	const struct import_files *files = &import->files;

	if (files->format == IMPORT_KINETO || files->format == IMPORT_OP_LOG ||
	    files->format == IMPORT_TRAINING_LOG || files->format == IMPORT_SIMULATOR_DUMP)
		return 0;
	return err_set(err, -EINVAL, "%s is %s, which does not say how long ops took", files->name,
	               import_format_name(files->format));
}

static int make_profile(struct import *import, struct strbuf *out, struct err *err)
{
	struct profile_origin origin = {.is_intrusive = import->files.observed.is_intrusive};
	struct observed_profile profile;
	struct strbuf source = {0};
	char *name;
	int rc = check_observed(import, err);

	if (rc == 0)
		rc = observed_profile_make(&import->files.observed, &profile, err);
	if (rc < 0)
		return rc;
	name = profile_name(import->options);
	if (name == NULL)
		rc = err_set(err, -ENOMEM, "out of memory");
	add_sources(&import->options->arguments, &source);
	origin.name = name;
	origin.source = strbuf_text(&source);
	if (rc == 0)
		profile_text(&profile, &origin, out);
	if (profile.is_halved)
		output_note(import->options, "only whole backwards were measured: B and W are half "
		                             "of them each");
	strbuf_addf(&import->next_text,
	            "sim FILE.lua, for %d stages and with workload = ab.profile \"%s\" {}",
	            profile.n_stages, rc == 0 ? name : "");
	free(name);
	strbuf_fini(&source);
	observed_profile_fini(&profile);
	return rc;
}

/* Ops where there are any: a training log's means of iterations do not say what stages did. */
static int make_record(struct import *import, struct strbuf *out, struct err *err)
{
	int rc = check_observed(import, err);

	(void)out; /* nothing is written but the database */
	if (rc == 0 && import->options->out)
		return err_set(err, -EINVAL,
		               "a record goes into the database, which --store names; --out is for "
		               "--as table");
	if (rc == 0 && import->files.observed.n_ops == 0)
		return err_set(err, -EINVAL,
		               "%s is %s without ops, of which no record can be made; --as table "
		               "makes a table of its iterations",
		               import->files.name, import_format_name(import->files.format));
	return rc ? rc : import_record(import->options, &import->files, &import->next_text, err);
}

/* Too long to be made in one piece. */
static int make_table(struct import *import, struct strbuf *out, struct err *err)
{
	const char *path = import->options->out ? import->options->out : "-";
	struct observed_table table = observed_table_of(&import->files.observed);
	struct file_writer *file;
	int rc = check_observed(import, err);

	if (rc == 0 && table.n_rows == 0)
		return err_set(err, -EINVAL, "%s: nothing that is known here happened in it",
		               import->files.name);
	if (rc == 0)
		rc = file_writer_open(path, &file, err);
	if (rc < 0)
		return rc;
	for (size_t row = 0; row < table.n_rows && rc == 0; row += ROWS_AT_ONCE) {
		strbuf_clear(out);
		observed_table_add(&table, row, ROWS_AT_ONCE, out);
		rc = out->is_failed ? err_set(err, -ENOMEM, "out of memory")
		                    : file_writer_put(file, strbuf_text(out), out->length, err);
		if (rc == 0 && interrupt_is_pending())
			rc = err_set(err, -EINTR, "interrupted");
	}
	strbuf_clear(out);
	if (rc < 0)
		file_writer_abandon(file);
	else
		rc = file_writer_close(file, err);
	strbuf_add(&import->next_text,
	           import->files.observed.n_ops > 0 ? "import FILE… --as profile" : "help import");
	return rc;
}

static int make_schedule(struct import *import, struct strbuf *out, struct err *err)
{
	const struct import_files *files = &import->files;
	struct order_notes notes = {0};
	struct plan plan;
	int iteration = -1, rc;

	if (files->format == IMPORT_ORDER || files->format == IMPORT_SIMULATOR_DUMP) {
		rc = order_file_parse_noted(files->name, files->text, files->n_text, &notes, &plan,
		                            err);
	} else {
		rc = check_observed(import, err);
		if (rc == 0)
			rc = observed_order_make(&files->observed, &plan, &iteration, err);
	}
	if (rc < 0)
		return rc;
	if (iteration >= 0)
		output_note(import->options, "the order is that of iteration %d", iteration);
	else
		output_note(import->options, "read %zu actions of a %s, skipped %zu",
		            notes.n_actions, notes.format, notes.n_skipped);
	rc = order_file_write_csv(&plan, import->options->has_comms, out, err);
	plan_fini(&plan);
	strbuf_addf(&import->next_text, "sim FILE.lua --schedule csv:%s",
	            import->options->out ? import->options->out : "FILE.csv");
	return rc;
}

static int make_hang(struct import *import, struct strbuf *out, struct err *err)
{
	const struct flight_recorder *recorder = &import->files.recorder;
	struct strbuf text = {0};
	struct hang hang;
	int rc = flight_recorder_find_hang(recorder, &hang, err);

	if (rc < 0)
		return rc;
	hang_describe(&hang, recorder, &text);
	output_note(import->options, "%s", strbuf_text(&text));
	rc = hang_scenario(&hang, recorder, import->files.name, out, err);
	strbuf_fini(&text);
	hang_fini(&hang);
	return rc;
}

static int make_faults(struct import *import, struct strbuf *out, struct err *err)
{
	const struct import_files *files = &import->files;
	struct trace_faults faults;
	int rc;

	strbuf_addf(&import->next_text, "sim %s",
	            import->options->out ? import->options->out : "FILE.lua");
	if (files->format == IMPORT_FLIGHT_RECORDER)
		return make_hang(import, out, err);
	if (files->format != IMPORT_SLOW_LINK_TRACE)
		return err_set(err, -EINVAL,
		               "%s is %s, which says nothing of faults; wanted a "
		               "slow-link trace or dumps of the NCCL flight recorder",
		               files->name, import_format_name(files->format));
	rc = trace_faults_parse(files->name, files->text, files->n_text,
	                        (int)import->options->stage, &faults, err);
	if (rc < 0)
		return rc;
	if (faults.n_warnings > 0)
		output_note(import->options,
		            "%zu lines end a delay without naming links; read as: all links are "
		            "healthy",
		            faults.n_warnings);
	scenario_text(files->name, faults.n_links + 1, faults.faults, faults.n_faults, out);
	trace_faults_fini(&faults);
	return 0;
}

static const struct target targets[] = {
	{"profile", make_profile},   {"record", make_record}, {"table", make_table},
	{"schedule", make_schedule}, {"faults", make_faults},
};
enum { N_TARGETS = sizeof(targets) / sizeof(*targets) };

static const struct target *find_target(const char *name)
{
	const char *names[N_TARGETS];
	struct err err = {0};

	if (name == NULL) {
		output_error("import needs --as: profile, record, table, schedule or faults");
		return NULL;
	}
	for (size_t i = 0; i < N_TARGETS; i++) {
		names[i] = targets[i].name;
		if (strcmp(name, names[i]) == 0)
			return &targets[i];
	}
	(void)nearest_refuse("target of --as", name, names, N_TARGETS, &err);
	output_error("%s", err.text);
	return NULL;
}

/* The result, where it was asked for. 0, or -errno with err set. */
static int write_result(const struct import *import, const struct strbuf *out, struct err *err)
{
	const char *path = import->options->out ? import->options->out : "-";

	if (out->is_failed)
		return err_set(err, -ENOMEM, "out of memory");
	return out->length > 0 ? file_write(path, out->text, out->length, err) : 0;
}

/* What the user says of the files; *names_out is the caller's to free. */
static int read_rules(const struct options *options, struct import_rules *rules,
                      struct name_pattern **names_out, struct err *err)
{
	enum vocabulary vocabulary = VOCABULARY_PYTORCH;
	int rc = 0;

	if (options->words && !options->names)
		return err_set(err, -EINVAL,
		               "--words says what is meant in --names, which is "
		               "missing");
	if (options->words)
		rc = vocabulary_parse(options->words, &vocabulary, err);
	if (rc == 0 && options->names)
		rc = name_pattern_new(options->names, vocabulary, names_out, err);
	if (rc < 0)
		return rc;
	*rules = (struct import_rules){*names_out, (int)options->microbatches};
	return 0;
}

static int import(struct import *import, const struct target *target, struct strbuf *out,
                  struct err *err)
{
	int rc = import_files_read(&import->options->arguments, &import->files, err);

	if (rc < 0)
		return rc;
	import_files_tell(import->options, &import->files);
	rc = target->make(import, out, err);
	return rc < 0 ? rc : write_result(import, out, err);
}

int cmd_import(struct cli *cli)
{
	const struct target *target = find_target(cli->options.as);
	struct import state = {.options = &cli->options};
	struct name_pattern *names = NULL;
	struct strbuf out = {0};
	struct err err = {0};
	int code = EXIT_DONE;

	if (target == NULL)
		return EXIT_MISTAKE;
	interrupt_install();
	if (read_rules(&cli->options, &state.files.rules, &names, &err) ||
	    import(&state, target, &out, &err))
		code = output_failure(&err);
	else
		output_next(&cli->options, "%s", strbuf_text(&state.next_text));
	strbuf_fini(&state.next_text);
	strbuf_fini(&out);
	import_files_fini(&state.files);
	name_pattern_free(names);
	return code;
}
