/* facts.c - what a live run was like, as JSON. */
#include "engine/cli/facts.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/json_write.h"
#include "engine/base/units.h"

enum { TIMELINE_LINE_BYTES = 256 };

/* What was done only on paper, a line each, in that order. */
static void add_timeline(struct json_write *json, const struct strbuf *timeline)
{
	const char *line = strbuf_text(timeline);

	json_open_array(json, "timeline");
	while (*line) {
		char text[TIMELINE_LINE_BYTES];
		int n = (int)strcspn(line, "\n");

		(void)snprintf(text, sizeof(text), "%.*s", n, line);
		json_string(json, NULL, text);
		line += n + (line[n] == '\n');
	}
	json_close(json);
}

/* Who applied faults of links, how late, and what that did to packets. */
static void add_lab(struct json_write *json, const struct backend *backend)
{
	const struct live_facts *facts = &backend->facts;
	const struct site_report *report = &backend->site_report;
	double n_applied = facts->n_applied > 0 ? (double)facts->n_applied : 1;

	json_string(json, "lab", backend->lab->name);
	json_string(json, "injectors", backend->applies_text);
	json_int(json, "applied", facts->n_applied);
	json_number(json, "apply_mean_us",
	            (double)facts->apply_late_ns_sum / n_applied / NS_PER_US);
	json_number(json, "apply_max_us", (double)facts->apply_late_ns_max / NS_PER_US);
	json_int(json, "outages", facts->n_outages);
	json_number(json, "notice_max_us", (double)facts->notice_ns_max / NS_PER_US);
	json_number(json, "recover_max_ms", (double)facts->recover_ns_max / NS_PER_MS);
	json_int(json, "packets", report->sent_packets);
	json_int(json, "lost", report->lost_packets);
	json_int(json, "dropped", report->dropped_packets);
	json_int(json, "relayed", report->delayed_packets);
	json_number(json, "relay_mean_us", (double)report->late_mean_ns / NS_PER_US);
	json_number(json, "relay_p99_us", (double)report->late_p99_ns / NS_PER_US);
	json_number(json, "relay_max_us", (double)report->late_max_ns / NS_PER_US);
	if (backend->timeline.length > 0)
		add_timeline(json, &backend->timeline);
}

static void add_rnics(struct json_write *json, const struct backend *backend, struct strbuf *out)
{
	struct strbuf text = {0};

	rnics_describe(&backend->rnics, backend->rnics.n, &text);
	json_string(json, "rnics", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void facts_write(const struct backend *backend, struct strbuf *out)
{
	const struct live_facts *facts = &backend->facts;
	double n_ops = facts->n_ops > 0 ? (double)facts->n_ops : 1;
	struct json_write json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	json_int(&json, "workers", facts->n_workers);
	json_string(&json, "delegates", facts->delegates);
	json_number(&json, "speed", backend->speed);
	if (backend->lowered_from > 0)
		json_number(&json, "lowered_from", backend->lowered_from);
	json_int(&json, "payload_bytes", facts->payload_bytes);
	json_int(&json, "ops", facts->n_ops);
	json_number(&json, "late_mean_us", (double)facts->late_ns_sum / n_ops / NS_PER_US);
	json_number(&json, "late_max_us", (double)facts->late_ns_max / NS_PER_US);
	json_int(&json, "overruns", facts->n_overruns);
	json_int(&json, "messages_judged", facts->n_judged);
	json_int(&json, "messages_unsure", facts->n_unsure);
	json_number(&json, "op_cpu_us", (double)facts->op_cpu_ns / NS_PER_US);
	json_number(&json, "foreign_cores", facts->foreign_cores);
	json_number(&json, "between_s", (double)facts->between_ns / NS_PER_S);
	if (facts->watching_ns > 0)
		json_number(&json, "watching_s", (double)facts->watching_ns / NS_PER_S);
	if (backend->rnics.n > 0)
		add_rnics(&json, backend, out);
	if (backend->lab)
		add_lab(&json, backend);
	json_close(&json);
}
