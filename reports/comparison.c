/* comparison.c - stored runs become a comparison. */
#include "reports/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/comparison_internal.h"
#include "reports/settings.h"

/* strdup() in which NULL is "". */
static char *text_copy(const char *text)
{
	return strdup(text ? text : "");
}

/* What the runs share, from the first; the most iterations that any was asked for. */
static int copy_header(const struct stored_run *runs, size_t n_runs, struct store *store,
                       struct comparison *out)
{
	const struct stored_run *first = &runs[0];

	out->created = text_copy(first->created);
	out->store_path = text_copy(store_path(store));
	out->scenario_title = text_copy(first->scenario_title);
	out->scenario_path = text_copy(first->scenario_path);
	out->mode = text_copy(first->mode);
	out->settings_json = text_copy(first->settings_json);
	out->backends = comparison_backends(runs, n_runs);
	out->rnics = settings_text(first->facts_json, "rnics");
	if (!out->created || !out->store_path || !out->scenario_title || !out->scenario_path ||
	    !out->mode || !out->settings_json || !out->backends || !out->rnics)
		return -ENOMEM;
	out->seed = first->seed;
	out->speed = first->speed;
	out->n_stages = first->n_stages;
	out->n_replicas = first->n_replicas;
	out->n_microbatches = first->n_microbatches;
	out->n_warmup = first->n_warmup;
	for (size_t i = 0; i < n_runs; i++)
		if (runs[i].n_iterations > out->n_iterations_asked)
			out->n_iterations_asked = runs[i].n_iterations;
	return 0;
}

static int read_replans(struct store *store, int64_t run, struct run_numbers *numbers,
                        struct err *err)
{
	struct stored_decision *decisions;
	size_t n;
	int rc = store_read_decisions(store, run, &decisions, &n, err);

	if (rc)
		return rc;
	numbers->first_replan = -1;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(decisions[i].kind, "replan") != 0)
			continue;
		if (numbers->n_replans++ == 0)
			numbers->first_replan = decisions[i].iteration;
	}
	stored_decisions_fini(decisions, n);
	return 0;
}

/* Numbers of one run; its rows are given back before the next run is read. */
static int read_numbers(struct store *store, const struct stored_run *run,
                        struct run_numbers *numbers, struct err *err)
{
	struct record_iteration *rows;
	size_t n_rows;
	int rc = store_read_iterations(store, run->run, &rows, &n_rows, err);

	if (rc)
		return rc;
	rc = run_numbers_init(numbers, run, rows, n_rows, err);
	free(rows);
	return rc ? rc : read_replans(store, run->run, numbers, err);
}

static int read_all_numbers(struct store *store, struct run_set *set, struct err *err)
{
	set->numbers = array_new(set->n_runs, sizeof(*set->numbers));
	if (!set->numbers)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < set->n_runs; i++) {
		int rc = read_numbers(store, &set->runs[i], &set->numbers[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

/* Fill out from runs; on failure it is left empty. */
static int build(struct store *store, const struct stored_run *runs, size_t n_runs,
                 struct comparison *out, struct err *err)
{
	struct run_set set = {.runs = runs, .n_runs = n_runs, .is_whole = out->comparison != 0};
	int rc = read_all_numbers(store, &set, err);

	if (rc == 0 && copy_header(runs, n_runs, store, out))
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = run_set_group(&set, err);
	if (rc == 0)
		rc = comparison_add_schedules(&set, out, err);
	if (rc == 0)
		rc = comparison_add_speedups(&set, out, err);
	if (rc == 0)
		rc = comparison_add_control(&set, out, err);
	if (rc == 0)
		rc = comparison_add_events(&set, store, out, err);
	if (rc == 0)
		rc = comparison_add_links(&set, store, out, err);
	run_set_fini(&set);
	return rc;
}

int comparison_load(struct store *store, int64_t comparison, struct comparison *out,
                    struct err *err)
{
	struct store_query query = {.comparison = comparison};
	struct comparison made = {0};
	struct stored_run *runs;
	size_t n_runs;
	int rc = comparison ? 0 : store_last_comparison(store, &query.comparison, err);

	if (rc == 0)
		rc = store_read_runs(store, &query, &runs, &n_runs, err);
	if (rc)
		return rc;
	made.comparison = query.comparison;
	if (n_runs == 0)
		rc = err_set(err, -ENOENT,
		             "there are no runs of a comparison %" PRId64
		             " in '%s'; adaptra-bench list runs shows what there is",
		             query.comparison, store_path(store));
	else
		rc = build(store, runs, n_runs, &made, err);
	stored_runs_fini(runs, n_runs);
	if (rc == 0)
		rc = store_read_note(store, query.comparison, &made.note, err);
	if (rc == 0)
		rc = store_read_simulated(store, query.comparison, &made.simulated, err);
	if (rc)
		comparison_fini(&made);
	else
		*out = made;
	return rc;
}

/* Move the one run of that number into *out. */
static int read_run(struct store *store, int64_t number, struct stored_run *out, struct err *err)
{
	struct store_query query = {.run = number};
	struct stored_run *runs;
	size_t n_runs;
	int rc;

	if (number < 1)
		return err_set(err, -ENOENT, "%" PRId64 " is not a run's number; they start at 1",
		               number);
	rc = store_read_runs(store, &query, &runs, &n_runs, err);
	if (rc)
		return rc;
	if (n_runs != 1) {
		stored_runs_fini(runs, n_runs);
		return err_set(err, -ENOENT,
		               "there is no run %" PRId64
		               " in '%s'; adaptra-bench list runs shows what there is",
		               number, store_path(store));
	}
	*out = runs[0];
	free(runs); /* the strings of its one run are out's now */
	return 0;
}

static int read_named_runs(struct store *store, const int64_t *numbers, size_t n_numbers,
                           struct stored_run *runs, size_t *n_read_out, struct err *err)
{
	for (size_t i = 0; i < n_numbers; i++) {
		int rc = 0;

		for (size_t j = 0; j < i; j++)
			if (numbers[j] == numbers[i])
				rc = err_set(err, -EINVAL, "run %" PRId64 " is named twice",
				             numbers[i]);
		if (rc == 0)
			rc = read_run(store, numbers[i], &runs[i], err);
		if (rc)
			return rc;
		*n_read_out = i + 1;
	}
	return 0;
}

int comparison_load_runs(struct store *store, const int64_t *runs, size_t n_runs, bool is_forced,
                         struct comparison *out, struct err *err)
{
	struct comparison made = {0};
	struct stored_run *stored;
	size_t n_read = 0;
	int rc;

	if (n_runs == 0)
		return err_set(err, -EINVAL,
		               "no runs are named; adaptra-bench list runs shows what there is");
	stored = array_new(n_runs, sizeof(*stored));
	if (!stored)
		return err_set(err, -ENOMEM, "out of memory");
	rc = read_named_runs(store, runs, n_runs, stored, &n_read, err);
	if (rc == 0)
		rc = comparison_check_workloads(stored, n_runs, is_forced, &made, err);
	if (rc == 0)
		rc = build(store, stored, n_runs, &made, err);
	stored_runs_fini(stored, n_read);
	if (rc)
		comparison_fini(&made);
	else
		*out = made;
	return rc;
}

static void schedule_fini(struct comparison_schedule *schedule)
{
	free(schedule->name);
	free(schedule->plane);
	free(schedule->status);
	free(schedule->iteration_ms);
	free(schedule->restart_iterations);
	free(schedule->repeat_total_s);
	free(schedule->repeat_p50_ms);
	free(schedule->timeline_json);
	for (size_t i = 0; i < schedule->n_losses; i++)
		free(schedule->losses[i].loss);
	free(schedule->losses);
}

static void event_fini(struct comparison_event *event)
{
	free(event->label);
	free(event->links);
	free(event->p50_ms);
	free(event->published_ms);
}

void comparison_fini(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		schedule_fini(&comparison->schedules[i]);
	for (size_t i = 0; i < comparison->n_events; i++)
		event_fini(&comparison->events[i]);
	for (size_t i = 0; i < comparison->n_links; i++) {
		free(comparison->links[i].delay_model);
		free(comparison->links[i].passed);
	}
	free(comparison->schedules);
	free(comparison->events);
	free(comparison->links);
	free(comparison->speedups);
	free(comparison->control.schedule);
	free(comparison->created);
	free(comparison->store_path);
	free(comparison->scenario_title);
	free(comparison->scenario_path);
	free(comparison->mode);
	free(comparison->backends);
	free(comparison->note);
	free(comparison->warning);
	free(comparison->settings_json);
	free(comparison->rnics);
	*comparison = (struct comparison){0};
}

const struct comparison_speedup *comparison_speedup_of(const struct comparison *comparison,
                                                       size_t of, size_t over)
{
	for (size_t i = 0; i < comparison->n_speedups; i++)
		if (comparison->speedups[i].of == of && comparison->speedups[i].over == over)
			return &comparison->speedups[i];
	return NULL;
}

bool comparison_is_done(const struct comparison_schedule *schedule)
{
	return strcmp(schedule->status, "done") == 0;
}

size_t comparison_subject(const struct comparison *comparison)
{
	size_t fastest = comparison->n_schedules;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];

		if (!comparison_is_done(schedule))
			continue;
		if (strcmp(schedule->name, "adaptra") == 0)
			return i;
		if (fastest == comparison->n_schedules ||
		    schedule->total_s < comparison->schedules[fastest].total_s)
			fastest = i;
	}
	return fastest < comparison->n_schedules ? fastest : 0;
}
