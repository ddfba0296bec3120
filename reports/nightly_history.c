/* nightly_history.c - the numbers of a night on their way into the store, and the history that
 * comes back. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/stats.h"
#include "engine/scenario/digest.h"
#include "reports/nightly.h"
#include "reports/settings.h"

/* Names, and where the numbers of a schedule stand in a comparison; 0: elsewhere. */
static const struct {
	const char *name;
	size_t offset;
} metrics[NIGHTLY_METRICS] = {
	[NIGHTLY_P50_MS] = {"p50_ms", offsetof(struct comparison_schedule, p50_ms)},
	[NIGHTLY_TOTAL_S] = {"total_s", offsetof(struct comparison_schedule, total_s)},
	[NIGHTLY_COMPUTE_MS] = {"compute_ms", offsetof(struct comparison_schedule, compute_ms)},
	[NIGHTLY_WAIT_MS] = {"wait_ms", offsetof(struct comparison_schedule, wait_ms)},
	[NIGHTLY_BLOCKED_MS] = {"blocked_ms", offsetof(struct comparison_schedule, blocked_ms)},
	[NIGHTLY_TRANSFER_MS] = {"transfer_ms", 0},
	[NIGHTLY_CONTROL] = {"control_width_ratio", 0},
};

const char *nightly_metric_name(enum nightly_metric metric)
{
	return metrics[metric].name;
}

/* The hosts of a lab are not the machine, nor are interfaces of its own; nights without either are
 * as alike as ever. */
static uint64_t digest_hosts(uint64_t digest, const struct stored_run *run)
{
	struct setting *settings = NULL;
	size_t n = 0;

	/* Settings of another program's making say nothing. */
	if (settings_read(run->settings_json, &settings, &n, NULL))
		return digest;
	for (size_t i = 0; i < n; i++)
		if ((strcmp(settings[i].path, "lab") == 0 &&
		     strcmp(settings[i].value, "none") != 0 &&
		     strcmp(settings[i].value, "auto") != 0) ||
		    strcmp(settings[i].path, "interfaces") == 0) {
			digest = digest_text(digest, settings[i].path);
			digest = digest_text(digest, settings[i].value);
		}
	settings_free(settings, n);
	return digest;
}

uint64_t nightly_environment(const struct stored_run *run)
{
	const char *const texts[] = {run->scenario_title, run->mode, run->device, run->transport,
	                             run->injector};
	uint64_t digest = digest_int(DIGEST_START, (int64_t)run->workload_fingerprint);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest = digest_text(digest, texts[i]);
	/* Virtual time is the same on every machine. */
	if (strcmp(run->mode, "live") == 0)
		digest = digest_hosts(digest_text(digest, run->host), run);
	digest = digest_bytes(digest, &run->speed, sizeof(run->speed));
	digest = digest_int(digest, run->n_warmup);
	return digest_int(digest, run->is_oracle);
}

static double number_of(const struct comparison *comparison, size_t s, enum nightly_metric metric,
                        const double *transfer_ms)
{
	const struct comparison_schedule *schedule = &comparison->schedules[s];
	const struct comparison_control *control = &comparison->control;
	double value;

	if (!comparison_is_done(schedule))
		return NAN;
	if (metric == NIGHTLY_TRANSFER_MS)
		return transfer_ms[s];
	if (metric == NIGHTLY_CONTROL)
		return control->schedule && strcmp(control->schedule, schedule->name) == 0
		               ? paired_width_ratio(&control->steady)
		               : NAN;
	memcpy(&value, (const char *)schedule + metrics[metric].offset, sizeof(value));
	return value;
}

size_t nightly_values(const struct comparison *comparison, const double *transfer_ms, bool is_fresh,
                      struct night_value *out)
{
	size_t n = 0;

	for (size_t s = 0; s < comparison->n_schedules; s++)
		for (int m = 0; m < NIGHTLY_METRICS; m++)
			out[n++] = (struct night_value){
				.comparison = comparison->comparison,
				.schedule = comparison->schedules[s].name,
				.metric = (char *)metrics[m].name,
				.is_fresh = is_fresh,
				.value = number_of(comparison, s, m, transfer_ms),
			};
	return n;
}

static int find_metric(const char *name)
{
	for (int m = 0; m < NIGHTLY_METRICS; m++)
		if (strcmp(metrics[m].name, name) == 0)
			return m;
	return NIGHTLY_METRICS;
}

static int add_schedule(struct nightly_history *history, const char *name, size_t n_values)
{
	struct nightly_schedule *schedule = &history->schedules[history->n_schedules];

	schedule->name = strdup(name);
	if (!schedule->name)
		return -ENOMEM;
	history->n_schedules++;
	for (int m = 0; m < NIGHTLY_METRICS; m++) {
		schedule->fresh[m] = NAN;
		schedule->values[m] = array_new(n_values, sizeof(double));
		if (!schedule->values[m])
			return -ENOMEM;
		for (size_t i = 0; i < n_values; i++)
			schedule->values[m][i] = NAN;
	}
	return 0;
}

/* The schedule of that name, made if need be; NULL: out of memory. */
static struct nightly_schedule *need_schedule(struct nightly_history *history, const char *name,
                                              size_t n_values)
{
	for (size_t s = 0; s < history->n_schedules; s++)
		if (strcmp(history->schedules[s].name, name) == 0)
			return &history->schedules[s];
	if (add_schedule(history, name, n_values))
		return NULL;
	return &history->schedules[history->n_schedules - 1];
}

static int add_night(struct nightly_history *history, const struct night_value *value)
{
	size_t n = history->n_nights;

	history->comparisons[n] = value->comparison;
	history->created[n] = strdup(value->created);
	history->versions[n] = strdup(value->version);
	history->digests[n] = strdup(value->digest);
	history->n_nights++;
	return history->created[n] && history->versions[n] && history->digests[n] ? 0 : -ENOMEM;
}

static void forget_fresh(struct nightly_history *history)
{
	for (size_t s = 0; s < history->n_schedules; s++)
		for (int m = 0; m < NIGHTLY_METRICS; m++)
			history->schedules[s].fresh[m] = NAN;
}

/* Values come by comparison; what was to confirm an earlier night is of no use for the last. */
static int add_value(struct nightly_history *history, const struct night_value *value,
                     size_t n_values)
{
	struct nightly_schedule *schedule = need_schedule(history, value->schedule, n_values);
	int m = find_metric(value->metric);
	size_t n = history->n_nights;

	if (!schedule)
		return -ENOMEM;
	if (m == NIGHTLY_METRICS)
		return 0;
	if (value->is_fresh) {
		schedule->fresh[m] = value->value;
		return 0;
	}
	if (n == 0 || history->comparisons[n - 1] != value->comparison) {
		forget_fresh(history);
		if (add_night(history, value))
			return -ENOMEM;
	}
	schedule->values[m][history->n_nights - 1] = value->value;
	return 0;
}

/* Minimum change: the median width of the controls, of whichever schedule. */
static int choose_settings(struct nightly_history *history)
{
	double *widths = array_new(history->n_nights * history->n_schedules, sizeof(*widths));
	size_t n = 0;

	if (!widths)
		return -ENOMEM;
	for (size_t s = 0; s < history->n_schedules; s++)
		for (size_t i = 0; i < history->n_nights; i++)
			if (isfinite(history->schedules[s].values[NIGHTLY_CONTROL][i]))
				widths[n++] = history->schedules[s].values[NIGHTLY_CONTROL][i];
	history->settings = change_settings_of(n ? stats_median(widths, n) : NAN);
	free(widths);
	return 0;
}

static int fill(struct nightly_history *history, const struct night_value *values, size_t n)
{
	history->comparisons = array_new(n, sizeof(*history->comparisons));
	history->created = array_new(n, sizeof(*history->created));
	history->versions = array_new(n, sizeof(*history->versions));
	history->digests = array_new(n, sizeof(*history->digests));
	history->schedules = array_new(n, sizeof(*history->schedules));
	if (!history->comparisons || !history->created || !history->versions || !history->digests ||
	    !history->schedules)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (add_value(history, &values[i], n))
			return -ENOMEM;
	return choose_settings(history);
}

int nightly_load(struct store *store, uint64_t environment, struct nightly_history *out,
                 struct err *err)
{
	struct nightly_history history = {0};
	struct night_value *values;
	size_t n;
	int rc = store_read_nights(store, environment, &values, &n, err);

	if (rc)
		return rc;
	if (fill(&history, values, n))
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = store_read_alarms(store, environment, &history.alarms, &history.n_alarms, err);
	stored_nights_fini(values, n);
	if (rc)
		nightly_fini(&history);
	else
		*out = history;
	return rc;
}

void nightly_fini(struct nightly_history *history)
{
	for (size_t s = 0; s < history->n_schedules; s++) {
		free(history->schedules[s].name);
		for (int m = 0; m < NIGHTLY_METRICS; m++)
			free(history->schedules[s].values[m]);
	}
	for (size_t i = 0; i < history->n_nights; i++) {
		free(history->created[i]);
		free(history->versions[i]);
		free(history->digests[i]);
	}
	free(history->comparisons);
	free(history->created);
	free(history->versions);
	free(history->digests);
	free(history->schedules);
	stored_alarms_fini(history->alarms, history->n_alarms);
	*history = (struct nightly_history){0};
}
