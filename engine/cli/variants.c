/* variants.c - loads a script again with other options, and simulates it for its totals alone. */
#include "engine/cli/variants.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/cli/backend.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/progress.h"
#include "engine/cli/run_schedules.h"

static int load_one(const struct options *options, const struct paths *paths, const char *path,
                    const struct variant *variant, struct variant_run *run)
{
	int code = load_scenario(options, paths, path, variant, &run->loaded);

	if (code == EXIT_DONE)
		code = load_check_plans(&run->loaded, options);
	if (code)
		output_error("these are about the scenario's variant '%s'", variant->label);
	return code;
}

int variants_load(const struct options *options, const struct paths *paths,
                  const struct loaded *base, struct variants *out)
{
	const struct scenario *scenario = base->scenario;
	int code = EXIT_DONE;

	out->runs = array_new(scenario->n_variants, sizeof(*out->runs));
	out->reports = array_new(scenario->n_variants, sizeof(*out->reports));
	if (!out->runs || !out->reports) {
		output_error("out of memory");
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < scenario->n_variants && code == EXIT_DONE; i++) {
		out->reports[i].label = scenario->variants[i].label;
		out->n_runs = i + 1;
		code = load_one(options, paths, scenario->path, &scenario->variants[i],
		                &out->runs[i]);
	}
	return code;
}

void variants_set_live_messages(struct variants *variants)
{
	for (size_t i = 0; i < variants->n_runs; i++)
		backend_set_live_messages(variants->runs[i].loaded.scenario);
}

static double *find_total(struct variant_run *run, const struct comparison *comparison,
                          const char *schedule)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		if (strcmp(comparison->schedules[i].name, schedule) == 0)
			return &run->total_s[i];
	return NULL;
}

/* A schedule that fails under a variant has no total there; only an interrupt ends the rest. */
static int run_one(struct variant_run *run, const struct options *options, const char *label,
                   const struct comparison *comparison, struct progress *progress)
{
	const struct scenario *scenario = run->loaded.scenario;
	struct record_sink sink = record_null_sink();
	struct strbuf name = {0};
	int rc = 0;

	for (size_t i = 0; i < scenario->n_schedules && rc != -EINTR; i++) {
		struct sim_request request = loaded_request(&run->loaded, options, i, 0);
		double *total_s = find_total(run, comparison, scenario->schedules[i]);
		struct sim_totals totals;
		struct err err = {0};

		strbuf_clear(&name);
		strbuf_addf(&name, "%s, %s", label, scenario->schedules[i]);
		progress_begin_run(progress, strbuf_text(&name), scenario->n_iterations, &sink);
		rc = sim_run(&request, &progress->sink, &totals, &err);
		progress_end_run(progress, run_status(rc));
		if (rc == 0 && total_s)
			*total_s = (double)totals.total_ns / NS_PER_S;
		if (rc && rc != -EINTR)
			output_error("%s failed: %s", strbuf_text(&name), err.text);
	}
	strbuf_fini(&name);
	return rc == -EINTR ? EXIT_INTERRUPTED : EXIT_DONE;
}

int variants_run(struct variants *variants, const struct options *options,
                 const struct comparison *comparison)
{
	struct progress progress;
	int64_t n_total = 0;
	int code = EXIT_DONE;

	for (size_t i = 0; i < variants->n_runs; i++) {
		const struct scenario *scenario = variants->runs[i].loaded.scenario;

		n_total += (int64_t)scenario->n_schedules * scenario->n_iterations;
	}
	progress_init(&progress, options, n_total);
	for (size_t i = 0; i < variants->n_runs; i++) {
		struct variant_run *run = &variants->runs[i];

		run->total_s = array_new(comparison->n_schedules, sizeof(double));
		if (!run->total_s) {
			output_error("out of memory");
			return EXIT_RUN_FAILED;
		}
		for (size_t j = 0; j < comparison->n_schedules; j++)
			run->total_s[j] = NAN;
		variants->reports[i].total_s = run->total_s;
		if (code == EXIT_DONE)
			code = run_one(run, options, variants->reports[i].label, comparison,
			               &progress);
	}
	return code;
}

void variants_fini(struct variants *variants)
{
	for (size_t i = 0; i < variants->n_runs; i++) {
		if (variants->runs[i].loaded.script)
			loaded_fini(&variants->runs[i].loaded);
		free(variants->runs[i].total_s);
	}
	free(variants->runs);
	free(variants->reports);
	*variants = (struct variants){0};
}
