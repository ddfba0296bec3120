/* validate.c - tables of predicted against measured iteration times.
 *
 * A prediction is a makespan plus the run's own offset: its measured fault-free median minus the
 * fault-free makespan under the same model (of the ZB order for delegate rows, whose healthy
 * iterations ran over NCCL). Nothing else is fitted, except the cost of a delegated message, one
 * number a model, on a run that has no fault. */
#include "engine/validate/validate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "engine/validate/predict.h"
#include "engine/validate/recorded.h"

/* What the rows of a table have in common. */
struct study {
	const char *title, *rules, *control;
	const char *schedules[2];
	const char *models[2]; /* NULL: all */
	double limit_ratio;
	int (*predict)(const struct truth *truth, const struct truth_run *run,
	               const struct validation *fits, bool is_control, double *out_ms,
	               struct err *err);
};

static double to_ms(int64_t ns)
{
	return (double)ns / NS_PER_MS;
}

static int makespan_ms(const struct prediction *prediction, double *out_ms, struct err *err)
{
	int64_t ns = 0;
	int rc = predict_makespan(prediction, &ns, err);

	*out_ms = to_ms(ns);
	return rc;
}

/* Predicted growth over the fault-free iteration, for stream-plane rows. */
static int add_growth(struct prediction *slow, double clean_ms, double *out_ms, struct err *err)
{
	struct prediction healthy = *slow;
	double slow_ms, healthy_ms;
	int rc = makespan_ms(slow, &slow_ms, err);

	memset(healthy.hold_ns, 0, sizeof(healthy.hold_ns));
	if (rc == 0)
		rc = makespan_ms(&healthy, &healthy_ms, err);
	if (rc == 0)
		*out_ms = clean_ms + slow_ms - healthy_ms;
	return rc;
}

static int predict_zb(const struct truth *truth, const struct truth_run *run,
                      const struct validation *fits, bool is_control, double *out_ms,
                      struct err *err)
{
	struct truth_profile profile;
	struct truth_order order;
	struct prediction prediction = {
		.profile = &profile, .order = &order, .rules = plane_unbatched()};
	int rc = truth_run_profile(truth, run, &profile, err);

	(void)fits;
	rc = rc ? rc : truth_zb_order(truth, profile.n_stages, &order, err);
	if (rc)
		return rc;
	if (is_control)
		prediction.rules.order = CHANNEL_REQUEST_ORDER;
	predict_slow_links(&prediction, run);
	return add_growth(&prediction, run->clean_ms, out_ms, err);
}

static int predict_1f1b(const struct truth *truth, const struct truth_run *run,
                        const struct validation *fits, bool is_control, double *out_ms,
                        struct err *err)
{
	struct truth_profile profile;
	struct truth_order zb;
	struct prediction prediction = {.profile = &profile, .rules = plane_batched()};
	int rc = truth_run_profile(truth, run, &profile, err);

	(void)fits;
	rc = rc ? rc : truth_zb_order(truth, profile.n_stages, &zb, err);
	if (rc)
		return rc;
	prediction.n_microbatches = zb.n_microbatches;
	if (is_control)
		predict_slow_links(&prediction, run);
	else
		predict_confused_links(&prediction, run);
	return add_growth(&prediction, run->clean_ms, out_ms, err);
}

static int64_t fitted_cost_ns(const struct validation *fits, const char *model)
{
	for (size_t i = 0; i < fits->n_fits; i++)
		if (strcmp(fits->fits[i].model, model) == 0)
			return (int64_t)llround(fits->fits[i].cost_ms * NS_PER_MS);
	return 0;
}

static int predict_delegate(const struct truth *truth, const struct truth_run *run,
                            const struct validation *fits, bool is_control, double *out_ms,
                            struct err *err)
{
	struct truth_profile profile;
	struct truth_order order, zb;
	struct prediction prediction = {
		.profile = &profile, .order = &order, .rules = plane_delegate()};
	struct prediction healthy = {.profile = &profile, .order = &zb, .rules = plane_delegate()};
	double slow_ms, healthy_ms;
	int rc = truth_run_profile(truth, run, &profile, err);

	rc = rc ? rc : truth_run_order(truth, run->run_id, &order, err);
	rc = rc ? rc : truth_zb_order(truth, profile.n_stages, &zb, err);
	if (rc)
		return rc;
	if (!is_control)
		prediction.rules.message_cost_ns = fitted_cost_ns(fits, run->model);
	predict_slow_links(&prediction, run);
	rc = makespan_ms(&prediction, &slow_ms, err);
	rc = rc ? rc : makespan_ms(&healthy, &healthy_ms, err);
	if (rc == 0)
		*out_ms = run->clean_ms + slow_ms - healthy_ms;
	return rc;
}

static const struct study studies[VALIDATE_TABLES] = {
	{
		.title = "ZB over NCCL",
		.rules = "one channel a neighbour pair in plan order; the sender's next op waits "
			 "until its message has ended",
		.control = "the channel in request order",
		.schedules = {"ZB", "ZB"},
		.limit_ratio = 0.030,
		.predict = predict_zb,
	},
	{
		.title = "1F1B over NCCL",
		.rules = "batched send and receive, the gradient after W, delays as the confused "
			 "injector put them",
		.control = "delays on the links that were meant",
		.schedules = {"1F1B", "1F1B"},
		.limit_ratio = 0.035,
		.predict = predict_1f1b,
	},
	{
		.title = "Delegates, 7B and 14B",
		.rules = "recorded orders, 6 queues a direction, the fitted cost of a message on "
			 "the op at either end",
		.control = "no cost",
		.schedules = {"ZB-CPU", "ZB-CPU-ReSchedule"},
		.models = {"7B", "14B"},
		.limit_ratio = 0.050,
		.predict = predict_delegate,
	},
	{
		.title = "Delegates, 30B and 60B",
		.rules = "as above; these runs are noisy and drift, so they are shown and not held",
		.control = "no cost",
		.schedules = {"ZB-CPU", "ZB-CPU-ReSchedule"},
		.models = {"30B", "60B"},
		.predict = predict_delegate,
	},
};

static bool belongs(const struct study *study, const struct truth_run *run)
{
	bool is_scheduled = strcmp(run->schedule, study->schedules[0]) == 0 ||
	                    strcmp(run->schedule, study->schedules[1]) == 0;

	return is_scheduled && (!study->models[0] || strcmp(run->model, study->models[0]) == 0 ||
	                        strcmp(run->model, study->models[1]) == 0);
}

static int predict_row(const struct truth *truth, const struct study *study,
                       const struct truth_run *run, const struct validation *fits,
                       struct validation_row *row, struct err *err)
{
	double control_ms = 0;
	int rc = study->predict(truth, run, fits, false, &row->predicted_ms, err);

	rc = rc ? rc : study->predict(truth, run, fits, true, &control_ms, err);
	if (rc)
		return rc;
	row->run_id = run->run_id;
	snprintf(row->model, sizeof(row->model), "%s", run->model);
	snprintf(row->experiment, sizeof(row->experiment), "%s", run->experiment);
	snprintf(row->schedule, sizeof(row->schedule), "%s", run->schedule);
	snprintf(row->links, sizeof(row->links), "%s", run->links);
	row->delay_ms = to_ms(run->delay_ns);
	row->measured_ms = run->steady_ms;
	row->error_ratio = row->predicted_ms / run->steady_ms - 1;
	row->control_ratio = control_ms / run->steady_ms - 1;
	return 0;
}

static struct validation_errors summarise(const struct validation_table *table, bool is_control)
{
	struct validation_errors errors = {0};

	for (size_t i = 0; i < table->n_rows; i++) {
		double error =
			is_control ? table->rows[i].control_ratio : table->rows[i].error_ratio;

		errors.mean += error / (double)table->n_rows;
		errors.mean_absolute += fabs(error) / (double)table->n_rows;
		errors.least = i == 0 || error < errors.least ? error : errors.least;
		errors.most = i == 0 || error > errors.most ? error : errors.most;
	}
	return errors;
}

static int run_study(const struct truth *truth, const struct study *study, struct validation *out,
                     struct err *err)
{
	struct validation_table *table = &out->tables[out->n_tables];
	size_t n_runs;
	const struct truth_run *runs = truth_runs(truth, &n_runs);

	*table = (struct validation_table){.title = study->title,
	                                   .rules = study->rules,
	                                   .control = study->control,
	                                   .limit_ratio = study->limit_ratio};
	table->rows = array_new(n_runs, sizeof(*table->rows));
	if (!table->rows)
		return err_set(err, -ENOMEM, "no memory for the predictions");
	out->n_tables++;
	for (size_t i = 0; i < n_runs; i++) {
		int rc = belongs(study, &runs[i]) ? predict_row(truth, study, &runs[i], out,
		                                                &table->rows[table->n_rows++], err)
		                                  : 0;

		if (rc)
			return rc;
	}
	if (table->n_rows == 0)
		return err_set(err, -EINVAL, "the ground truth has no runs for '%s'", study->title);
	table->errors = summarise(table, false);
	table->control_errors = summarise(table, true);
	table->is_held =
		table->limit_ratio == 0 || table->errors.mean_absolute <= table->limit_ratio;
	return 0;
}

/* Median of the clean medians of a model's ZB runs. */
static int zb_clean_ms(const struct truth *truth, const char *model, double *out_ms,
                       struct err *err)
{
	size_t n_runs, n = 0;
	const struct truth_run *runs = truth_runs(truth, &n_runs);
	double *clean_ms = array_new(n_runs, sizeof(*clean_ms));

	if (!clean_ms)
		return err_set(err, -ENOMEM, "no memory for the clean times");
	for (size_t i = 0; i < n_runs; i++)
		if (strcmp(runs[i].model, model) == 0 && strcmp(runs[i].schedule, "ZB") == 0)
			clean_ms[n++] = runs[i].clean_ms;
	*out_ms = stats_median(clean_ms, n);
	free(clean_ms);
	return n > 0 ? 0 : err_set(err, -EINVAL, "the ground truth has no ZB run of %s", model);
}

/* The cost, in whole nanoseconds, at which the fault-free delegate run comes out as it was
 * measured: the makespan only grows with it, so halving finds it. */
static int search_cost(struct prediction *delegated, double target_ms, int64_t *out_ns,
                       struct err *err)
{
	int64_t low_ns = 0, high_ns = 100 * (int64_t)NS_PER_MS;

	while (high_ns - low_ns > 1) {
		double ms;
		int rc;

		delegated->rules.message_cost_ns = low_ns + (high_ns - low_ns) / 2;
		rc = makespan_ms(delegated, &ms, err);
		if (rc)
			return rc;
		if (ms < target_ms)
			low_ns = delegated->rules.message_cost_ns;
		else
			high_ns = delegated->rules.message_cost_ns;
	}
	*out_ns = high_ns;
	return 0;
}

static int fit_model(const struct truth *truth, const struct truth_run *run,
                     struct validation_fit *out, struct err *err)
{
	struct truth_profile profile;
	struct truth_order order, zb;
	struct prediction delegated = {
		.profile = &profile, .order = &order, .rules = plane_delegate()};
	struct prediction healthy = {.profile = &profile, .order = &zb, .rules = plane_delegate()};
	double clean_ms = 0, healthy_ms = 0;
	int64_t cost_ns;
	int rc = truth_median_profile(truth, run->model, &profile, err);

	rc = rc ? rc : truth_run_order(truth, run->run_id, &order, err);
	rc = rc ? rc : truth_zb_order(truth, profile.n_stages, &zb, err);
	rc = rc ? rc : zb_clean_ms(truth, run->model, &clean_ms, err);
	rc = rc ? rc : makespan_ms(&healthy, &healthy_ms, err);
	if (rc)
		return rc;
	out->run_id = run->run_id;
	out->target_ms = run->clean_ms;
	out->offset_ms = clean_ms - healthy_ms;
	snprintf(out->model, sizeof(out->model), "%s", run->model);
	rc = search_cost(&delegated, out->target_ms - out->offset_ms, &cost_ns, err);
	if (rc == 0)
		out->cost_ms = to_ms(cost_ns);
	return rc;
}

/* One fit for each H800 model that ran fault-free over delegates. */
static int fit_costs(const struct truth *truth, struct validation *out, struct err *err)
{
	size_t n_runs;
	const struct truth_run *runs = truth_runs(truth, &n_runs);

	for (size_t i = 0; i < n_runs && out->n_fits < VALIDATE_FITS; i++) {
		int rc;

		if (strcmp(runs[i].schedule, "ALL-CPU") != 0 ||
		    strcmp(runs[i].experiment, "overhead") != 0)
			continue;
		rc = fit_model(truth, &runs[i], &out->fits[out->n_fits], err);
		if (rc)
			return rc;
		out->n_fits++;
	}
	return 0;
}

static int run_studies(const struct truth *truth, struct validation *out, struct err *err)
{
	int rc = fit_costs(truth, out, err);

	for (int i = 0; rc == 0 && i < VALIDATE_TABLES; i++)
		rc = run_study(truth, &studies[i], out, err);
	return rc;
}

int validate_folder(const char *folder, struct validation *out, struct err *err)
{
	struct validation validation = {0};
	struct truth *truth;
	int rc = truth_open(folder, &truth, err);

	if (rc == 0) {
		rc = recorded_replay(folder, truth, &validation, err);
		if (rc == 0)
			rc = run_studies(truth, &validation, err);
		truth_close(truth);
	}
	if (rc) {
		validation_fini(&validation);
		return err_wrap(err, "ground truth in '%s'", folder);
	}
	validation.is_held = validation.n_exact == validation.n_orders;
	for (size_t i = 0; i < validation.n_tables; i++)
		validation.is_held = validation.is_held && validation.tables[i].is_held;
	*out = validation;
	return 0;
}

void validation_fini(struct validation *validation)
{
	for (size_t i = 0; i < validation->n_tables; i++)
		free(validation->tables[i].rows);
}
