/* channel.c - the order in which a plan's messages pass the channel between two neighbours. */
#include "engine/schedule/channel.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"

enum { UNIT_LINK_NS = 1 };

int plan_copy_in_units(const struct plan *plan, struct plan *out, struct err *err)
{
	size_t n = (size_t)plan->n_stages;
	int64_t *ones = array_new(n, sizeof(*ones)), *links = array_new(n, sizeof(*links));
	struct plan_times times = {
		.n_stages = plan->n_stages, .op_ns = {ones, ones, ones}, .link_ns = links};
	int rc = ones && links ? plan_copy(plan, out, err)
	                       : err_set(err, -ENOMEM, "no memory to order a plan's messages");

	for (size_t i = 0; rc == 0 && i < n; i++) {
		ones[i] = PLAN_UNIT_OP_NS;
		links[i] = UNIT_LINK_NS;
	}
	if (rc == 0) {
		rc = plan_time(out, &times, err);
		if (rc)
			plan_fini(out);
	}
	free(ones);
	free(links);
	return rc;
}

bool plan_op_sends(const struct plan *plan, int stage, const struct plan_op *op)
{
	enum op_kind gradient = plan->merges_backward ? OP_W : OP_B;

	return (op->kind == OP_F && stage < plan->n_stages - 1) ||
	       (op->kind == gradient && stage > 0);
}

struct keyed_slot {
	int64_t end_ns;
	struct channel_slot slot;
};

static int compare_slots(const void *a, const void *b)
{
	const struct keyed_slot *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->slot.kind > y->slot.kind) - (x->slot.kind < y->slot.kind);
}

/* Messages of one direction of the channel. Returns how many slots there are now. */
static int add_stage(const struct plan *plan, int stage, bool is_forward, struct keyed_slot *slots,
                     int n)
{
	const struct plan_op *ops = plan_stage(plan, stage);

	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++) {
		if (!plan_op_sends(plan, stage, &ops[i]) || (ops[i].kind == OP_F) != is_forward)
			continue;
		slots[n++] = (struct keyed_slot){ops[i].start_ns + PLAN_UNIT_OP_NS,
		                                 {is_forward ? OP_F : OP_B, ops[i].microbatch}};
	}
	return n;
}

int plan_channel_order(const struct plan *unit_copy, int link, struct channel_slot *out,
                       struct err *err)
{
	size_t n_slots = 2 * (size_t)unit_copy->n_microbatches;
	struct keyed_slot *slots = array_new(n_slots, sizeof(*slots));
	int n;

	if (!slots)
		return err_set(err, -ENOMEM, "no memory to order a plan's messages");
	n = add_stage(unit_copy, link, true, slots, 0);
	n = add_stage(unit_copy, link + 1, false, slots, n);
	qsort(slots, (size_t)n, sizeof(*slots), compare_slots);
	for (int i = 0; i < n; i++)
		out[i] = slots[i].slot;
	free(slots);
	return 0;
}
