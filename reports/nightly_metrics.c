/* nightly_metrics.c - the last night as OpenMetrics text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/openmetrics.h"
#include "reports/nightly_exports.h"

static const double MS_PER_S = 1e3;

static const double bounds_s[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8};

enum { N_BOUNDS = sizeof(bounds_s) / sizeof(bounds_s[0]) };

static const struct openmetrics_family
	iterations = {"adaptra_iteration_seconds", OPENMETRICS_HISTOGRAM, "seconds",
                      "Profile time of one training iteration after warm-up."},
	speedups = {"adaptra_speedup_ratio", OPENMETRICS_GAUGE, "ratio",
                    "Median iteration of the baseline over that of the schedule."},
	faults = {"adaptra_faults", OPENMETRICS_COUNTER, NULL,
                  "Faults that the scenario asks for."},
	regressions = {"adaptra_regressions", OPENMETRICS_GAUGE, NULL,
                       "Metrics that became slower tonight, as a fresh run confirmed."};

static void add_iterations(const struct nightly_report *report, const char *name,
                           struct strbuf *out)
{
	const struct comparison *night = report->night;
	double *seconds = array_new((size_t)night->n_iterations_asked, sizeof(*seconds));

	out->is_failed |= !seconds;
	for (size_t s = 0; s < night->n_schedules && seconds; s++) {
		const struct comparison_schedule *schedule = &night->schedules[s];
		const struct openmetrics_label labels[] = {{"scenario", name},
		                                           {"schedule", schedule->name},
		                                           {"plane", schedule->plane},
		                                           {"transport", report->transport}};
		size_t n = 0;

		for (int i = night->n_warmup; i < night->n_iterations_asked; i++)
			seconds[n++] = schedule->iteration_ms[i] / MS_PER_S;
		openmetrics_histogram(out, &iterations, (struct openmetrics_labels){labels, 4},
		                      &(struct openmetrics_values){seconds, n, bounds_s, N_BOUNDS});
	}
	free(seconds);
}

static void add_speedups(const struct nightly_report *report, const char *name, struct strbuf *out)
{
	const struct comparison *night = report->night;

	for (size_t i = 0; i < night->n_speedups; i++) {
		const struct comparison_speedup *speedup = &night->speedups[i];
		const struct {
			const char *name;
			double value;
		} bounds[] = {{"estimate", speedup->steady.ratio},
		              {"lower95", speedup->steady.low},
		              {"upper95", speedup->steady.high}};

		for (size_t b = 0; b < 3; b++) {
			const struct openmetrics_label labels[] = {
				{"scenario", name},
				{"schedule", night->schedules[speedup->of].name},
				{"baseline", night->schedules[speedup->over].name},
				{"bound", bounds[b].name}};

			if (isfinite(bounds[b].value))
				openmetrics_sample(out, &speedups,
				                   (struct openmetrics_labels){labels, 4},
				                   bounds[b].value);
		}
	}
}

/* What the metrics tell faults apart by. */
static bool is_alike(const struct fault *a, const struct fault *b)
{
	return a->kind == b->kind && a->from_stage == b->from_stage && a->to_stage == b->to_stage;
}

/* Faults of one kind on one link are one sample; the first of them stands for all. */
static void add_fault(const struct scenario *scenario, size_t which, const char *name,
                      struct strbuf *out)
{
	const struct fault *fault = &scenario->faults[which];
	struct strbuf link = {0};
	int n = 0;

	for (size_t i = 0; i < scenario->n_faults; i++) {
		if (!is_alike(&scenario->faults[i], fault))
			continue;
		if (i < which)
			return;
		n++;
	}
	strbuf_addf(&link, "%d_%d", fault->from_stage, fault->to_stage);
	openmetrics_sample(
		out, &faults,
		(struct openmetrics_labels){
			(const struct openmetrics_label[]){{"scenario", name},
	                                                   {"kind", fault_kind_name(fault->kind)},
	                                                   {"link", strbuf_text(&link)}},
			3},
		n);
	out->is_failed |= link.is_failed;
	strbuf_fini(&link);
}

static void add_faults(const struct nightly_report *report, const char *name, struct strbuf *out)
{
	for (size_t i = 0; i < report->scenario->n_faults; i++)
		add_fault(report->scenario, i, name, out);
}

static void add_regressions(const struct nightly_report *report, const char *name,
                            struct strbuf *out)
{
	const struct openmetrics_label label = {"scenario", name};

	openmetrics_sample(out, &regressions, (struct openmetrics_labels){&label, 1},
	                   (double)nightly_count_regressions(report, 1));
}

static const struct {
	const struct openmetrics_family *family;
	void (*add)(const struct nightly_report *report, const char *name, struct strbuf *out);
} families[] = {
	{&iterations, add_iterations},
	{&speedups, add_speedups},
	{&faults, add_faults},
	{&regressions, add_regressions},
};

void nightly_metrics(const struct nightly_report *reports, size_t n_reports, struct strbuf *out)
{
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		openmetrics_begin(out, families[f].family);
		for (size_t i = 0; i < n_reports; i++) {
			struct strbuf name = {0};

			nightly_short_name(&reports[i], &name);
			if (reports[i].night)
				families[f].add(&reports[i], strbuf_text(&name), out);
			out->is_failed |= name.is_failed;
			strbuf_fini(&name);
		}
	}
	openmetrics_end(out);
}
