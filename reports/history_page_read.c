/* history_page_read.c - judges every metric of every history, and reads what was new on the nights
 * that changed something. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/history_page.h"

static int fail_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory for the page");
}

static bool has_numbers(const struct nightly_history *history, size_t schedule,
                        enum nightly_metric metric)
{
	for (size_t i = 0; i < history->n_nights; i++)
		if (isfinite(history->schedules[schedule].values[metric][i]))
			return true;
	return false;
}

static int read_causes(struct history_chart *chart, struct store *store,
                       const struct nightly_history *history, struct err *err)
{
	const struct nightly_verdict *verdict = &chart->verdict;

	chart->causes = array_new(verdict->n_changes, sizeof(*chart->causes));
	if (!chart->causes)
		return fail_memory(err);
	for (size_t i = 0; i < verdict->n_changes; i++) {
		struct strbuf text = {0};
		int rc = nightly_read_cause(store, history, verdict->schedule,
		                            verdict->changes[i].night, &text, err);

		strbuf_add(&text, "");
		chart->causes[i] = strbuf_take(&text);
		if (rc)
			return rc;
		if (!chart->causes[i])
			return fail_memory(err);
	}
	return 0;
}

static int read_charts(struct history_scenario *scenario, struct store *store, struct err *err)
{
	const struct nightly_history *history = scenario->report->history;
	int rc = 0;

	scenario->charts =
		array_new(history->n_schedules * NIGHTLY_METRICS, sizeof(*scenario->charts));
	if (!scenario->charts)
		return fail_memory(err);
	for (size_t s = 0; s < history->n_schedules; s++)
		for (int m = 0; m < NIGHTLY_METRICS && rc == 0; m++) {
			struct history_chart *chart = &scenario->charts[scenario->n_charts];

			if (!has_numbers(history, s, m))
				continue;
			rc = nightly_judge(history, s, m, &chart->verdict, err);
			if (rc)
				return rc;
			scenario->n_charts++;
			rc = read_causes(chart, store, history, err);
		}
	return rc;
}

/* What tells the first run of a comparison from that of another. */
static int read_differences(struct store *store, int64_t before, int64_t after, struct strbuf *out,
                            struct err *err)
{
	struct stored_run *a = NULL, *b = NULL;
	size_t n_a = 0, n_b = 0;
	int rc = store_read_runs(store, &(struct store_query){.comparison = before}, &a, &n_a, err);

	if (rc == 0)
		rc = store_read_runs(store, &(struct store_query){.comparison = after}, &b, &n_b,
		                     err);
	if (rc == 0 && n_a > 0 && n_b > 0)
		rc = nightly_add_differences(&a[0], &b[0], out, err);
	stored_runs_fini(a, n_a);
	stored_runs_fini(b, n_b);
	return rc;
}

static int add_past(struct history_scenario *scenario, struct store *store,
                    const struct night_environment *environment, struct err *err)
{
	struct history_past *past = &scenario->pasts[scenario->n_pasts++];
	struct strbuf text = {0};
	int rc = read_differences(store, environment->last, scenario->report->comparison, &text,
	                          err);

	strbuf_add(&text, "");
	*past = (struct history_past){
		.n_nights = environment->n_nights,
		.first = strdup(environment->first_created),
		.last = strdup(environment->last_created),
		.differences = strbuf_take(&text),
	};
	if (rc == 0 && (!past->first || !past->last || !past->differences))
		rc = fail_memory(err);
	return rc;
}

/* Nights of the same scenario in other environments than tonight's. */
static int read_pasts(struct history_scenario *scenario, struct store *store, struct err *err)
{
	const struct nightly_history *history = scenario->report->history;
	struct night_environment *environments;
	int64_t tonight;
	size_t n;
	int rc;

	if (history->n_nights == 0)
		return 0;
	tonight = history->comparisons[history->n_nights - 1];
	rc = store_read_environments(store, tonight, &environments, &n, err);
	if (rc)
		return rc;
	scenario->pasts = array_new(n, sizeof(*scenario->pasts));
	if (!scenario->pasts)
		rc = fail_memory(err);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (environments[i].last != tonight)
			rc = add_past(scenario, store, &environments[i], err);
	stored_environments_fini(environments, n);
	return rc;
}

int history_page_read(struct history_page *page, struct store *store,
                      const struct nightly_report *reports, size_t n_reports, struct err *err)
{
	struct history_page read = {array_new(n_reports, sizeof(*read.scenarios)), n_reports};
	int rc = read.scenarios ? 0 : fail_memory(err);

	for (size_t i = 0; i < n_reports && rc == 0; i++) {
		read.scenarios[i].report = &reports[i];
		rc = read_charts(&read.scenarios[i], store, err);
		if (rc == 0)
			rc = read_pasts(&read.scenarios[i], store, err);
	}
	if (rc)
		history_page_fini(&read);
	else
		*page = read;
	return rc;
}

static void chart_fini(struct history_chart *chart)
{
	for (size_t i = 0; chart->causes && i < chart->verdict.n_changes; i++)
		free(chart->causes[i]);
	free(chart->causes);
	nightly_verdict_fini(&chart->verdict);
}

void history_page_fini(struct history_page *page)
{
	for (size_t i = 0; page->scenarios && i < page->n_scenarios; i++) {
		struct history_scenario *scenario = &page->scenarios[i];

		for (size_t c = 0; c < scenario->n_charts; c++)
			chart_fini(&scenario->charts[c]);
		for (size_t p = 0; p < scenario->n_pasts; p++) {
			free(scenario->pasts[p].first);
			free(scenario->pasts[p].last);
			free(scenario->pasts[p].differences);
		}
		free(scenario->charts);
		free(scenario->pasts);
	}
	free(page->scenarios);
	*page = (struct history_page){0};
}
