/* run_schedules.c - the loop over schedules and repeats.
 *
 * Repeats go forwards and backwards through the schedules (A B C C B A), so that what changes
 * slowly on a machine hits all of them alike; in virtual time that changes nothing, but the order
 * is the same. A control is the first schedule once more behind the last, where the two are as far
 * apart as any two can be (A B C A A C B A). */
#include "engine/cli/run_schedules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/facts.h"
#include "engine/cli/output.h"
#include "engine/cli/progress.h"
#include "engine/cli/settings.h"
#include "reports/comparison_live.h"

enum {
	LABEL_BYTES = 128,
	HOST_BYTES = 256,
	UNSURE_SHARE = 10, /* one of so many messages that nobody can judge is worth a warning */
};

struct runner {
	struct backend *backend;
	const struct loaded *loaded;
	const struct options *options;
	struct store *store;
	int64_t comparison;
	char host[HOST_BYTES];
	struct progress progress;
};

/* One run on its way through the runner. */
struct attempt {
	size_t schedule;
	bool is_control;
	int repeat;
	int place;   /* among the comparison's runs */
	int64_t run; /* its number in the store */
	struct record_sink *sink;
	char label[LABEL_BYTES];
	bool is_lost;                       /* the store takes no more */
	struct record_iteration *simulated; /* the same in virtual time; NULL: it was not */
	size_t n_simulated;
};

static struct record_run describe_run(const struct runner *runner, const struct attempt *attempt,
                                      const char *settings)
{
	size_t i = attempt->schedule;
	const struct scenario *scenario = runner->loaded->scenario;
	const struct topology *topology = &scenario->topology;
	const struct backend *backend = runner->backend;

	return (struct record_run){
		.scenario_title = scenario->title,
		.scenario_path = scenario->path,
		.scenario_digest = scenario->text_digest,
		.workload_fingerprint = scenario_workload_fingerprint(scenario),
		.schedule = scenario->schedules[i],
		.plane = loaded_plane(runner->loaded, i),
		.mode = backend->is_live ? "live" : "sim",
		.device = backend->is_live ? backend->device->name : "virtual",
		.transport = backend_transport_name(backend),
		.injector = backend->is_live ? backend->applies : "virtual",
		.timer = backend_timer(backend),
		.seed = scenario->seed,
		.repeat_seed = scenario_repeat_seed(scenario, attempt->repeat),
		.repeat = attempt->repeat,
		.place = attempt->place,
		.is_control = attempt->is_control,
		.n_stages = topology->n_stages,
		.n_replicas = topology->n_replicas,
		.n_microbatches = scenario->n_microbatches,
		.samples_per_iteration = scenario->profile.samples_per_microbatch *
	                                 scenario->n_microbatches * topology->n_replicas,
		.n_iterations = scenario->n_iterations,
		.n_warmup = scenario->n_warmup,
		.is_oracle = runner->options->is_oracle,
		.speed = backend->is_live ? backend->speed : 1,
		.host = runner->host,
		.version = version_text(),
		.settings_json = settings,
	};
}

static int begin_run(struct runner *runner, struct attempt *attempt, struct err *err)
{
	const struct loaded *loaded = runner->loaded;
	struct strbuf settings = {0};
	struct record_run run;
	const struct options *options = runner->options;
	const struct store_new_run new_run = {
		.comparison = runner->comparison,
		.run = &run,
		.scenario = loaded->scenario,
		.keeps_ops = !options->skips_ops,
		.keeps_messages = runner->backend->is_live || options->wants_messages,
	};
	int rc;

	settings_write(loaded, runner->options, attempt->schedule, runner->backend, &settings);
	run = describe_run(runner, attempt, strbuf_text(&settings));
	if (settings.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory for the settings of a run");
	else
		rc = store_begin_run(runner->store, &new_run, &attempt->run, &attempt->sink, err);
	attempt->is_lost = rc != 0;
	strbuf_fini(&settings);
	return rc;
}

const char *run_status(int rc)
{
	if (rc == -EINTR)
		return "interrupted";
	return rc ? "failed" : "done";
}

static bool is_same_run(const struct stored_run *run, const struct runner *runner,
                        const struct attempt *attempt)
{
	return strcmp(run->schedule, runner->loaded->scenario->schedules[attempt->schedule]) == 0 &&
	       run->repeat == attempt->repeat && run->is_control == attempt->is_control;
}

/* What the run took in virtual time, if it was simulated before. */
static int read_simulated(const struct runner *runner, struct attempt *attempt, struct err *err)
{
	struct store_query query = {0};
	struct stored_run *runs;
	size_t n;
	int rc = store_read_simulated(runner->store, runner->comparison, &query.comparison, err);

	if (rc || query.comparison == 0)
		return rc;
	rc = store_read_runs(runner->store, &query, &runs, &n, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n && rc == 0 && !attempt->simulated; i++)
		if (is_same_run(&runs[i], runner, attempt))
			rc = store_read_iterations(runner->store, runs[i].run, &attempt->simulated,
			                           &attempt->n_simulated, err);
	stored_runs_fini(runs, n);
	return rc;
}

/* Let who sits at the terminal see what happens. */
static int watch(struct runner *runner, struct attempt *attempt, struct err *err)
{
	struct progress_beside beside = {.scenario = runner->loaded->scenario};
	int rc;

	if (!runner->backend->is_live)
		return 0;
	rc = read_simulated(runner, attempt, err);
	if (rc)
		return rc;
	beside.simulated = attempt->simulated;
	beside.n_simulated = attempt->n_simulated;
	runner->backend->watcher = progress_watch(&runner->progress, &beside);
	return 0;
}

/* Faults that nobody put into force. */
static void tell_timeline(const struct runner *runner, const struct attempt *attempt)
{
	const char *line = strbuf_text(&runner->backend->timeline);

	while (*line) {
		int n = (int)strcspn(line, "\n");

		output_note(runner->options, "%s, on paper only: %.*s", attempt->label, n, line);
		line += n + (line[n] == '\n');
	}
}

/* Workers start before the run's clock does, and end before its row is closed. */
static int run_iterations(struct runner *runner, struct attempt *attempt, struct err *err)
{
	struct sim_request request =
		loaded_request(runner->loaded, runner->options, attempt->schedule, attempt->repeat);
	struct sim_totals totals;
	struct err end_err = {0};
	int end_rc,
		rc = backend_begin(runner->backend, runner->loaded->scenario, attempt->repeat, err);

	request.executor = runner->backend->executor;
	if (rc == 0)
		rc = sim_run(&request, &runner->progress.sink, &totals, err);
	end_rc = backend_end(runner->backend, &end_err);
	tell_timeline(runner, attempt);
	if (rc || end_rc == 0)
		return rc;
	*err = end_err;
	return end_rc;
}

/* What a reader needs to trust a live run goes into the record; what spoils it is said at once. */
static int put_facts(const struct runner *runner, const struct attempt *attempt, struct err *err)
{
	const struct backend *backend = runner->backend;
	struct strbuf json = {0};
	int rc;

	if (!backend->is_live || backend->facts.n_workers == 0)
		return 0;
	if (comparison_is_crowded(backend->facts.foreign_cores))
		output_note(runner->options,
		            "warning: %s: other programs kept %.2f cores busy, so times are longer "
		            "than they would be on a free machine",
		            attempt->label, backend->facts.foreign_cores);
	if (backend->facts.n_unsure > backend->facts.n_judged / UNSURE_SHARE)
		output_note(runner->options,
		            "warning: %s: of %.0f %% of the messages nobody can tell how long they "
		            "took, since the workers had no core then; slow links are found later",
		            attempt->label,
		            100.0 * (double)backend->facts.n_unsure /
		                    (double)backend->facts.n_judged);
	facts_write(backend, &json);
	if (json.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory for the facts of a run");
	else
		rc = store_put_facts(runner->store, attempt->run, strbuf_text(&json), err);
	strbuf_fini(&json);
	return rc;
}

static int run_attempt(struct runner *runner, struct attempt *attempt, struct err *err)
{
	struct progress *progress = &runner->progress;
	struct err end_err = {0};
	int rc, facts_rc, end_rc;

	progress_begin_run(progress, attempt->label, runner->loaded->scenario->n_iterations,
	                   attempt->sink);
	rc = watch(runner, attempt, err);
	rc = rc ? rc : run_iterations(runner, attempt, err);
	progress_end_run(progress, run_status(rc));
	free(attempt->simulated);
	facts_rc = put_facts(runner, attempt, rc ? NULL : err);
	strbuf_fini(&runner->backend->timeline);
	rc = rc ? rc : facts_rc;
	end_rc = store_end_run(runner->store, attempt->run, run_status(rc), rc ? err->text : "",
	                       &end_err);
	attempt->is_lost = progress->has_sink_failed || facts_rc || end_rc;
	if (rc == 0 && end_rc)
		*err = end_err;
	return rc ? rc : end_rc;
}

static void label(const struct runner *runner, struct attempt *attempt)
{
	const struct scenario *scenario = runner->loaded->scenario;
	const char *schedule = scenario->schedules[attempt->schedule];

	if (scenario->n_repeats > 1)
		snprintf(attempt->label, LABEL_BYTES, "%.80s%s, repeat %d of %d", schedule,
		         attempt->is_control ? " again" : "", attempt->repeat + 1,
		         scenario->n_repeats);
	else
		snprintf(attempt->label, LABEL_BYTES, "%.80s", schedule);
}

static int run_one(struct runner *runner, struct attempt *attempt)
{
	struct err err = {0};
	int rc;

	label(runner, attempt);
	rc = begin_run(runner, attempt, &err);
	if (rc == 0)
		rc = run_attempt(runner, attempt, &err);
	if (rc == 0)
		return EXIT_DONE;
	if (rc == -EINTR && !attempt->is_lost)
		return EXIT_INTERRUPTED;
	output_error("%s failed: %s", attempt->label, err.text);
	return EXIT_RUN_FAILED;
}

/* How many runs a repeat has. */
static size_t count_runs(const struct runner *runner)
{
	return runner->loaded->scenario->n_schedules + runner->options->has_control;
}

/* All schedules once, and the control. */
static int run_repeat(struct runner *runner, int repeat, bool *is_lost)
{
	size_t n_schedules = runner->loaded->scenario->n_schedules, n = count_runs(runner);
	int code = EXIT_DONE;

	for (size_t i = 0; i < n && !*is_lost; i++) {
		size_t which = repeat % 2 ? n - 1 - i : i;
		struct attempt attempt = {
			.schedule = which % n_schedules,
			.is_control = which >= n_schedules,
			.repeat = repeat,
			.place = repeat * (int)n + (int)i,
		};
		int run_code;

		if (interrupt_is_pending())
			return EXIT_INTERRUPTED;
		run_code = run_one(runner, &attempt);
		if (run_code == EXIT_INTERRUPTED)
			return run_code;
		code = run_code ? run_code : code;
		*is_lost = attempt.is_lost;
	}
	return code;
}

int run_schedules(const struct loaded *loaded, const struct options *options,
                  struct backend *backend, struct store *store, int64_t comparison)
{
	const struct scenario *scenario = loaded->scenario;
	struct runner runner = {backend, loaded, options, store, comparison, .host = ""};
	int code = EXIT_DONE;
	bool is_lost = false;

	if (gethostname(runner.host, sizeof(runner.host) - 1))
		runner.host[0] = '\0';
	progress_init(&runner.progress, options,
	              (int64_t)count_runs(&runner) * scenario->n_repeats * scenario->n_iterations);
	for (int repeat = 0; repeat < scenario->n_repeats && !is_lost; repeat++) {
		int repeat_code = run_repeat(&runner, repeat, &is_lost);

		if (repeat_code == EXIT_INTERRUPTED)
			return repeat_code;
		code = repeat_code ? repeat_code : code;
	}
	return code;
}
