/* chrome_trace.c - draws iterations, faults and decisions as events of a Chrome trace.
 *
 * An arrow is drawn only when its ends lie inside slices, before their ends, and when it leads
 * forward in time. So the slice of a message is drawn at least a nanosecond long, and one that
 * seems to arrive before it was sent, because clocks differ, is drawn to arrive just after; its
 * arguments then say what was recorded. */
#include "engine/format/chrome_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/chrome_trace_internal.h"
#include "engine/scenario/topology.h"

enum { NAME_BYTES = 48 };

/* What an op is drawn as. */
enum part { PART_OP, PART_SEND, PART_RECV, PARTS };

/* An iteration while it is drawn. slices[PARTS * i …] are of op i. */
struct drawing {
	struct chrome_trace *trace;
	const struct record_iteration *iteration;
	bool has_arrows;
	struct slice *slices;
};

int chrome_trace_new(const struct chrome_trace_run *run, struct chrome_trace_target target,
                     struct chrome_trace **out, struct err *err)
{
	struct chrome_trace *trace;

	if (run->n_stages < 1 || run->n_stages > TOPOLOGY_STAGES_MAX || run->n_replicas < 1 ||
	    run->n_replicas > TOPOLOGY_REPLICAS_MAX)
		return err_set(err, -EINVAL,
		               "cannot draw %d stages in %d replicas; there may be 1 to %d in 1 to "
		               "%d",
		               run->n_stages, run->n_replicas, TOPOLOGY_STAGES_MAX,
		               TOPOLOGY_REPLICAS_MAX);
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return trace_fail_memory(err);
	trace->run = *run;
	if (run->n_hosts < 0 || run->n_hosts > run->n_stages)
		trace->run.n_hosts = 0;
	trace->target = target;
	trace->n_processes = (size_t)run->n_stages * (size_t)run->n_replicas;
	trace->processes = array_new(trace->n_processes, sizeof(struct process *));
	if (!trace->processes) {
		free(trace);
		return trace_fail_memory(err);
	}
	json_init(&trace->json, &trace->out, false);
	json_open_object(&trace->json, NULL);
	json_string(&trace->json, "displayTimeUnit", "ms");
	json_open_array(&trace->json, "traceEvents");
	*out = trace;
	return 0;
}

void chrome_trace_free(struct chrome_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->n_processes; i++)
		process_free(trace->processes[i]);
	free(trace->processes);
	strbuf_fini(&trace->out);
	free(trace);
}

static int peer_of(const struct record_op *op)
{
	return op->kind == OP_F ? op->stage + 1 : op->stage - 1;
}

static bool is_stage(const struct chrome_trace *trace, int stage)
{
	return stage >= 0 && stage < trace->run.n_stages;
}

static int check_ops(const struct chrome_trace *trace, const struct record_iteration *iteration,
                     struct err *err)
{
	for (size_t i = 0; i < iteration->n_ops; i++) {
		const struct record_op *op = &iteration->ops[i];

		if (!is_stage(trace, op->stage) || op->replica < 0 ||
		    op->replica >= trace->run.n_replicas)
			return err_set(err, -EINVAL,
			               "iteration %d has an op of stage %d, replica %d; there are "
			               "%d stages and %d replicas",
			               iteration->iteration, op->stage, op->replica,
			               trace->run.n_stages, trace->run.n_replicas);
		if (op->message_start_ns >= 0 && !is_stage(trace, peer_of(op)))
			return err_set(err, -EINVAL,
			               "iteration %d: %c%d of stage %d sends to stage %d, which is "
			               "not there",
			               iteration->iteration, op_kind_letter(op->kind),
			               op->microbatch, op->stage, peer_of(op));
	}
	return 0;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Where the arrow leaves. */
static int64_t tail_ns(const struct slice *send)
{
	return send->start_ns + (send->end_ns - send->start_ns) / 2;
}

/* The plane may change inside an iteration; where the record has the way of messages, it says which
 * were the delegates'. */
static bool is_delegated(const struct record_iteration *iteration, const struct record_op *op)
{
	return op->message_rail >= 0 ? op->message_queue >= 0 : iteration->plane == PLANE_DELEGATE;
}

static void place_message(const struct drawing *drawing, const struct record_op *op,
                          struct slice *send, struct slice *recv)
{
	const struct chrome_trace *trace = drawing->trace;
	const struct record_iteration *iteration = drawing->iteration;
	int64_t edge_ns = trace_time(iteration->start_ns) + trace_time(iteration->duration_ns);
	int64_t start_ns = trace_time(op->message_start_ns);
	int64_t end_ns = op->message_end_ns < 0 ? edge_ns : trace_time(op->message_end_ns);

	if (op->message_start_ns < 0)
		return;
	*send = (struct slice){
		.is_drawn = true,
		.pid = trace_pid(trace, op->stage, op->replica),
		.kind = is_delegated(iteration, op) ? LANE_DELEGATE : LANE_SEND,
		.start_ns = start_ns,
		.end_ns = later(end_ns, start_ns + 1),
	};
	if (op->message_arrive_ns < 0)
		return;
	*recv = (struct slice){
		.is_drawn = true,
		.pid = trace_pid(trace, peer_of(op), op->replica),
		.kind = LANE_RECV,
		.start_ns = start_ns,
		.end_ns = later(trace_time(op->message_arrive_ns), tail_ns(send) + 2),
	};
}

static void place_op(const struct drawing *drawing, const struct record_op *op,
                     struct slice slices[PARTS])
{
	int64_t start_ns = trace_time(op->start_ns);

	slices[PART_OP] = (struct slice){
		.is_drawn = true,
		.pid = trace_pid(drawing->trace, op->stage, op->replica),
		.kind = LANE_COMPUTE,
		.start_ns = start_ns,
		.end_ns = later(trace_time(op->end_ns), start_ns),
	};
	place_message(drawing, op, &slices[PART_SEND], &slices[PART_RECV]);
}

/* By start; of one array, so that their places break ties. */
static int compare_slices(const void *a, const void *b)
{
	const struct slice *x = *(struct slice *const *)a, *y = *(struct slice *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static int take_lanes(const struct drawing *drawing, struct err *err)
{
	size_t n = PARTS * drawing->iteration->n_ops, n_drawn = 0;
	struct slice **order = array_new(n, sizeof(struct slice *));
	int rc = 0;

	if (!order)
		return trace_fail_memory(err);
	for (size_t i = 0; i < n; i++)
		if (drawing->slices[i].is_drawn)
			order[n_drawn++] = &drawing->slices[i];
	qsort(order, n_drawn, sizeof(struct slice *), compare_slices);
	for (size_t i = 0; i < n_drawn && !rc; i++)
		rc = lane_take(drawing->trace, order[i], err);
	free(order);
	return rc;
}

/* Open a slice of an op; its arguments stay open. */
static void open_slice(const struct drawing *drawing, const struct slice *slice,
                       const char *category, const char *name, const struct record_op *op)
{
	struct json_write *json = &drawing->trace->json;

	event_open(drawing->trace, &(struct trace_event){"X", name, category, slice->pid,
	                                                 slice->tid, slice->start_ns});
	event_add_us(drawing->trace, "dur", slice->end_ns - slice->start_ns);
	json_open_object(json, "args");
	json_int(json, "iteration", drawing->iteration->iteration);
	json_int(json, "attempt", drawing->iteration->attempt);
	json_int(json, "mb", op->microbatch);
}

static void close_slice(const struct drawing *drawing)
{
	json_close(&drawing->trace->json);
	event_close(drawing->trace);
}

/* PyTorch's names of actions; what the plan calls B is I there. */
static void draw_op(const struct drawing *drawing, const struct record_op *op,
                    const struct slice *slice)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%d%c%d", op->stage,
	         op->kind == OP_B ? 'I' : op_kind_letter(op->kind), op->microbatch);
	open_slice(drawing, slice, "compute", name, op);
	json_string(&drawing->trace->json, "measured_by",
	            record_timer_name(drawing->trace->run.timer));
	if (op->late_ns > 0)
		event_add_us(drawing->trace, "late_us", op->late_ns);
	close_slice(drawing);
}

/* What is known of the way that a message went. */
static void add_way(struct chrome_trace *trace, const struct record_op *op)
{
	if (op->message_rail >= 0)
		json_int(&trace->json, "rail", op->message_rail);
	if (op->message_queue >= 0)
		json_int(&trace->json, "queue", op->message_queue);
	if (op->message_n_resends > 0)
		json_int(&trace->json, "resends", op->message_n_resends);
}

static void draw_message_slice(const struct drawing *drawing, const struct record_op *op,
                               const struct slice *slice, bool is_recv)
{
	struct chrome_trace *trace = drawing->trace;
	int stage = is_recv ? peer_of(op) : op->stage;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%d%s_%c%d", stage, is_recv ? "RECV" : "SEND",
	         op->kind == OP_F ? 'F' : 'B', op->microbatch);
	open_slice(drawing, slice, "comm", name, op);
	if (trace->run.message_bytes > 0)
		json_int(&trace->json, "bytes", trace->run.message_bytes);
	json_int(&trace->json, "peer", is_recv ? op->stage : peer_of(op));
	add_way(trace, op);
	if (!is_recv && op->message_request_ns >= 0 &&
	    op->message_request_ns <= op->message_start_ns)
		event_add_us(trace, "wait_us",
		             slice->start_ns - trace_time(op->message_request_ns));
	if (!is_recv && op->message_end_ns < 0)
		json_bool(&trace->json, "is_unfinished", true);
	if (is_recv && trace_time(op->message_arrive_ns) != slice->end_ns)
		event_add_us(trace, "recorded_arrival_us", trace_time(op->message_arrive_ns));
	close_slice(drawing);
}

static void draw_arrow_end(struct chrome_trace *trace, const struct record_op *op,
                           const struct slice *slice, bool is_head)
{
	const char *name = op->kind == OP_F ? "activation" : "gradient";
	int64_t at_ns = is_head ? slice->end_ns - 1 : tail_ns(slice);

	event_open(trace, &(struct trace_event){is_head ? "f" : "s", name, "message", slice->pid,
	                                        slice->tid, at_ns});
	json_int(&trace->json, "id", trace->n_arrows);
	if (is_head)
		json_string(&trace->json, "bp", "e");
	event_close(trace);
}

/* Each end behind its slice: viewers that take events of one time in the order of the file then
 * find the slice open. */
static void draw_message(const struct drawing *drawing, const struct record_op *op,
                         const struct slice slices[PARTS])
{
	struct chrome_trace *trace = drawing->trace;
	bool has_arrow = drawing->has_arrows && slices[PART_RECV].is_drawn;

	if (!slices[PART_SEND].is_drawn)
		return;
	trace->n_arrows += has_arrow;
	draw_message_slice(drawing, op, &slices[PART_SEND], false);
	if (has_arrow)
		draw_arrow_end(trace, op, &slices[PART_SEND], false);
	if (!slices[PART_RECV].is_drawn)
		return;
	draw_message_slice(drawing, op, &slices[PART_RECV], true);
	if (has_arrow)
		draw_arrow_end(trace, op, &slices[PART_RECV], true);
}

static int draw(const struct drawing *drawing, struct err *err)
{
	const struct record_iteration *iteration = drawing->iteration;
	int rc;

	for (size_t i = 0; i < iteration->n_ops; i++)
		place_op(drawing, &iteration->ops[i], &drawing->slices[PARTS * i]);
	rc = take_lanes(drawing, err);
	for (size_t i = 0; i < iteration->n_ops && !rc; i++) {
		const struct slice *slices = &drawing->slices[PARTS * i];

		draw_op(drawing, &iteration->ops[i], &slices[PART_OP]);
		draw_message(drawing, &iteration->ops[i], slices);
		rc = trace_flush_if_due(drawing->trace, err);
	}
	return rc;
}

int chrome_trace_iteration(struct chrome_trace *trace, const struct record_iteration *iteration,
                           bool has_arrows, struct err *err)
{
	struct drawing drawing = {trace, iteration, has_arrows, NULL};
	int rc = check_ops(trace, iteration, err);

	if (rc)
		return rc;
	if (iteration->n_ops > SIZE_MAX / PARTS)
		return trace_fail_memory(err);
	drawing.slices = array_new(PARTS * iteration->n_ops, sizeof(*drawing.slices));
	if (!drawing.slices)
		return trace_fail_memory(err);
	rc = draw(&drawing, err);
	free(drawing.slices);
	return rc ? rc : counters_add(trace, iteration, err);
}
