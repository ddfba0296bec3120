/* record_capture.c - a sink that keeps everything, and runs of the simulator into it. */
#include "tests/record_capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/scenario/digest.h"
#include "tests/tap.h"

static void *grow(void *items, size_t *capacity, size_t n_wanted, size_t item_bytes)
{
	void *grown = array_grow(items, capacity, n_wanted, item_bytes);

	if (!grown) {
		fprintf(stderr, "# no memory for a record\n");
		exit(1);
	}
	return grown;
}

static uint64_t digest_ints(uint64_t digest, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		digest = digest_int(digest, values[i]);
	return digest;
}

static uint64_t digest_iteration(uint64_t digest, const struct record_iteration *row)
{
	const int64_t values[] = {row->attempt,        row->iteration, row->is_complete,
	                          (int64_t)row->plane, row->start_ns,  row->duration_ns,
	                          row->compute_ns,     row->wait_ns,   row->blocked_ns,
	                          (int64_t)row->n_ops};

	digest = digest_ints(digest, values, sizeof(values) / sizeof(values[0]));
	for (size_t i = 0; i < row->n_ops; i++) {
		const struct record_op *op = &row->ops[i];
		const int64_t of_op[] = {op->stage,
		                         op->replica,
		                         (int64_t)op->kind,
		                         op->microbatch,
		                         op->start_ns,
		                         op->end_ns,
		                         op->message_request_ns,
		                         op->message_start_ns,
		                         op->message_end_ns,
		                         op->message_arrive_ns,
		                         op->message_rail,
		                         op->message_queue,
		                         op->message_n_resends};

		digest = digest_ints(digest, of_op, sizeof(of_op) / sizeof(of_op[0]));
	}
	return digest;
}

static void keep_ops(struct capture *capture, const struct record_iteration *row)
{
	size_t n = capture->n_iterations, n_ops = capture->n_ops + row->n_ops;

	capture->first_op = grow(capture->first_op, &capture->first_op_capacity, n + 1,
	                         sizeof(*capture->first_op));
	capture->first_op[n] = capture->n_ops;
	if (row->n_ops == 0)
		return;
	capture->ops = grow(capture->ops, &capture->ops_capacity, n_ops, sizeof(*capture->ops));
	memcpy(capture->ops + capture->n_ops, row->ops, row->n_ops * sizeof(*row->ops));
	capture->n_ops = n_ops;
}

static int take_iteration(struct record_sink *sink, const struct record_iteration *row,
                          struct err *err)
{
	struct capture *capture = (struct capture *)sink;
	size_t n = capture->n_iterations;

	if (capture->n_until_refused > 0 && n == capture->n_until_refused)
		return err_set(err, -ENOSPC, "the test's sink is full after %zu iterations", n);
	keep_ops(capture, row);
	capture->iterations = grow(capture->iterations, &capture->iterations_capacity, n + 1,
	                           sizeof(*capture->iterations));
	capture->iterations[n] = *row;
	capture->iterations[n].ops = NULL;
	capture->n_iterations++;
	capture->digest = digest_iteration(capture->digest, row);
	return 0;
}

static int take_fault(struct record_sink *sink, const struct record_fault *row, struct err *err)
{
	struct capture *capture = (struct capture *)sink;
	const int64_t values[] = {(int64_t)row->fault, row->attempt,    row->asked_ns,
	                          row->applied_ns,     row->cleared_ns, row->measured_ns,
	                          row->n_messages};

	(void)err;
	capture->faults = grow(capture->faults, &capture->faults_capacity, capture->n_faults + 1,
	                       sizeof(*capture->faults));
	capture->faults[capture->n_faults++] = *row;
	if (row->traffic) {
		struct record_traffic *kept = grow(NULL, &(size_t){0}, 1, sizeof(*kept));

		*kept = *row->traffic;
		capture->faults[capture->n_faults - 1].traffic = kept;
	}
	capture->digest = digest_ints(capture->digest, values, sizeof(values) / sizeof(values[0]));
	return 0;
}

static int take_decision(struct record_sink *sink, const struct record_decision *row,
                         struct err *err)
{
	struct capture *capture = (struct capture *)sink;
	const int64_t values[] = {(int64_t)row->kind,   row->attempt,       row->iteration,
	                          row->at_ns,           row->link,          row->seen_ns,
	                          row->since_iteration, (int64_t)row->plane};
	struct captured_decision *kept;

	(void)err;
	capture->decisions = grow(capture->decisions, &capture->decisions_capacity,
	                          capture->n_decisions + 1, sizeof(*capture->decisions));
	kept = &capture->decisions[capture->n_decisions++];
	kept->row = *row;
	snprintf(kept->warmups, sizeof(kept->warmups), "%s", row->warmups);
	snprintf(kept->clamped, sizeof(kept->clamped), "%s", row->clamped);
	snprintf(kept->reason, sizeof(kept->reason), "%s", row->reason);
	kept->row.warmups = kept->row.clamped = kept->row.reason = NULL;
	capture->digest = digest_ints(capture->digest, values, sizeof(values) / sizeof(values[0]));
	capture->digest = digest_text(capture->digest, row->warmups);
	capture->digest = digest_text(capture->digest, row->clamped);
	capture->digest = digest_text(capture->digest, row->reason);
	return 0;
}

static const struct record_sink_ops capture_ops = {
	.iteration = take_iteration,
	.fault = take_fault,
	.decision = take_decision,
};

void capture_init(struct capture *capture, bool wants_ops)
{
	*capture = (struct capture){.base = {.ops = &capture_ops, .wants_ops = wants_ops},
	                            .digest = DIGEST_START};
}

void capture_fini(struct capture *capture)
{
	free(capture->iterations);
	free(capture->first_op);
	free(capture->ops);
	for (size_t i = 0; i < capture->n_faults; i++)
		free((void *)capture->faults[i].traffic);
	free(capture->faults);
	free(capture->decisions);
}

int capture_request(struct capture *capture, struct sim_request request,
                    const struct scenario *scenario, const char *schedule)
{
	capture_init(capture, true);
	request.scenario = scenario;
	request.schedule = schedule_find(schedule, &capture->err);
	if (!request.schedule)
		return -ENOENT;
	return sim_run(&request, &capture->base, &capture->totals, &capture->err);
}

int capture_run(struct capture *capture, const struct scenario *scenario, const char *schedule)
{
	return capture_request(capture, (struct sim_request){0}, scenario, schedule);
}

const struct record_op *capture_op(const struct capture *capture, size_t i, int stage,
                                   enum op_kind kind, int microbatch)
{
	size_t end = i + 1 < capture->n_iterations ? capture->first_op[i + 1] : capture->n_ops;

	for (size_t at = capture->first_op[i]; at < end; at++) {
		const struct record_op *op = &capture->ops[at];

		if (op->stage == stage && op->kind == kind && op->microbatch == microbatch)
			return op;
	}
	return NULL;
}

int capture_count(const struct capture *capture, enum decision_kind kind,
                  const struct captured_decision **first_out)
{
	int n = 0;

	*first_out = NULL;
	for (size_t i = 0; i < capture->n_decisions; i++) {
		if (capture->decisions[i].row.kind != kind)
			continue;
		if (n++ == 0)
			*first_out = &capture->decisions[i];
	}
	return n;
}

static bool ops_lie_inside(const struct capture *capture, size_t i)
{
	const struct record_iteration *row = &capture->iterations[i];
	size_t end = i + 1 < capture->n_iterations ? capture->first_op[i + 1] : capture->n_ops;

	for (size_t at = capture->first_op[i]; at < end; at++)
		if (capture->ops[at].start_ns < row->start_ns ||
		    capture->ops[at].end_ns < capture->ops[at].start_ns ||
		    capture->ops[at].end_ns > row->start_ns + row->duration_ns)
			return false;
	return true;
}

/* Length of the ops of iteration i, of all replicas: without a record of its own, one is like the
 * first. */
static int64_t busy_ns(const struct capture *capture, size_t i, int n_replicas)
{
	size_t end = i + 1 < capture->n_iterations ? capture->first_op[i + 1] : capture->n_ops;
	int64_t sum_ns = 0;
	int n_recorded = 1;

	for (size_t at = capture->first_op[i]; at < end; at++) {
		sum_ns += capture->ops[at].end_ns - capture->ops[at].start_ns;
		if (capture->ops[at].replica >= n_recorded)
			n_recorded = capture->ops[at].replica + 1;
	}
	return sum_ns * n_replicas / n_recorded;
}

/* Moments of messages lie inside their iteration and in their order; −1: there is none. */
static int count_bad_messages(const struct capture *capture, size_t i)
{
	const struct record_iteration *row = &capture->iterations[i];
	size_t end = i + 1 < capture->n_iterations ? capture->first_op[i + 1] : capture->n_ops;
	int n_bad = 0;

	for (size_t at = capture->first_op[i]; at < end; at++) {
		const struct record_op *op = &capture->ops[at];
		const int64_t moments[] = {op->message_request_ns, op->message_start_ns,
		                           op->message_end_ns, op->message_arrive_ns};

		for (int k = 0; k < 4; k++)
			n_bad +=
				moments[k] != -1 && (moments[k] < op->end_ns ||
			                             moments[k] > row->start_ns + row->duration_ns);
		n_bad += op->message_start_ns >= 0 && op->message_request_ns < 0;
	}
	return n_bad;
}

/* What is said of faults is of the run's time, and of messages that they hit. */
static int count_bad_faults(const struct capture *capture)
{
	int n_bad = 0;

	for (size_t i = 0; i < capture->n_faults; i++) {
		const struct record_fault *row = &capture->faults[i];

		n_bad += row->applied_ns < 0 || row->applied_ns > capture->totals.total_ns ||
		         row->measured_ns < -1 || (row->n_messages == 0 && row->measured_ns != -1);
		n_bad += row->cleared_ns != -1 && (row->cleared_ns < row->applied_ns ||
		                                   row->cleared_ns > capture->totals.total_ns);
	}
	return n_bad;
}

void capture_check(const struct capture *capture, const struct scenario *scenario)
{
	int64_t n_lanes = scenario->topology.n_stages * scenario->topology.n_replicas, now_ns = 0;
	int n_bad_shares = 0, n_gaps = 0, n_outside = 0, n_bad_compute = 0, n_bad_messages = 0;
	int attempt = 0;

	for (size_t i = 0; i < capture->n_iterations; i++) {
		const struct record_iteration *row = &capture->iterations[i];

		if (row->attempt > attempt)
			now_ns += scenario->recovery.restart_ns;
		attempt = row->attempt;
		n_gaps += row->start_ns != now_ns;
		now_ns += row->duration_ns;
		n_bad_shares += row->compute_ns < 0 || row->wait_ns < 0 || row->blocked_ns < 0 ||
		                row->compute_ns + row->wait_ns + row->blocked_ns !=
		                        row->duration_ns * n_lanes;
		n_outside += !ops_lie_inside(capture, i);
		n_bad_messages += count_bad_messages(capture, i);
		n_bad_compute +=
			capture->base.wants_ops &&
			busy_ns(capture, i, scenario->topology.n_replicas) != row->compute_ns;
	}
	tap_ok(capture->n_iterations > 0, "there are iterations to check");
	tap_is_int(n_bad_shares, 0, "compute, wait and blocked add up in every iteration");
	tap_is_int(n_gaps, 0, "iterations follow one another, restarts between attempts");
	tap_is_int(n_outside, 0, "every op lies inside its iteration");
	tap_is_int(n_bad_compute, 0, "compute is the length of the ops");
	tap_is_int(n_bad_messages, 0, "messages leave after their ops and in their iteration");
	tap_is_int(count_bad_faults(capture), 0, "faults begin and end within the run");
	tap_is_int(capture->totals.total_ns, now_ns, "the total is the end of the last iteration");
}
