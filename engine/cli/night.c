/* night.c - one scenario as one more night of its history. */
#include "engine/cli/night.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/run_schedules.h"
#include "engine/cli/session.h"

int night_load(struct night *night, const struct options *options, const struct paths *paths,
               const char *name)
{
	int code;

	*night = (struct night){.options = options};
	code = load_scenario(options, paths, name, NULL, &night->loaded);
	if (code == EXIT_DONE)
		code = load_check_plans(&night->loaded, options);
	if (code == EXIT_DONE && !options->is_virtual)
		code = session_choose_live(options, &night->loaded, &night->backend);
	if (code == EXIT_DONE && options->is_virtual)
		code = session_check_virtual(options, &night->loaded);
	return code;
}

/* Mean over the schedule's runs that know it; NaN: none does. */
static int read_transfer(struct store *store, const struct stored_run *runs, size_t n_runs,
                         const char *schedule, double *ms_out, struct err *err)
{
	double sum_ns = 0;
	int n = 0;

	for (size_t i = 0; i < n_runs; i++) {
		double ns;
		int rc;

		if (runs[i].is_control || strcmp(runs[i].schedule, schedule) != 0)
			continue;
		rc = store_read_transfer_ns(store, runs[i].run, &ns, err);
		if (rc)
			return rc;
		sum_ns += isfinite(ns) ? ns : 0;
		n += isfinite(ns) != 0;
	}
	*ms_out = n ? sum_ns / n / NS_PER_MS : NAN;
	return 0;
}

/* Put the comparison's numbers into the history. */
static int put_values(struct night *night, const struct comparison *comparison,
                      const struct stored_run *runs, size_t n_runs, bool is_fresh, struct err *err)
{
	size_t n_schedules = comparison->n_schedules;
	struct night_value *values = array_new(n_schedules * NIGHTLY_METRICS, sizeof(*values));
	double *transfer_ms = array_new(n_schedules, sizeof(*transfer_ms));
	int rc = values && transfer_ms ? 0 : err_set(err, -ENOMEM, "out of memory");

	for (size_t s = 0; s < n_schedules && rc == 0; s++)
		rc = read_transfer(night->store, runs, n_runs, comparison->schedules[s].name,
		                   &transfer_ms[s], err);
	if (rc == 0)
		rc = store_put_night(night->store, night->environment, values,
		                     nightly_values(comparison, transfer_ms, is_fresh, values),
		                     err);
	free(values);
	free(transfer_ms);
	return rc;
}

static int keep(struct night *night, const struct comparison *comparison, bool is_fresh,
                struct err *err)
{
	const struct store_query query = {.comparison = comparison->comparison};
	struct stored_run *runs;
	size_t n_runs;
	int rc = store_read_runs(night->store, &query, &runs, &n_runs, err);

	if (rc)
		return rc;
	if (n_runs > 0)
		night->environment = nightly_environment(&runs[0]);
	rc = put_values(night, comparison, runs, n_runs, is_fresh, err);
	stored_runs_fini(runs, n_runs);
	return rc;
}

/* Run all schedules as one comparison, and keep its numbers. */
static int measure(struct night *night, bool is_fresh, int64_t *comparison_out)
{
	struct comparison comparison;
	struct err err = {0};
	int code, losses;

	if (store_begin_comparison(night->store, night->loaded.scenario, comparison_out, &err))
		return output_failure(&err), EXIT_RUN_FAILED;
	code = run_schedules(&night->loaded, night->options, &night->backend, night->store,
	                     *comparison_out);
	if (code == EXIT_INTERRUPTED)
		return code;
	if (comparison_load(night->store, *comparison_out, &comparison, &err))
		return output_failure(&err), EXIT_RUN_FAILED;
	losses = session_check_losses(&comparison);
	code = code ? code : losses;
	if (keep(night, &comparison, is_fresh, &err))
		code = (output_failure(&err), EXIT_RUN_FAILED);
	if (is_fresh) {
		comparison_fini(&comparison);
	} else {
		night->result = comparison;
		night->has_result = true;
	}
	return code;
}

static void forget_verdicts(struct night *night)
{
	for (size_t i = 0; i < night->n_verdicts; i++)
		nightly_verdict_fini(&night->verdicts[i]);
	free(night->verdicts);
	night->verdicts = NULL;
	night->n_verdicts = 0;
	nightly_fini(&night->history);
}

/* A schedule that is no longer in the scenario is not judged, nor is any if no run of tonight came
 * to its end. */
static bool ran_tonight(const struct night *night, size_t schedule)
{
	const struct scenario *scenario = night->loaded.scenario;
	const struct nightly_history *history = &night->history;

	if (history->comparisons[history->n_nights - 1] != night->comparison)
		return false;

	for (size_t i = 0; i < scenario->n_schedules; i++)
		if (strcmp(scenario->schedules[i], history->schedules[schedule].name) == 0)
			return true;
	return false;
}

static int judge_all(struct night *night, struct err *err)
{
	size_t n_schedules = night->history.n_schedules;

	night->verdicts = array_new(n_schedules * NIGHTLY_JUDGED, sizeof(*night->verdicts));
	if (!night->verdicts)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t s = 0; s < n_schedules; s++)
		for (int m = 0; m < NIGHTLY_JUDGED && ran_tonight(night, s); m++) {
			int rc = nightly_judge(&night->history, s, m,
			                       &night->verdicts[night->n_verdicts], err);

			if (rc)
				return rc;
			night->n_verdicts++;
		}
	return 0;
}

static int judge(struct night *night)
{
	struct err err = {0};

	forget_verdicts(night);
	if (nightly_load(night->store, night->environment, &night->history, &err) ||
	    judge_all(night, &err))
		return output_failure(&err), EXIT_RUN_FAILED;
	return EXIT_DONE;
}

static bool has_suspect(const struct night *night)
{
	for (size_t i = 0; i < night->n_verdicts; i++)
		if (night->verdicts[i].state == NIGHTLY_SUSPECT)
			return true;
	return false;
}

static int put_alarms(struct night *night)
{
	for (size_t i = 0; i < night->n_verdicts; i++) {
		const struct nightly_verdict *verdict = &night->verdicts[i];
		const struct change *last = &verdict->changes[verdict->n_changes - 1];
		struct err err = {0};

		if (verdict->state != NIGHTLY_REGRESSION)
			continue;
		if (store_put_alarm(
			    night->store, night->environment,
			    &(struct night_alarm){
				    .comparison = night->comparison,
				    .schedule = night->history.schedules[verdict->schedule].name,
				    .metric = (char *)nightly_metric_name(verdict->metric),
				    .since = night->history.comparisons[last->night],
				    .before = last->before,
				    .after = last->after,
				    .p = last->p,
			    },
			    &err))
			return output_failure(&err), EXIT_RUN_FAILED;
	}
	return EXIT_DONE;
}

/* Make a fresh run for what became slower. */
static int confirm(struct night *night)
{
	int64_t fresh;
	int code;

	output_note(night->options, "something became slower; once more, to see whether it stays");
	code = measure(night, true, &fresh);
	return code ? code : judge(night);
}

int night_run(struct night *night, struct store *store)
{
	int code, judged;

	night->store = store;
	if (gethostname(night->host, sizeof(night->host) - 1))
		night->host[0] = '\0';
	output_note(night->options, "%s", night->loaded.scenario->title);
	code = measure(night, false, &night->comparison);
	night->has_failed = code != EXIT_DONE;
	if (code == EXIT_INTERRUPTED)
		return code;
	judged = judge(night);
	if (judged == EXIT_DONE && has_suspect(night))
		judged = confirm(night);
	if (judged == EXIT_DONE)
		judged = put_alarms(night);
	return judged == EXIT_INTERRUPTED || !code ? judged : code;
}

struct nightly_report night_report(const struct night *night)
{
	return (struct nightly_report){
		.title = night->loaded.scenario->title,
		.path = night->loaded.scenario->path,
		.mode = night->backend.is_live ? "live" : "sim",
		.transport = night->backend.is_live ? night->backend.transports : "virtual",
		.host = night->host,
		.scenario = night->loaded.scenario,
		.night = night->has_result ? &night->result : NULL,
		.comparison = night->comparison,
		.has_failed = night->has_failed,
		.history = &night->history,
		.verdicts = night->verdicts,
		.n_verdicts = night->n_verdicts,
	};
}

void night_fini(struct night *night)
{
	forget_verdicts(night);
	if (night->has_result)
		comparison_fini(&night->result);
	if (night->loaded.script)
		loaded_fini(&night->loaded);
}
