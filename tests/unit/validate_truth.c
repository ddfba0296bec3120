/* validate_truth.c - tests the simulator against everything that was measured and recorded.
 *
 * The wanted figures are those of the ground truth's README and of a second implementation of the
 * same models that was made with it; fidelity.csv holds that one's predictions, row by row. */
#include "engine/validate/validate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/format/csv_table.h"
#include "engine/validate/predict.h"
#include "engine/validate/truth.h"
#include "tests/tap.h"

static const char *truth_folder(struct strbuf *buf)
{
	const char *source = getenv("ADAPTRA_SOURCE");

	strbuf_addf(buf, "%s/tests/data/pipemorph", source ? source : ".");
	return strbuf_text(buf);
}

static const struct validation_table *find_table(const struct validation *validation,
                                                 const char *title)
{
	static const struct validation_table none = {.title = "none"};

	for (size_t i = 0; i < validation->n_tables; i++)
		if (strncmp(validation->tables[i].title, title, strlen(title)) == 0)
			return &validation->tables[i];
	return &none;
}

struct wanted_table {
	const char *title;
	int n_rows;
	double mean_absolute, control, limit; /* percent; control 0: not known */
};

static void check_table(const struct validation *validation, const struct wanted_table *wanted)
{
	const struct validation_table *table = find_table(validation, wanted->title);
	double sum = 0, most = -1e9, least = 1e9;

	tap_is_int((int64_t)table->n_rows, wanted->n_rows, "%s: rows", wanted->title);
	tap_is_number(100 * table->errors.mean_absolute, wanted->mean_absolute, 0.005,
	              "%s: mean absolute error in percent", wanted->title);
	if (wanted->control > 0)
		tap_is_number(100 * table->control_errors.mean_absolute, wanted->control, 0.005,
		              "%s: the control's", wanted->title);
	tap_is_number(100 * table->limit_ratio, wanted->limit, 1e-9, "%s: the limit",
	              wanted->title);
	tap_ok(table->is_held, "%s: it is held", wanted->title);
	for (size_t i = 0; i < table->n_rows; i++) {
		double error = table->rows[i].error_ratio;

		sum += error;
		most = error > most ? error : most;
		least = error < least ? error : least;
	}
	tap_is_number(table->errors.mean, sum / (double)table->n_rows, 1e-12,
	              "%s: the mean is that of the rows", wanted->title);
	tap_ok(table->errors.most == most && table->errors.least == least,
	       "%s: so are the extremes", wanted->title);
}

static void check_fits(const struct validation *validation)
{
	static const struct {
		const char *model;
		double cost_ms;
	} wanted[] = {{"7B", 0.933334}, {"14B", 0.768317}, {"30B", 1.700000}, {"60B", 2.635399}};

	tap_is_int((int64_t)validation->n_fits, 4, "one cost a model was fitted");
	for (size_t i = 0; i < validation->n_fits; i++)
		for (int j = 0; j < 4; j++)
			if (strcmp(validation->fits[i].model, wanted[j].model) == 0)
				tap_is_number(validation->fits[i].cost_ms, wanted[j].cost_ms,
				              0.0000011, "%s: a delegated message costs",
				              wanted[j].model);
}

static void test_figures(const char *folder)
{
	static const struct wanted_table tables[] = {
		{"ZB over NCCL", 40, 2.838, 3.361, 3.0},
		{"1F1B over NCCL", 40, 3.165, 0, 3.5},
		{"Delegates, 7B and 14B", 40, 3.026, 7.304, 5.0},
	};
	struct validation validation;
	struct err err = {0};

	if (!tap_is_int(validate_folder(folder, &validation, &err), 0, "the truth is read: %s",
	                err.text))
		return;
	tap_is_int(validation.n_orders, 123, "recorded orders are replayed");
	tap_is_int(validation.n_exact, 123, "with every start and end exact");
	tap_is_int(validation.first_wrong_run, -1, "no run is wrong");
	tap_ok(validation.n_ops > 40000, "that is %d ops", validation.n_ops);
	tap_ok(validation.excluded[0] == 35 && validation.excluded[3] == 189,
	       "what was left out is named");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		check_table(&validation, &tables[i]);
	check_fits(&validation);
	tap_is_number(find_table(&validation, "Delegates, 30B")->limit_ratio, 0, 0,
	              "the noisy runs are shown, not held");
	tap_ok(validation.is_held, "all limits are held");
	validation_fini(&validation);
}

/* What is counted of one column of fidelity.csv. */
struct column {
	const char *name;
	int n_rows;
	int n_exact;
};

struct fidelity {
	const struct truth *truth;
	struct csv_table *table;
	struct column clean, hol, confused, async;
};

/* Is the prediction the number in the row's column? A row without one is not counted. */
static void count(struct fidelity *fidelity, size_t row, struct column *column,
                  const struct prediction *prediction)
{
	struct err err = {0};
	int i = csv_table_column(fidelity->table, column->name, &err);
	double wanted_ms;
	int64_t found_ns;

	if (*csv_table_text(fidelity->table, row, i) == '\0')
		return;
	column->n_rows++;
	if (csv_table_number(fidelity->table, row, i, &wanted_ms, &err) ||
	    predict_makespan(prediction, &found_ns, &err))
		return;
	column->n_exact += (double)found_ns == wanted_ms * NS_PER_MS;
}

static void count_1f1b(struct fidelity *fidelity, size_t row, const struct truth_run *run,
                       struct prediction *prediction)
{
	count(fidelity, row, &fidelity->clean, prediction);
	predict_slow_links(prediction, run);
	count(fidelity, row, &fidelity->hol, prediction);
	predict_confused_links(prediction, run);
	count(fidelity, row, &fidelity->confused, prediction);
}

/* The columns of ZB rows are of a model in which healthy links take time, too, so they are left
 * out. */
static void count_row(struct fidelity *fidelity, size_t row, const struct truth_run *run)
{
	struct truth_profile profile;
	struct truth_order order;
	struct prediction prediction = {.profile = &profile};
	struct err err = {0};

	if (truth_run_profile(fidelity->truth, run, &profile, &err) ||
	    truth_zb_order(fidelity->truth, profile.n_stages, &order, &err))
		return;
	prediction.n_microbatches = order.n_microbatches;
	if (strcmp(run->schedule, "1F1B") == 0) {
		prediction.rules = plane_batched();
		count_1f1b(fidelity, row, run, &prediction);
		return;
	}
	if (strcmp(run->schedule, "ZB") == 0)
		return;
	if (truth_run_order(fidelity->truth, run->run_id, &order, &err))
		return;
	prediction.order = &order;
	prediction.rules = plane_delegate();
	/* As many queues as messages: latency. */
	prediction.rules.n_queues = order.n_microbatches;
	predict_slow_links(&prediction, run);
	count(fidelity, row, &fidelity->async, &prediction);
}

static const struct truth_run *find_run(const struct truth *truth, int64_t run_id)
{
	size_t n;
	const struct truth_run *runs = truth_runs(truth, &n);

	for (size_t i = 0; i < n; i++)
		if (runs[i].run_id == run_id)
			return &runs[i];
	return NULL;
}

static void check_column(const struct column *column, int n_rows)
{
	tap_is_int(column->n_rows, n_rows, "fidelity.csv, %s: rows", column->name);
	tap_is_int(column->n_exact, column->n_rows, "fidelity.csv, %s: predicted exactly",
	           column->name);
}

static void test_predictions(const char *folder)
{
	struct fidelity fidelity = {.clean = {.name = "pred_hol_clean"},
	                            .hol = {.name = "pred_hol"},
	                            .confused = {.name = "pred_hol_buggy_injector"},
	                            .async = {.name = "pred_async"}};
	struct strbuf path = {0};
	struct truth *truth;
	struct err err = {0};

	strbuf_addf(&path, "%s/fidelity.csv", folder);
	if (tap_is_int(truth_open(folder, &truth, &err), 0, "the truth is read: %s", err.text)) {
		fidelity.truth = truth;
		if (tap_is_int(csv_table_read(strbuf_text(&path), &fidelity.table, &err), 0,
		               "fidelity.csv is read: %s", err.text)) {
			for (size_t row = 0; row < csv_table_n_rows(fidelity.table); row++) {
				const char *run_id = csv_table_text(fidelity.table, row, 0);
				const struct truth_run *run = find_run(truth, atoi(run_id));

				if (run)
					count_row(&fidelity, row, run);
			}
			csv_table_free(fidelity.table);
		}
		truth_close(truth);
	}
	strbuf_fini(&path);
	check_column(&fidelity.clean, 40);
	check_column(&fidelity.hol, 40);
	check_column(&fidelity.confused, 40);
	check_column(&fidelity.async, 80);
}

int main(void)
{
	struct strbuf folder = {0};

	test_figures(truth_folder(&folder));
	test_predictions(strbuf_text(&folder));
	strbuf_fini(&folder);
	return tap_done();
}
