/* chrome_trace_edges.c - draws faults and decisions, and ends the file. */
#include <errno.h>

#include "engine/format/chrome_trace_internal.h"

/* A line across all processes. Its arguments stay open. */
static void open_instant(struct chrome_trace *trace, const char *category, const char *name,
                         int pid, int64_t at_ns)
{
	event_open(trace,
	           &(struct trace_event){"i", name, category, pid, LANE_FAULTS, trace_time(at_ns)});
	json_string(&trace->json, "s", "g");
	json_open_object(&trace->json, "args");
}

static void close_instant(struct chrome_trace *trace)
{
	json_close(&trace->json);
	event_close(trace);
}

static int draw_fault(struct chrome_trace *trace, const struct chrome_trace_fault *fault, int pid,
                      struct err *err)
{
	struct slice slice = {
		.pid = pid,
		.kind = LANE_FAULTS,
		.start_ns = trace_time(fault->start_ns),
		.end_ns = trace_time(fault->end_ns),
	};
	int rc;

	if (slice.end_ns < slice.start_ns)
		slice.end_ns = slice.start_ns;
	rc = lane_take(trace, &slice, err);
	if (rc)
		return rc;
	event_open(trace, &(struct trace_event){"X", fault->label, "fault", pid, slice.tid,
	                                        slice.start_ns});
	event_add_us(trace, "dur", slice.end_ns - slice.start_ns);
	json_open_object(&trace->json, "args");
	json_int(&trace->json, "from_stage", fault->from_stage);
	json_int(&trace->json, "to_stage", fault->to_stage);
	json_int(&trace->json, "messages", fault->n_messages);
	json_close(&trace->json);
	event_close(trace);
	return 0;
}

static int draw_fault_of_stage(struct chrome_trace *trace, const struct chrome_trace_fault *fault,
                               int stage, struct err *err)
{
	int rc = 0;

	for (int replica = 0; replica < trace->run.n_replicas && !rc; replica++) {
		int pid = trace_pid(trace, stage, replica);

		if (replica == 0 || trace->processes[pid])
			rc = draw_fault(trace, fault, pid, err);
		if (!rc)
			rc = trace_flush_if_due(trace, err);
	}
	return rc;
}

int chrome_trace_fault(struct chrome_trace *trace, const struct chrome_trace_fault *fault,
                       struct err *err)
{
	int n_stages = trace->run.n_stages, rc;

	if (fault->from_stage < 0 || fault->from_stage >= n_stages || fault->to_stage < 0 ||
	    fault->to_stage >= n_stages)
		return err_set(err, -EINVAL, "a fault is of stages %d and %d; there are %d stages",
		               fault->from_stage, fault->to_stage, n_stages);
	rc = draw_fault_of_stage(trace, fault, fault->from_stage, err);
	if (!rc && fault->to_stage != fault->from_stage)
		rc = draw_fault_of_stage(trace, fault, fault->to_stage, err);
	if (rc)
		return rc;
	open_instant(trace, "fault", fault->label, trace_pid(trace, fault->from_stage, 0),
	             fault->start_ns);
	close_instant(trace);
	return trace_flush_if_due(trace, err);
}

int chrome_trace_decision(struct chrome_trace *trace, const struct record_decision *decision,
                          struct err *err)
{
	bool has_link = decision->link >= 0 && decision->link < trace->run.n_stages - 1;
	struct json_write *json = &trace->json;
	int pid = has_link ? decision->link : 0;
	int rc = process_need(trace, pid, err);

	if (rc)
		return rc;
	open_instant(trace, "decision", decision_kind_name(decision->kind), pid, decision->at_ns);
	json_int(json, "iteration", decision->iteration);
	json_int(json, "attempt", decision->attempt);
	json_string(json, "reason", decision->reason);
	if (has_link)
		json_int(json, "link", decision->link);
	json_string(json, "plane", plane_kind_name(decision->plane));
	json_string(json, "warmups", decision->warmups);
	if (decision->clamped[0])
		json_string(json, "clamped", decision->clamped);
	close_instant(trace);
	return trace_flush_if_due(trace, err);
}

int chrome_trace_end(struct chrome_trace *trace, struct err *err)
{
	struct json_write *json = &trace->json;

	json_close(json);
	json_open_object(json, "otherData");
	for (size_t i = 0; i < trace->run.n_notes; i++)
		json_string(json, trace->run.notes[i].name, trace->run.notes[i].text);
	json_close(json);
	json_close(json);
	strbuf_add_char(&trace->out, '\n');
	return trace_flush(trace, err);
}
