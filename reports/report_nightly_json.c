/* report_nightly_json.c - the last night of some scenarios as one JSON document. */
#include <math.h>

#include "engine/base/json_write.h"
#include "reports/report_nightly.h"

enum { SCHEMA = 1 };

static void add_change(struct json_write *json, const struct nightly_history *history,
                       const struct change *change)
{
	json_open_object(json, NULL);
	json_int(json, "comparison", history->comparisons[change->night]);
	json_string(json, "created", history->created[change->night]);
	json_string(json, "version", history->versions[change->night]);
	json_number(json, "before", change->before);
	json_number(json, "after", change->after);
	json_number(json, "p", change->p);
	json_close(json);
}

static void add_verdict(struct json_write *json, const struct nightly_history *history,
                        const struct nightly_verdict *verdict)
{
	json_open_object(json, NULL);
	json_string(json, "schedule", history->schedules[verdict->schedule].name);
	json_string(json, "metric", nightly_metric_name(verdict->metric));
	json_string(json, "state", nightly_state_name(verdict->state));
	json_number(json, "tonight", verdict->tonight);
	json_number(json, "fresh", verdict->fresh);
	json_int(json, "outliers", (int64_t)verdict->n_outliers);
	json_open_array(json, "changes");
	for (size_t i = 0; i < verdict->n_changes; i++)
		add_change(json, history, &verdict->changes[i]);
	json_close(json);
	json_open_object(json, "more");
	for (int m = 0; m < NIGHTLY_CONTROL; m++)
		json_number(json, nightly_metric_name(m), verdict->more[m]);
	json_close(json);
	json_close(json);
}

static void add_report(struct json_write *json, const struct nightly_report *report)
{
	json_open_object(json, NULL);
	json_string(json, "scenario", report->title);
	json_string(json, "path", report->path);
	json_int(json, "comparison", report->comparison);
	json_bool(json, "failed", report->has_failed);
	json_int(json, "nights", (int64_t)report->history->n_nights);
	json_number(json, "least_ratio", report->history->settings.least_ratio);
	json_open_array(json, "metrics");
	for (size_t i = 0; i < report->n_verdicts; i++)
		add_verdict(json, report->history, &report->verdicts[i]);
	json_close(json);
	json_close(json);
}

void report_nightly_json(const struct nightly_report *reports, size_t n_reports, struct strbuf *out)
{
	struct json_write json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_int(&json, "schema", SCHEMA);
	json_int(&json, "regressions", (int64_t)nightly_count_regressions(reports, n_reports));
	json_open_array(&json, "scenarios");
	for (size_t i = 0; i < n_reports; i++)
		add_report(&json, &reports[i]);
	json_close(&json);
	json_close(&json);
	strbuf_add_char(out, '\n');
}
