/* observed_record_ops.c - the ops of one iteration, each with the message that left after it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/format/observed_record_internal.h"

/* An iteration on its way from the source's clock to the record's. */
struct making {
	struct observed_record *record;
	const struct observed_slice *slice;
	int64_t shift_ns;
	size_t n;
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_op(struct making *making, const struct observed_op *op)
{
	making->record->made[making->n++] = (struct record_op){
		.stage = op->stage,
		.replica = observed_replica(making->record, op),
		.kind = observed_op_kind(op),
		.microbatch = op->microbatch,
		.start_ns = op->start_ns + making->shift_ns,
		.end_ns = op->end_ns + making->shift_ns,
		.message_request_ns = -1,
		.message_start_ns = -1,
		.message_end_ns = -1,
		.message_arrive_ns = -1,
		.message_rail = -1,
		.message_queue = -1,
	};
}

/* The op after which the transfer's message left; NULL: it is not of this iteration. */
static struct record_op *sender_of(const struct making *making, const struct observed_op *transfer)
{
	static const struct {
		int stage_ahead;
		enum op_kind kind;
	} senders[] = {
		[OBSERVED_SEND_FORWARD] = {0, OP_F},
		[OBSERVED_RECEIVE_FORWARD] = {-1, OP_F},
		[OBSERVED_SEND_BACKWARD] = {0, OP_B},
		[OBSERVED_RECEIVE_BACKWARD] = {1, OP_B},
	};
	const struct observed_record *record = making->record;
	int stage = transfer->stage + senders[transfer->kind].stage_ahead;
	int replica = transfer->stage < record->n_stages ? observed_replica(record, transfer)
	                                                 : record->n_replicas;
	uint32_t place;

	if (stage < 0 || stage >= record->n_stages || replica == record->n_replicas ||
	    transfer->microbatch >= record->n_microbatches)
		return NULL;
	place = *observed_place(record, stage, replica, senders[transfer->kind].kind,
	                        transfer->microbatch);
	return place ? &record->made[place - 1] : NULL;
}

/* A message is handed over once its op has ended, whatever clocks say. */
static void add_transfer(const struct making *making, const struct observed_op *transfer)
{
	struct record_op *op = sender_of(making, transfer);
	int64_t start_ns = transfer->start_ns + making->shift_ns;
	int64_t end_ns = transfer->end_ns + making->shift_ns;

	if (!op)
		return;
	if (transfer->kind == OBSERVED_SEND_FORWARD || transfer->kind == OBSERVED_SEND_BACKWARD) {
		op->message_request_ns = later(start_ns, op->end_ns);
		op->message_end_ns = later(end_ns, op->message_request_ns);
	} else {
		op->message_arrive_ns = later(end_ns, op->end_ns);
	}
}

/* Where only one end was seen, the other is where it cannot be wrong: at the op, or at the end. */
static void complete_message(struct record_op *op)
{
	if (op->message_request_ns < 0 && op->message_arrive_ns < 0)
		return;
	if (op->message_request_ns < 0) {
		op->message_request_ns = op->end_ns;
		op->message_end_ns = op->message_arrive_ns;
	}
	if (op->message_arrive_ns < 0)
		op->message_arrive_ns = op->message_end_ns;
	op->message_start_ns = op->message_request_ns;
	op->message_arrive_ns = later(op->message_arrive_ns, op->message_start_ns);
}

/* The time in which each stage's replica ran an op, what overlaps once; a sum. Ops are by start. */
static int64_t compute_ns(const struct making *making)
{
	struct observed_record *record = making->record;
	int64_t sum_ns = 0;

	for (int lane = 0; lane < record->n_stages * record->n_replicas; lane++)
		record->until_ns[lane] = INT64_MIN;
	for (size_t i = 0; i < making->n; i++) {
		const struct record_op *op = &record->made[i];
		int64_t *until_ns = &record->until_ns[op->stage * record->n_replicas + op->replica];

		if (op->end_ns <= *until_ns)
			continue;
		sum_ns += op->end_ns - later(op->start_ns, *until_ns);
		*until_ns = op->end_ns;
	}
	return sum_ns;
}

struct record_iteration observed_record_iteration(struct observed_record *record, size_t i)
{
	const struct observed_slice *slice = &record->iterations[i];
	struct making making = {record, slice, slice->start_ns - slice->from_ns, 0};
	struct record_iteration iteration = {
		.iteration = (int)i,
		.is_complete = true,
		.plane = PLANE_STREAM,
		.start_ns = slice->start_ns,
		.duration_ns = slice->to_ns - slice->from_ns,
		.loss = NAN,
		.message_bytes = record->message_bytes,
		.ops = record->made,
	};

	(void)observed_fill_places(record, slice); /* it is whole */
	for (size_t k = 0; k < slice->n; k++)
		if (observed_is_computation(record->ops[slice->first + k]))
			add_op(&making, record->ops[slice->first + k]);
	for (size_t k = 0; k < slice->n; k++)
		if (!observed_is_computation(record->ops[slice->first + k]))
			add_transfer(&making, record->ops[slice->first + k]);
	for (size_t k = 0; k < making.n; k++)
		complete_message(&record->made[k]);
	iteration.n_ops = making.n;
	iteration.compute_ns = compute_ns(&making);
	iteration.wait_ns = iteration.duration_ns * record->n_stages * record->n_replicas -
	                    iteration.compute_ns;
	return iteration;
}
