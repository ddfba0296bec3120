/* timeline.c - says what goes wrong, where and when, without doing it. */
#include "engine/cli/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "reports/display.h"

enum { WHEN_COLUMNS = 24 };

static void add_delay(const struct fault *fault, struct strbuf *out)
{
	char delay[UNITS_TEXT_BYTES], jitter[UNITS_TEXT_BYTES];

	strbuf_addf(out, "+%s", units_format_duration(fault->delay_ns, delay));
	if (fault->jitter_ns > 0)
		strbuf_addf(out, " ± %s %s", units_format_duration(fault->jitter_ns, jitter),
		            distribution_name(fault->distribution));
	strbuf_addf(out, " a %s (%s)", fault->allows_reordering ? "packet, any order" : "message",
	            delay_model_name(fault->model));
}

static void add_loss(const struct fault *fault, struct strbuf *out)
{
	strbuf_addf(out, "%.4g %% of packets lost", fault->loss_ratio * 100);
	if (fault->loss_correlation_ratio > 0)
		strbuf_addf(out, ", correlation %.4g %%", fault->loss_correlation_ratio * 100);
}

/* What is slow or gone, behind its place. */
static void add_amount(const struct fault *fault, struct strbuf *out)
{
	char text[UNITS_TEXT_BYTES];

	switch (fault->kind) {
	case FAULT_DELAY:
		add_delay(fault, out);
		return;
	case FAULT_RATE:
		strbuf_addf(out, "at most %s", units_format_rate(fault->rate_bits_per_s, text));
		return;
	case FAULT_SLOW_STAGE:
		strbuf_addf(out, "%.4g times slower", fault->slowdown);
		return;
	case FAULT_DOWN:
		strbuf_addf(out, "rail %d down%s", fault->rail,
		            fault->is_permanent ? ", for good" : "");
		return;
	case FAULT_LOSS:
		add_loss(fault, out);
		return;
	}
}

static void add_place(const struct fault *fault, bool is_both_ways, struct strbuf *out)
{
	int low = fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;

	if (!fault_is_on_link(fault))
		strbuf_addf(out, "stage %d", fault->from_stage);
	else if (is_both_ways)
		strbuf_addf(out, "link %d-%d", low, low + 1);
	else
		strbuf_addf(out, "link %d->%d", fault->from_stage, fault->to_stage);
}

/* "iteration 15, F4 of stage 3" */
static void add_op(const struct moment *moment, struct strbuf *out)
{
	char op[MOMENT_TEXT_BYTES];

	strbuf_addf(out, "iteration %lld, %s", (long long)moment->value,
	            moment_op_text(moment, op));
}

static void add_end(const struct fault *fault, struct strbuf *out)
{
	const struct moment *end = &fault->end;
	bool is_at_op = fault->start.kind == MOMENT_OP;
	char text[UNITS_TEXT_BYTES], op[MOMENT_TEXT_BYTES];

	switch (end->kind) {
	case MOMENT_NEVER:
		strbuf_add(out, " on");
		return;
	case MOMENT_TIME:
		strbuf_addf(out, " %s %s", fault->start.kind == MOMENT_TIME ? "to" : "for",
		            units_format_duration(end->value, text));
		return;
	case MOMENT_ITERATION:
		if (is_at_op || end->value - 1 > fault->start.value)
			strbuf_addf(out, " to %s%lld", is_at_op ? "iteration " : "",
			            (long long)end->value - 1);
		return;
	case MOMENT_OP:
		strbuf_add(out, " to ");
		if (is_at_op && end->value == fault->start.value)
			strbuf_add(out, moment_op_text(end, op));
		else
			add_op(end, out);
		return;
	}
}

static void add_when(const struct fault *fault, struct strbuf *out)
{
	char start[UNITS_TEXT_BYTES];

	if (fault->start.kind == MOMENT_OP)
		add_op(&fault->start, out);
	else if (fault->start.kind == MOMENT_TIME)
		strbuf_addf(out, "from %s", units_format_duration(fault->start.value, start));
	else
		strbuf_addf(out, "iteration %lld", (long long)fault->start.value);
	add_end(fault, out);
}

static void add_exact_moment(const char *name, const struct moment *moment, struct strbuf *out)
{
	char op[MOMENT_TEXT_BYTES];

	switch (moment->kind) {
	case MOMENT_ITERATION:
		strbuf_addf(out, " %s iteration %lld", name, (long long)moment->value);
		return;
	case MOMENT_TIME:
		strbuf_addf(out, " %s %lld ns", name, (long long)moment->value);
		return;
	case MOMENT_NEVER:
		strbuf_addf(out, " %s never", name);
		return;
	case MOMENT_OP:
		strbuf_addf(out, " %s iteration %lld %s", name, (long long)moment->value,
		            moment_op_text(moment, op));
		return;
	}
}

void timeline_add_exact(const struct fault *fault, struct strbuf *out)
{
	strbuf_addf(out, "%s %d->%d", fault_kind_name(fault->kind), fault->from_stage,
	            fault->to_stage);
	add_exact_moment("start", &fault->start, out);
	add_exact_moment("end", &fault->end, out);
	switch (fault->kind) {
	case FAULT_DELAY:
		strbuf_addf(out, " delay %lld ns %s", (long long)fault->delay_ns,
		            delay_model_name(fault->model));
		if (fault->jitter_ns > 0)
			strbuf_addf(out, " jitter %lld ns %s", (long long)fault->jitter_ns,
			            distribution_name(fault->distribution));
		if (fault->allows_reordering)
			strbuf_add(out, " reordering");
		return;
	case FAULT_RATE:
		strbuf_addf(out, " rate %lld bit/s", (long long)fault->rate_bits_per_s);
		return;
	case FAULT_SLOW_STAGE:
		strbuf_addf(out, " slowdown %.17g", fault->slowdown);
		return;
	case FAULT_DOWN:
		strbuf_addf(out, " rail %d%s", fault->rail,
		            fault->is_permanent ? " permanent" : "");
		return;
	case FAULT_LOSS:
		strbuf_addf(out, " loss %.17g correlation %.17g", fault->loss_ratio,
		            fault->loss_correlation_ratio);
		return;
	}
}

/* By start; those by iteration first, since nobody knows yet when those will be. */
static int compare_starts(const void *left, const void *right)
{
	const struct fault *a = *(const struct fault *const *)left;
	const struct fault *b = *(const struct fault *const *)right;

	bool is_a_by_time = a->start.kind == MOMENT_TIME;
	bool is_b_by_time = b->start.kind == MOMENT_TIME;
	int order;

	if (is_a_by_time != is_b_by_time)
		return is_b_by_time ? -1 : 1;
	if (a->start.value != b->start.value)
		return a->start.value < b->start.value ? -1 : 1;
	if (a->start.kind != b->start.kind)
		return a->start.kind < b->start.kind ? -1 : 1;
	order = scenario_compare_ops(&a->start, &b->start);
	if (order != 0)
		return order;
	return a < b ? -1 : a > b;
}

static bool is_same_moment(const struct moment *a, const struct moment *b)
{
	return a->kind == b->kind && scenario_compare_ops(a, b) == 0;
}

/* Is b the same as a, on the way back? */
static bool is_way_back(const struct fault *a, const struct fault *b)
{
	return fault_is_on_link(a) && a->kind == b->kind && a->event == b->event &&
	       a->from_stage == b->to_stage && a->to_stage == b->from_stage &&
	       is_same_moment(&a->start, &b->start) && is_same_moment(&a->end, &b->end) &&
	       a->delay_ns == b->delay_ns && a->jitter_ns == b->jitter_ns &&
	       a->rate_bits_per_s == b->rate_bits_per_s && a->loss_ratio == b->loss_ratio;
}

struct fault_row {
	struct strbuf when;
	struct strbuf what;
};

static void describe(const struct fault *fault, bool is_both_ways, struct fault_row *row)
{
	strbuf_clear(&row->when);
	strbuf_clear(&row->what);
	add_when(fault, &row->when);
	add_place(fault, is_both_ways, &row->what);
	strbuf_add(&row->what, ": ");
	add_amount(fault, &row->what);
}

static void add_text_row(const struct fault_row *row, int n_columns, struct strbuf *out,
                         const struct report_style *style)
{
	strbuf_addf(out, "  %-*s  ", n_columns, strbuf_text(&row->when));
	display_add(out, strbuf_text(&row->what), style);
	strbuf_add_char(out, '\n');
}

static void add_json_row(const struct fault *fault, const struct fault_row *row,
                         struct json_write *json)
{
	json_open_object(json, NULL);
	json_string(json, "kind", fault_kind_name(fault->kind));
	json_string(json, "when", strbuf_text(&row->when));
	json_string(json, "what", strbuf_text(&row->what));
	json_int(json, "line", fault->script_line);
	json_close(json);
}

/* What the longest of the moments needs. */
static int when_columns(const struct scenario *scenario, struct strbuf *scratch)
{
	size_t n = WHEN_COLUMNS;

	for (size_t i = 0; i < scenario->n_faults; i++) {
		strbuf_clear(scratch);
		add_when(&scenario->faults[i], scratch);
		n = scratch->length > n ? scratch->length : n;
	}
	return (int)n;
}

/* Into json if it is given, else as text; *n_out is how many there are, both ways of a link being
 * one. -1: out of memory. */
static int add_rows(const struct scenario *scenario, struct json_write *json, struct strbuf *out,
                    const struct report_style *style, size_t *n_out)
{
	const struct fault **sorted = array_new(scenario->n_faults, sizeof(*sorted));
	struct fault_row row = {0};
	size_t n = scenario->n_faults;
	int n_columns;

	if (!sorted)
		return -1;
	*n_out = 0;
	n_columns = when_columns(scenario, &row.when);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &scenario->faults[i];
	qsort(sorted, n, sizeof(*sorted), compare_starts);
	for (size_t i = 0; i < n; i++) {
		const struct fault *fault = sorted[i];
		bool is_both_ways = i + 1 < n && is_way_back(fault, sorted[i + 1]);

		describe(fault, is_both_ways, &row);
		if (json)
			add_json_row(fault, &row, json);
		else
			add_text_row(&row, n_columns, out, style);
		i += is_both_ways;
		++*n_out;
	}
	out->is_failed |= row.when.is_failed | row.what.is_failed;
	strbuf_fini(&row.when);
	strbuf_fini(&row.what);
	free(sorted);
	return 0;
}

static void add_all_settings(struct json_write *json, const struct loaded *loaded,
                             const struct options *options)
{
	json_open_object(json, "settings");
	settings_add_scenario(json, loaded, options);
	json_close(json);
	json_open_array(json, "schedules");
	for (size_t i = 0; i < loaded->scenario->n_schedules; i++) {
		json_open_object(json, NULL);
		settings_add_schedule(json, loaded, i);
		json_close(json);
	}
	json_close(json);
}

static int write_json(const struct loaded *loaded, const struct options *options,
                      struct strbuf *out)
{
	struct json_write json;
	size_t n_rows;
	int rc;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_int(&json, "schema", 1);
	json_bool(&json, "dry_run", true);
	json_string(&json, "scenario", loaded->scenario->title);
	json_open_array(&json, "timeline");
	rc = add_rows(loaded->scenario, &json, out, NULL, &n_rows);
	json_close(&json);
	add_all_settings(&json, loaded, options);
	json_close(&json);
	strbuf_add_char(out, '\n');
	return rc;
}

static int write_text(const struct loaded *loaded, const struct options *options,
                      struct strbuf *out)
{
	const struct report_style style = output_style(options);
	struct strbuf rows = {0};
	struct json_write json;
	size_t n_rows = 0;
	int rc = add_rows(loaded->scenario, NULL, &rows, &style, &n_rows);

	display_add(out, loaded->scenario->title, &style);
	strbuf_addf(out, "\n\nFaults (%zu)\n%s", n_rows, strbuf_text(&rows));
	out->is_failed |= rows.is_failed;
	strbuf_fini(&rows);
	strbuf_add(out, "\nEffective settings\n");
	json_init(&json, out, true);
	json_open_object(&json, NULL);
	add_all_settings(&json, loaded, options);
	json_close(&json);
	strbuf_add_char(out, '\n');
	return rc;
}

int timeline_print(const struct loaded *loaded, const struct options *options)
{
	struct strbuf out = {0};
	int rc = options->is_json ? write_json(loaded, options, &out)
	                          : write_text(loaded, options, &out);

	out.is_failed |= rc < 0;
	rc = output_result(&out);
	strbuf_fini(&out);
	return rc;
}
