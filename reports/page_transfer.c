/* page_transfer.c - of a stage's waiting, the part in which its next message was under way.
 *
 * A gap in front of an op is, in this order: waiting for the neighbour to send, the message's time
 * under way, and then what the record calls blocked. The middle is the link's share. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/page_internal.h"

struct shape {
	int n_stages, n_replicas, n_microbatches;
};

/* Where the two messages of a microbatch stand: that of its F, and the one backwards, which leaves
 * after B, or after W where a schedule has them as one. */
static size_t place_of(const struct shape *shape, int replica, int stage, enum op_kind kind,
                       int microbatch)
{
	size_t row = (size_t)replica * (size_t)shape->n_stages + (size_t)stage;

	return (row * 2 + (kind != OP_F)) * (size_t)shape->n_microbatches + (size_t)microbatch;
}

static bool is_inside(const struct shape *shape, const struct record_op *op)
{
	return op->stage >= 0 && op->stage < shape->n_stages && op->replica >= 0 &&
	       op->replica < shape->n_replicas && op->microbatch >= 0 &&
	       op->microbatch < shape->n_microbatches;
}

/* The op whose message op needs; NULL: none. */
static const struct record_op *sender_of(const struct shape *shape,
                                         const struct record_op *const *places,
                                         const struct record_op *op)
{
	int stage = op->kind == OP_F ? op->stage - 1 : op->stage + 1;

	if (op->kind != OP_F && op->kind != OP_B)
		return NULL;
	if (stage < 0 || stage >= shape->n_stages)
		return NULL;
	return places[place_of(shape, op->replica, stage, op->kind, op->microbatch)];
}

static int64_t overlap_ns(int64_t from, int64_t to, int64_t other_from, int64_t other_to)
{
	int64_t start = from > other_from ? from : other_from, end = to < other_to ? to : other_to;

	return end > start ? end - start : 0;
}

static int compare_ops(const void *a, const void *b)
{
	const struct record_op *x = *(const struct record_op *const *)a;
	const struct record_op *y = *(const struct record_op *const *)b;

	if (x->replica != y->replica)
		return x->replica < y->replica ? -1 : 1;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int64_t sum(const struct shape *shape, const struct page_iteration *iteration,
                   const struct record_op **order, const struct record_op **places)
{
	int64_t transfer_ns = 0, free_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < iteration->n_ops; i++) {
		const struct record_op *op = &iteration->ops[i];

		if (!is_inside(shape, op))
			continue;
		order[n++] = op;
		if (op->message_request_ns >= 0 && op->message_arrive_ns >= 0)
			places[place_of(shape, op->replica, op->stage, op->kind, op->microbatch)] =
				op;
	}
	qsort(order, n, sizeof(*order), compare_ops);
	for (size_t i = 0; i < n; i++) {
		const struct record_op *op = order[i], *sender = sender_of(shape, places, op);
		bool is_first = i == 0 || order[i - 1]->stage != op->stage ||
		                order[i - 1]->replica != op->replica;

		free_ns = is_first ? iteration->start_ns : free_ns;
		if (sender)
			transfer_ns += overlap_ns(free_ns, op->start_ns, sender->message_request_ns,
			                          sender->message_arrive_ns);
		free_ns = op->end_ns;
	}
	return transfer_ns;
}

int page_transfer(const struct page_iteration *iteration, const struct stored_run *run,
                  int64_t *ns_out, struct err *err)
{
	const struct shape shape = {run->n_stages, run->n_replicas, run->n_microbatches};
	size_t n_places =
		(size_t)run->n_stages * (size_t)run->n_replicas * 2 * (size_t)run->n_microbatches;
	const struct record_op **order = array_new(iteration->n_ops, sizeof(*order));
	const struct record_op **places = array_new(n_places, sizeof(*places));
	int rc = 0;

	if (order && places)
		*ns_out = sum(&shape, iteration, order, places);
	else
		rc = err_set(err, -ENOMEM, "out of memory");
	free(order);
	free(places);
	return rc;
}
