/* nightly_judge.c - what the history of a metric says of its last night. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/nightly.h"

static size_t count_numbers(const double *values, size_t n)
{
	size_t n_numbers = 0;

	for (size_t i = 0; i < n; i++)
		n_numbers += isfinite(values[i]) != 0;
	return n_numbers;
}

/* Lone spikes are of no level. */
static double mean_of(const double *values, const bool *is_outlier, size_t first, size_t end)
{
	double sum = 0;
	int n = 0;

	for (size_t i = first; i < end; i++) {
		if (!isfinite(values[i]) || is_outlier[i])
			continue;
		sum += values[i];
		n++;
	}
	return n ? sum / n : NAN;
}

void nightly_attribute(const struct nightly_history *history, const struct nightly_verdict *verdict,
                       size_t change, double more[NIGHTLY_METRICS])
{
	const struct nightly_schedule *schedule = &history->schedules[verdict->schedule];
	size_t first = change > 0 ? verdict->changes[change - 1].night : 0;
	size_t middle = verdict->changes[change].night;
	size_t end = change + 1 < verdict->n_changes ? verdict->changes[change + 1].night
	                                             : history->n_nights;

	for (int m = 0; m < NIGHTLY_METRICS; m++)
		more[m] = mean_of(schedule->values[m], verdict->is_outlier, middle, end) -
		          mean_of(schedule->values[m], verdict->is_outlier, first, middle);
}

/* An alarm counts for the level in which it was raised. */
static bool is_announced(const struct nightly_history *history,
                         const struct nightly_verdict *verdict, const struct change *last)
{
	const char *name = history->schedules[verdict->schedule].name;
	const char *metric = nightly_metric_name(verdict->metric);

	for (size_t i = 0; i < history->n_alarms; i++) {
		const struct night_alarm *alarm = &history->alarms[i];

		if (alarm->comparison >= history->comparisons[last->night] &&
		    strcmp(alarm->schedule, name) == 0 && strcmp(alarm->metric, metric) == 0)
			return true;
	}
	return false;
}

static enum nightly_state state_of(const struct nightly_history *history,
                                   const struct nightly_verdict *verdict)
{
	const double *values = history->schedules[verdict->schedule].values[verdict->metric];
	const struct change *last;

	if (count_numbers(values, history->n_nights) < 2 * history->settings.least_nights)
		return NIGHTLY_SHORT;
	if (verdict->n_changes == 0)
		return NIGHTLY_STEADY;
	last = &verdict->changes[verdict->n_changes - 1];
	if (!change_is_regression(last))
		return NIGHTLY_BETTER;
	if (is_announced(history, verdict, last))
		return NIGHTLY_KNOWN;
	if (isnan(verdict->fresh))
		return NIGHTLY_SUSPECT;
	return change_is_confirmed(last, verdict->fresh, &history->settings) ? NIGHTLY_REGRESSION
	                                                                     : NIGHTLY_DISMISSED;
}

static int find_changes(const struct nightly_history *history, const double *values,
                        struct nightly_verdict *verdict)
{
	int n;

	verdict->is_outlier = array_new(history->n_nights, sizeof(*verdict->is_outlier));
	verdict->changes = array_new(history->n_nights, sizeof(*verdict->changes));
	if (!verdict->is_outlier || !verdict->changes)
		return -ENOMEM;
	n = change_points_find(values, history->n_nights, &history->settings, verdict->is_outlier,
	                       verdict->changes);
	for (size_t i = 0; n >= 0 && i < history->n_nights; i++)
		verdict->n_outliers += verdict->is_outlier[i];
	verdict->n_changes = n > 0 ? (size_t)n : 0;
	return n < 0 ? n : 0;
}

int nightly_judge(const struct nightly_history *history, size_t schedule,
                  enum nightly_metric metric, struct nightly_verdict *out, struct err *err)
{
	const struct nightly_schedule *of = &history->schedules[schedule];
	const double *values = of->values[metric];
	struct nightly_verdict verdict = {
		.schedule = schedule,
		.metric = metric,
		.tonight = history->n_nights ? values[history->n_nights - 1] : NAN,
		.fresh = of->fresh[metric],
	};

	for (int m = 0; m < NIGHTLY_METRICS; m++)
		verdict.more[m] = NAN;
	if (find_changes(history, values, &verdict)) {
		nightly_verdict_fini(&verdict);
		return err_set(err, -ENOMEM, "out of memory");
	}
	if (verdict.n_changes > 0)
		nightly_attribute(history, &verdict, verdict.n_changes - 1, verdict.more);
	verdict.state = state_of(history, &verdict);
	*out = verdict;
	return 0;
}

void nightly_verdict_fini(struct nightly_verdict *verdict)
{
	free(verdict->changes);
	free(verdict->is_outlier);
	*verdict = (struct nightly_verdict){0};
}
