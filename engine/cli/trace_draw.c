/* trace_draw.c - a stored run drawn as a Chrome trace. */
#include "engine/cli/trace_draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/interrupt.h"

enum { NUMBER_BYTES = 24 };

static int draw_iteration(struct chrome_trace *trace, const struct trace_source *source, size_t i,
                          bool has_arrows, struct err *err)
{
	struct record_iteration iteration = source->iterations[i];
	struct record_op *ops;
	int rc = trace_source_ops(source, i, &ops, &iteration.n_ops, err);

	if (rc)
		return rc;
	iteration.ops = ops;
	rc = chrome_trace_iteration(trace, &iteration, has_arrows, err);
	free(ops);
	return rc;
}

static bool is_same_pair(const struct stored_fault *a, const struct stored_fault *b)
{
	bool is_same = a->from_stage == b->from_stage && a->to_stage == b->to_stage;
	bool is_reverse = a->from_stage == b->to_stage && a->to_stage == b->from_stage;

	return a->event == b->event && a->attempt == b->attempt && a->applied_ns == b->applied_ns &&
	       a->cleared_ns == b->cleared_ns && (is_same || is_reverse);
}

static int64_t end_of_run_ns(const struct trace_source *source)
{
	int64_t run_end_ns = 0;

	for (size_t i = 0; i < source->n_iterations; i++) {
		int64_t end_ns = source->iterations[i].start_ns + source->iterations[i].duration_ns;

		run_end_ns = end_ns > run_end_ns ? end_ns : run_end_ns;
	}
	return run_end_ns;
}

/* Both directions of a link are one slice. */
static int draw_faults(struct chrome_trace *trace, const struct trace_source *source,
                       struct err *err)
{
	int64_t run_end_ns = end_of_run_ns(source);
	int rc = 0;

	for (size_t i = 0, next; i < source->n_faults && !rc; i = next) {
		const struct stored_fault *fault = &source->faults[i];
		struct chrome_trace_fault drawn = {
			.start_ns = fault->applied_ns,
			.end_ns = fault->cleared_ns < 0 ? run_end_ns : fault->cleared_ns,
			.from_stage = fault->from_stage,
			.to_stage = fault->to_stage,
			.label = fault->label,
		};

		for (next = i;
		     next < source->n_faults && is_same_pair(fault, &source->faults[next]); next++)
			drawn.n_messages += source->faults[next].n_messages;
		if (fault->applied_ns >= 0)
			rc = chrome_trace_fault(trace, &drawn, err);
	}
	return rc;
}

static int draw_decision(struct chrome_trace *trace, const struct stored_decision *stored,
                         struct err *err)
{
	struct record_decision decision = {
		.attempt = stored->attempt,
		.iteration = stored->iteration,
		.at_ns = stored->at_ns,
		.link = stored->link,
		.seen_ns = stored->seen_ns,
		.since_iteration = stored->since_iteration,
		.warmups = stored->warmups,
		.clamped = stored->clamped,
		.reason = stored->reason,
	};

	decision.plane = strcmp(stored->plane, plane_kind_name(PLANE_DELEGATE)) == 0
	                         ? PLANE_DELEGATE
	                         : PLANE_STREAM;
	for (int kind = DECISION_REPLAN; kind <= DECISION_RECOVER; kind++)
		if (strcmp(stored->kind, decision_kind_name((enum decision_kind)kind)) == 0)
			decision.kind = (enum decision_kind)kind;
	return chrome_trace_decision(trace, &decision, err);
}

static int draw(struct chrome_trace *trace, const struct trace_source *source,
                const struct trace_selection *selection, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < source->n_iterations && !rc; i++) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted before the trace was whole");
		if (selection->is_drawn[i])
			rc = draw_iteration(trace, source, i, selection->has_arrows[i], err);
	}
	if (!rc)
		rc = draw_faults(trace, source, err);
	for (size_t i = 0; i < source->n_decisions && !rc; i++)
		rc = draw_decision(trace, &source->decisions[i], err);
	return rc ? rc : chrome_trace_end(trace, err);
}

int trace_draw(const struct trace_source *source, const struct trace_selection *selection,
               struct chrome_trace_target target, struct err *err)
{
	const struct stored_run *run = source->run;
	const struct stored_pipeline *pipeline = &source->pipeline;
	char number[NUMBER_BYTES];
	const struct chrome_trace_note notes[] = {
		{"run", number},
		{"scenario", run->scenario_title},
		{"schedule", run->schedule},
		{"mode", run->mode},
		{"status", run->status},
		{"created", run->created},
		{"host", run->host},
		{"adaptra_bench", run->version},
		{"times", "since the start of the run, in profile time"},
	};
	const struct chrome_trace_run drawn = {
		.n_stages = pipeline->n_stages,
		.n_replicas = pipeline->n_replicas,
		.n_hosts = pipeline->n_hosts,
		.timer = pipeline->timer,
		.message_bytes = pipeline->message_bytes,
		.activation_bytes = pipeline->activation_bytes,
		.notes = notes,
		.n_notes = sizeof(notes) / sizeof(notes[0]),
	};
	struct chrome_trace *trace;
	int rc;

	snprintf(number, sizeof(number), "%" PRId64, run->run);
	rc = chrome_trace_new(&drawn, target, &trace, err);
	if (rc)
		return rc;
	rc = draw(trace, source, selection, err);
	chrome_trace_free(trace);
	return rc;
}
