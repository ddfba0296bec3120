/* import_record.c - what other programs' files say happened, as runs in the database.
 *
 * All runs are made and checked before the database is opened, so that files that are no good leave
 * nothing in it. A run's scenario says what is known: its pipeline and its workload's shape, but
 * not what ops should take, so that runs of one job have one fingerprint. */
#include "engine/cli/import_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/interrupt.h"
#include "engine/base/json_write.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/run_schedules.h"
#include "engine/cli/stored.h"
#include "engine/format/observed_record.h"
#include "engine/scenario/digest.h"
#include "engine/store/store.h"

static const char imported[] = "imported";

enum { DIGEST_BYTES = 17 };

struct importing {
	const struct options *options;
	const struct import_files *files;
	struct observed_record *records;
	int n_records;
	struct store *store;
};

/* "iterations 120 to 125", "iterations 6, 14" as the source counts. */
static void add_numbers(const struct observed_record *record, struct strbuf *out)
{
	const struct observed_slice *iterations = record->iterations;
	size_t n = record->n_iterations;

	strbuf_addf(out, "iteration%s", n == 1 ? "" : "s");
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && iterations[end].number == iterations[end - 1].number + 1)
			end++;
		strbuf_addf(out, "%s %d", i ? "," : "", iterations[i].number);
		if (end - i > 1)
			strbuf_addf(out, " to %d", iterations[end - 1].number);
	}
}

/* What a reader of the numbers has to know. */
static void add_note(const struct importing *importing, const struct observed_record *record,
                     struct strbuf *out)
{
	const struct observed *observed = &importing->files->observed;

	strbuf_addf(out, "Imported from %s: ", import_format_name(importing->files->format));
	add_numbers(record, out);
	strbuf_add(out,
	           " of the source, counted from 0 here. An iteration lasts from the start of "
	           "its first op to the end of its last. What held a stage was not measured: all "
	           "its idle time is waiting, and the plane is not known.");
	if (record->n_left_out > 0)
		strbuf_addf(out, " %zu iteration%s, not whole, %s left out.", record->n_left_out,
		            record->n_left_out == 1 ? "" : "s",
		            record->n_left_out == 1 ? "was" : "were");
	if (record->is_laid_out)
		strbuf_add(out, " The source's clock starts anew in each iteration; they were put "
		                "one behind the other.");
	if (record->has_whole_backwards)
		strbuf_add(out, " B is the whole backward.");
	if (observed->is_intrusive)
		strbuf_add(out, " Measuring took time itself.");
}

/* What was read, whatever the files are called. */
static void digest_of(const struct observed_record *record, char out[DIGEST_BYTES])
{
	uint64_t digest = DIGEST_START;

	for (size_t i = 0; i < record->n_ops; i++) {
		digest = digest_int(digest, record->ops[i]->start_ns);
		digest = digest_int(digest, record->ops[i]->end_ns);
		digest = digest_int(digest, record->ops[i]->kind);
	}
	snprintf(out, DIGEST_BYTES, "%016" PRIx64, digest);
}

static int fill_scenario(const struct importing *importing, const struct observed_record *record,
                         struct scenario *out, struct err *err)
{
	struct strbuf title = {0}, note = {0};
	char digest[DIGEST_BYTES];

	scenario_init(out);
	digest_of(record, digest);
	strbuf_addf(&title, "Imported from %s", importing->files->name);
	if (record->segment > 0)
		strbuf_addf(&title, ", run %d of the file", record->segment + 1);
	add_note(importing, record, &note);
	out->title = strbuf_take(&title);
	out->path = strdup(importing->files->name);
	out->text_digest = strdup(digest);
	out->note = strbuf_take(&note);
	out->profile.name = strdup(imported);
	out->profile.source = strdup(import_format_name(importing->files->format));
	out->profile.message_bytes = record->message_bytes;
	out->topology.n_stages = record->n_stages;
	out->topology.n_replicas = record->n_replicas;
	out->n_microbatches = record->n_microbatches;
	out->n_iterations = (int)record->n_iterations;
	out->n_warmup = record->n_warmup;
	if (out->title && out->path && out->text_digest && out->note && out->profile.name &&
	    out->profile.source)
		return 0;
	return err_set(err, -ENOMEM, "out of memory");
}

/* Settings as other runs have them, as far as they are known. */
static void write_settings(const struct importing *importing, const struct scenario *scenario,
                           struct strbuf *out)
{
	const struct text_list *files = &importing->options->arguments;
	struct strbuf key = {0};
	struct json_write json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	json_string(&json, "title", scenario->title);
	json_string(&json, "path", scenario->path);
	json_string(&json, "digest", scenario->text_digest);
	for (size_t i = 0; i < files->n_items; i++) {
		strbuf_clear(&key);
		strbuf_addf(&key, "imported.file.%zu", i);
		json_string(&json, strbuf_text(&key), files->items[i]);
	}
	json_string(&json, "imported.format", scenario->profile.source);
	json_int(&json, "topology.stages", scenario->topology.n_stages);
	json_int(&json, "topology.replicas", scenario->topology.n_replicas);
	json_int(&json, "profile.message_bytes", scenario->profile.message_bytes);
	json_int(&json, "microbatches", scenario->n_microbatches);
	json_int(&json, "iterations", scenario->n_iterations);
	json_int(&json, "warmup", scenario->n_warmup);
	json_string(&json, "schedule", imported);
	json_close(&json);
	out->is_failed |= key.is_failed;
	strbuf_fini(&key);
}

static struct record_run describe(const struct scenario *scenario,
                                  const struct observed_record *record, const char *settings)
{
	return (struct record_run){
		.scenario_title = scenario->title,
		.scenario_path = scenario->path,
		.scenario_digest = scenario->text_digest,
		.workload_fingerprint = scenario_workload_fingerprint(scenario),
		.schedule = imported,
		.plane = PLANE_STREAM,
		.mode = imported,
		.device = imported,
		.transport = imported,
		.injector = "none",
		.timer = record->timer,
		.n_stages = record->n_stages,
		.n_replicas = record->n_replicas,
		.n_microbatches = record->n_microbatches,
		.samples_per_iteration = record->n_microbatches * record->n_replicas,
		.n_iterations = scenario->n_iterations,
		.n_warmup = scenario->n_warmup,
		.speed = 1,
		.host = "",
		.version = version_text(),
		.settings_json = settings,
	};
}

static int put_iterations(struct observed_record *record, struct record_sink *sink, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->n_iterations && rc == 0; i++) {
		const struct record_iteration iteration = observed_record_iteration(record, i);

		rc = record_put_iteration(sink, &iteration, err);
		if (rc == 0 && interrupt_is_pending())
			rc = err_set(err, -EINTR, "interrupted");
	}
	return rc;
}

static int put_run(const struct importing *importing, struct observed_record *record,
                   const struct scenario *scenario, int64_t *run_out, struct err *err)
{
	struct strbuf settings = {0};
	struct store_new_run new_run = {
		.scenario = scenario, .keeps_ops = true, .keeps_messages = record->has_messages};
	struct record_sink *sink;
	struct record_run run;
	struct err end_err = {0};
	int rc, end_rc;

	write_settings(importing, scenario, &settings);
	run = describe(scenario, record, strbuf_text(&settings));
	new_run.run = &run;
	rc = settings.is_failed
	             ? err_set(err, -ENOMEM, "out of memory for the settings")
	             : store_begin_comparison(importing->store, scenario, &new_run.comparison, err);
	rc = rc ? rc : store_begin_run(importing->store, &new_run, run_out, &sink, err);
	strbuf_fini(&settings);
	if (rc)
		return rc;
	rc = put_iterations(record, sink, err);
	end_rc = store_end_run(importing->store, *run_out, run_status(rc), rc ? err->text : "",
	                       rc ? &end_err : err);
	return rc ? rc : end_rc;
}

static int store_record(const struct importing *importing, struct observed_record *record,
                        struct strbuf *next, struct err *err)
{
	struct scenario scenario;
	int64_t run = 0;
	int rc = fill_scenario(importing, record, &scenario, err);

	rc = rc ? rc : put_run(importing, record, &scenario, &run, err);
	if (rc == 0) {
		output_note(importing->options, "run %" PRId64 ": %s", run, scenario.note);
		if (importing->n_records > 1)
			strbuf_addf(next, " %" PRId64, run);
	}
	scenario_fini(&scenario);
	return rc;
}

static int store_records(struct importing *importing, struct strbuf *next, struct err *err)
{
	struct err close_err = {0};
	int close_rc, rc = stored_open_to_write(importing->options, &importing->store, err);

	if (rc)
		return rc;
	/* Alone it is the last comparison, and its note is shown with it. */
	strbuf_add(next, "report");
	for (int i = 0; i < importing->n_records && rc == 0; i++)
		rc = store_record(importing, &importing->records[i], next, err);
	if (importing->options->store)
		strbuf_addf(next, " --store %s", importing->options->store);
	close_rc = store_close(importing->store, rc ? &close_err : err);
	return rc ? rc : close_rc;
}

static int make_records(struct importing *importing, struct err *err)
{
	const struct observed *observed = &importing->files->observed;
	int n = observed_n_segments(observed), rc = 0;

	importing->records = array_new((size_t)n, sizeof(*importing->records));
	if (!importing->records)
		return err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < n && rc == 0; i++) {
		rc = observed_record_make(observed, i, &importing->records[i], err);
		if (rc == 0)
			importing->n_records++;
		else if (n > 1)
			(void)err_wrap(err, "run %d of the files", i + 1);
	}
	return rc ? err_wrap(err, "%s", importing->files->name) : 0;
}

int import_record(const struct options *options, const struct import_files *files,
                  struct strbuf *next, struct err *err)
{
	struct importing importing = {.options = options, .files = files};
	int rc = make_records(&importing, err);

	rc = rc ? rc : store_records(&importing, next, err);
	for (int i = 0; i < importing.n_records; i++)
		observed_record_fini(&importing.records[i]);
	free(importing.records);
	return rc;
}
