/* report_plan_json.c - what a schedule planned, as one JSON document, DESIGN.md section 9. */
#include <stdlib.h>

#include "engine/base/json_write.h"
#include "engine/base/units.h"
#include "reports/report.h"

enum { SCHEMA = 1 };

static const double MS = NS_PER_MS;

static void add_order(struct json_write *json, const struct plan *plan, int stage)
{
	char *order = plan_order_text(plan, stage);

	json_string(json, "order", order);
	if (!order)
		json->out->is_failed = 1;
	free(order);
}

/* tolerated_delay_ms is null where more than all that was tried is tolerated; tolerates_all_tried
 * says so. */
static void add_stage(struct json_write *json, const struct plan_report *report, int stage)
{
	const struct plan *plan = report->plan;
	bool has_next = stage < plan->n_stages - 1;
	bool tolerates_all = has_next && report->tolerated_delay_ns[stage] < 0;

	json_open_object(json, NULL);
	json_int(json, "stage", stage);
	json_int(json, "warmup", plan->warmups[stage]);
	if (has_next)
		json_int(json, "slack_to_next", plan->warmups[stage] - plan->warmups[stage + 1]);
	else
		json_null(json, "slack_to_next");
	if (has_next && !tolerates_all)
		json_number(json, "tolerated_delay_ms",
		            (double)report->tolerated_delay_ns[stage] / MS);
	else
		json_null(json, "tolerated_delay_ms");
	json_bool(json, "tolerates_all_tried", tolerates_all);
	json_int(json, "peak_activations", plan_peak_activations(plan, stage));
	add_order(json, plan, stage);
	json_close(json);
}

static void add_clamp(struct json_write *json, const struct plan_clamp *clamp)
{
	json_open_object(json, NULL);
	json_int(json, "stage", clamp->stage);
	json_int(json, "asked", clamp->asked);
	json_int(json, "given", clamp->given);
	json_string(json, "reason", clamp->reason);
	json_close(json);
}

void report_plan_json(const struct plan_report *report, struct strbuf *out)
{
	const struct plan *plan = report->plan;
	struct json_write json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_int(&json, "schema", SCHEMA);
	json_string(&json, "scenario", report->scenario_title);
	json_string(&json, "schedule", report->schedule);
	json_string(&json, "plane", report->plane);
	if (report->iteration < 0)
		json_null(&json, "iteration");
	else
		json_int(&json, "iteration", report->iteration);
	json_int(&json, "microbatches", plan->n_microbatches);
	json_open_array(&json, "stages");
	for (int stage = 0; stage < plan->n_stages; stage++)
		add_stage(&json, report, stage);
	json_close(&json);
	json_number(&json, "makespan_ms", (double)plan->makespan_ns / MS);
	json_null(&json,
	          "bound_ms"); /* nothing computes a bound yet; the key is part of the contract */
	json_open_array(&json, "clamped");
	for (size_t i = 0; i < plan->n_clamps; i++)
		add_clamp(&json, &plan->clamps[i]);
	json_close(&json);
	if (report->warning && *report->warning)
		json_string(&json, "warning", report->warning);
	else
		json_null(&json, "warning");
	json_close(&json);
	strbuf_add_char(out, '\n');
}
