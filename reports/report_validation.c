/* report_validation.c - tables of predicted against measured, with what was fitted and what was
 * not. */
#include <math.h>

#include "engine/base/json_write.h"
#include "reports/display.h"
#include "reports/quantity.h"
#include "reports/table.h"
#include "reports/validation_report.h"

static const char *verdict(bool is_held)
{
	return is_held ? "held" : "MISSED";
}

static void add_orders_row(struct table *table, const struct validation *validation)
{
	bool is_held = validation->n_exact == validation->n_orders;

	table_cell(table, TONE_PLAIN, "Recorded orders");
	table_cell(table, TONE_PLAIN, "%d", validation->n_orders);
	table_cell(table, TONE_STRONG, "%d exact", validation->n_exact);
	table_cell(table, TONE_PLAIN, "all");
	table_cell(table, is_held ? TONE_GOOD : TONE_BAD, "%s", verdict(is_held));
	table_cell(table, TONE_DIM, "%s", "");
	table_cell(table, TONE_DIM, "%s", "");
}

static void add_summary_row(struct table *table, const struct validation_table *rows)
{
	bool has_limit = rows->limit_ratio > 0;

	table_cell(table, TONE_PLAIN, "%s", rows->title);
	table_cell(table, TONE_PLAIN, "%zu", rows->n_rows);
	table_cell(table, TONE_STRONG, "%.2f %%", 100 * rows->errors.mean_absolute);
	if (has_limit)
		table_cell(table, TONE_PLAIN, "%.1f %%", 100 * rows->limit_ratio);
	else
		table_cell(table, TONE_PLAIN, "none");
	table_cell(table, rows->is_held ? TONE_GOOD : TONE_BAD, "%s",
	           has_limit ? verdict(rows->is_held) : "shown");
	table_cell(table, TONE_PLAIN, "%+.1f %+.1f", 100 * rows->errors.least,
	           100 * rows->errors.most);
	table_cell(table, TONE_DIM, "%.2f %%", 100 * rows->control_errors.mean_absolute);
}

static void add_summary(const struct validation *validation, const struct report_style *style,
                        struct strbuf *out)
{
	struct table *table = table_new();

	table_column(table, "what", TABLE_LEFT, 20);
	table_column(table, "rows", TABLE_RIGHT, 0);
	table_column(table, "mean abs\nerror", TABLE_RIGHT, 0);
	table_column(table, "limit", TABLE_RIGHT, 0);
	table_column(table, "", TABLE_LEFT, 0);
	table_column(table, "range\n%", TABLE_RIGHT, 0);
	table_column(table, "control", TABLE_RIGHT, 0);
	add_orders_row(table, validation);
	for (size_t i = 0; i < validation->n_tables; i++)
		add_summary_row(table, &validation->tables[i]);
	table_print(table, 1, style, out);
	table_free(table);
}

/* A time in a column whose largest is largest_ms. */
static void add_ms(struct table *table, enum tone tone, double ms, double largest_ms,
                   const struct report_style *style)
{
	char text[QUANTITY_BYTES];

	table_cell(table, tone, "%s",
	           quantity_number(ms, quantity_decimals(largest_ms), style, text));
}

static void add_fits(const struct validation *validation, const struct report_style *style,
                     struct strbuf *out)
{
	struct table *table = table_new();
	double target_ms = 0, offset_ms = 0, cost_ms = 0;

	display_add_wrapped(
		out,
		"Fitted: one cost per delegated message and model, on the op at either "
		"end, so that the fault-free ALL-CPU run's clean median is met. Nothing "
		"else is fitted; every row adds its own fault-free offset.",
		0, 0, style);
	table_column(table, "model", TABLE_LEFT, 0);
	table_column(table, "run", TABLE_RIGHT, 0);
	table_column(table, "clean median\nms", TABLE_RIGHT, 0);
	table_column(table, "offset\nms", TABLE_RIGHT, 0);
	table_column(table, "cost\nms", TABLE_RIGHT, 0);
	for (size_t i = 0; i < validation->n_fits; i++) {
		target_ms = fmax(target_ms, validation->fits[i].target_ms);
		offset_ms = fmax(offset_ms, fabs(validation->fits[i].offset_ms));
		cost_ms = fmax(cost_ms, validation->fits[i].cost_ms);
	}
	for (size_t i = 0; i < validation->n_fits; i++) {
		const struct validation_fit *fit = &validation->fits[i];

		table_cell(table, TONE_PLAIN, "%s", fit->model);
		table_cell(table, TONE_PLAIN, "%d", fit->run_id);
		add_ms(table, TONE_PLAIN, fit->target_ms, target_ms, style);
		add_ms(table, TONE_PLAIN, fit->offset_ms, offset_ms, style);
		add_ms(table, TONE_STRONG, fit->cost_ms, cost_ms, style);
	}
	table_print(table, 1, style, out);
	table_free(table);
}

static void add_rows(const struct validation_table *rows, const struct report_style *style,
                     struct strbuf *out)
{
	struct table *table = table_new();
	double largest_ms = 0;

	for (size_t i = 0; i < rows->n_rows; i++)
		largest_ms = fmax(largest_ms,
		                  fmax(rows->rows[i].measured_ms, rows->rows[i].predicted_ms));
	table_column(table, "run", TABLE_RIGHT, 0);
	table_column(table, "model", TABLE_LEFT, 0);
	table_column(table, "schedule", TABLE_LEFT, 8);
	table_column(table, "links", TABLE_LEFT, 7);
	table_column(table, "delay\nms", TABLE_RIGHT, 0);
	table_column(table, "measured\nms", TABLE_RIGHT, 0);
	table_column(table, "predicted\nms", TABLE_RIGHT, 0);
	table_column(table, "error\n%", TABLE_RIGHT, 0);
	table_column(table, "control\n%", TABLE_RIGHT, 0);
	for (size_t i = 0; i < rows->n_rows; i++) {
		const struct validation_row *row = &rows->rows[i];
		bool is_far = fabs(row->error_ratio) > 0.05;

		table_cell(table, TONE_DIM, "%d", row->run_id);
		table_cell(table, TONE_PLAIN, "%s", row->model);
		table_cell(table, TONE_PLAIN, "%s", row->schedule);
		table_cell(table, TONE_PLAIN, "%s", row->links);
		table_cell(table, TONE_PLAIN, "%.0f", row->delay_ms);
		add_ms(table, TONE_PLAIN, row->measured_ms, largest_ms, style);
		add_ms(table, TONE_PLAIN, row->predicted_ms, largest_ms, style);
		table_cell(table, is_far ? TONE_BAD : TONE_PLAIN, "%+.2f", 100 * row->error_ratio);
		table_cell(table, TONE_DIM, "%+.2f", 100 * row->control_ratio);
	}
	table_print(table, 1, style, out);
	table_free(table);
}

static void add_study(const struct validation_table *rows, const struct report_style *style,
                      struct strbuf *out)
{
	struct strbuf rules = {0};

	strbuf_add_char(out, '\n');
	display_begin(out, TONE_STRONG, style);
	display_add(out, rows->title, style);
	display_end(out, TONE_STRONG, style);
	strbuf_add_char(out, '\n');
	strbuf_addf(&rules, "Rules: %s. Control: %s. Mean error %+.2f %%, control %+.2f %%.",
	            rows->rules, rows->control, 100 * rows->errors.mean,
	            100 * rows->control_errors.mean);
	display_add_wrapped(out, strbuf_text(&rules), 0, 0, style);
	strbuf_fini(&rules);
	add_rows(rows, style, out);
}

void report_validation_terminal(const struct validation *validation,
                                const struct report_style *style, struct strbuf *out)
{
	struct strbuf line = {0};
	char n_ops[QUANTITY_BYTES];

	display_begin(out, TONE_STRONG, style);
	display_add_wrapped(
		out,
		validation->is_held
			? "The simulator agrees with the measurements within every limit."
			: "The simulator misses a limit; see below.",
		0, 0, style);
	display_end_line(out, TONE_STRONG, style);
	strbuf_add_char(out, '\n');
	add_summary(validation, style, out);
	strbuf_addf(&line,
	            "Recorded orders: every start and end of %s ops; runs %d, %d, %d and %d are "
	            "left out (several delays in one run).",
	            quantity_count(validation->n_ops, n_ops), validation->excluded[0],
	            validation->excluded[1], validation->excluded[2], validation->excluded[3]);
	if (validation->first_wrong_run >= 0)
		strbuf_addf(&line, " The first that differs is run %d.",
		            validation->first_wrong_run);
	strbuf_add_char(out, '\n');
	display_add_wrapped(out, strbuf_text(&line), 0, 0, style);
	strbuf_fini(&line);
	add_fits(validation, style, out);
	for (size_t i = 0; i < validation->n_tables; i++)
		add_study(&validation->tables[i], style, out);
}

static void add_json_errors(struct json_write *json, const char *key,
                            const struct validation_errors *errors)
{
	json_open_object(json, key);
	json_number(json, "mean", errors->mean);
	json_number(json, "mean_absolute", errors->mean_absolute);
	json_number(json, "least", errors->least);
	json_number(json, "most", errors->most);
	json_close(json);
}

static void add_json_row(struct json_write *json, const struct validation_row *row)
{
	json_open_object(json, NULL);
	json_int(json, "run", row->run_id);
	json_string(json, "model", row->model);
	json_string(json, "experiment", row->experiment);
	json_string(json, "schedule", row->schedule);
	json_string(json, "links", row->links);
	json_number(json, "delay_ms", row->delay_ms);
	json_number(json, "measured_ms", row->measured_ms);
	json_number(json, "predicted_ms", row->predicted_ms);
	json_number(json, "error_ratio", row->error_ratio);
	json_number(json, "control_error_ratio", row->control_ratio);
	json_close(json);
}

static void add_json_table(struct json_write *json, const struct validation_table *table)
{
	json_open_object(json, NULL);
	json_string(json, "title", table->title);
	json_string(json, "rules", table->rules);
	json_string(json, "control", table->control);
	if (table->limit_ratio > 0)
		json_number(json, "limit_ratio", table->limit_ratio);
	else
		json_null(json, "limit_ratio");
	json_bool(json, "held", table->is_held);
	add_json_errors(json, "errors", &table->errors);
	add_json_errors(json, "control_errors", &table->control_errors);
	json_open_array(json, "rows");
	for (size_t i = 0; i < table->n_rows; i++)
		add_json_row(json, &table->rows[i]);
	json_close(json);
	json_close(json);
}

static void add_json_fit(struct json_write *json, const struct validation_fit *fit)
{
	json_open_object(json, NULL);
	json_string(json, "model", fit->model);
	json_int(json, "run", fit->run_id);
	json_number(json, "target_ms", fit->target_ms);
	json_number(json, "offset_ms", fit->offset_ms);
	json_number(json, "cost_ms", fit->cost_ms);
	json_close(json);
}

void report_validation_json(const struct validation *validation, struct strbuf *out)
{
	struct json_write json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_int(&json, "schema", 1);
	json_bool(&json, "held", validation->is_held);
	json_open_object(&json, "recorded_orders");
	json_int(&json, "replayed", validation->n_orders);
	json_int(&json, "exact", validation->n_exact);
	json_int(&json, "ops", validation->n_ops);
	json_open_array(&json, "excluded_runs");
	for (int i = 0; i < VALIDATE_EXCLUDED; i++)
		json_int(&json, NULL, validation->excluded[i]);
	json_close(&json);
	json_close(&json);
	json_open_array(&json, "fits");
	for (size_t i = 0; i < validation->n_fits; i++)
		add_json_fit(&json, &validation->fits[i]);
	json_close(&json);
	json_open_array(&json, "tables");
	for (size_t i = 0; i < validation->n_tables; i++)
		add_json_table(&json, &validation->tables[i]);
	json_close(&json);
	json_close(&json);
	strbuf_add_char(out, '\n');
}
