/* plan.c - what every stage does, in order: storage and questions about it. */
#include "engine/schedule/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"

static size_t count_ops(const struct plan *plan)
{
	return (size_t)plan->n_stages * OP_KINDS * (size_t)plan->n_microbatches;
}

static int no_memory(const struct plan *plan, struct err *err)
{
	return err_set(err, -ENOMEM, "no memory for a plan of %d stages and %d microbatches",
	               plan->n_stages, plan->n_microbatches);
}

int plan_init(struct plan *plan, int n_stages, int n_microbatches, struct err *err)
{
	struct plan fresh = {.n_stages = n_stages, .n_microbatches = n_microbatches};

	if (n_stages < 1 || n_microbatches < 1 || n_microbatches > INT_MAX / OP_KINDS)
		return err_set(err, -EINVAL,
		               "%d stages and %d microbatches make no plan; at least 1 of each, at "
		               "most %d microbatches",
		               n_stages, n_microbatches, INT_MAX / OP_KINDS);
	fresh.ops = array_new(count_ops(&fresh), sizeof(*fresh.ops));
	fresh.warmups = array_new((size_t)n_stages, sizeof(*fresh.warmups));
	if (!fresh.ops || !fresh.warmups) {
		plan_fini(&fresh);
		return no_memory(&fresh, err);
	}
	*plan = fresh;
	return 0;
}

int plan_copy(const struct plan *from, struct plan *out, struct err *err)
{
	struct plan copy = *from;

	copy.ops = array_copy(from->ops, count_ops(from), sizeof(*from->ops));
	copy.warmups = array_copy(from->warmups, (size_t)from->n_stages, sizeof(*from->warmups));
	copy.clamps = NULL;
	if (from->n_clamps > 0)
		copy.clamps = array_copy(from->clamps, from->n_clamps, sizeof(*from->clamps));
	if (!copy.ops || !copy.warmups || (from->n_clamps > 0 && !copy.clamps)) {
		plan_fini(&copy);
		return no_memory(from, err);
	}
	*out = copy;
	return 0;
}

void plan_fini(struct plan *plan)
{
	if (!plan)
		return;
	free(plan->ops);
	free(plan->warmups);
	free(plan->clamps);
	plan->ops = NULL;
	plan->warmups = NULL;
	plan->clamps = NULL;
	plan->n_clamps = 0;
}

int plan_add_clamp(struct plan *plan, struct plan_clamp clamp, struct err *err)
{
	/* One at a time: there are at most a few for each stage. */
	size_t bytes = (plan->n_clamps + 1) * sizeof(clamp);
	struct plan_clamp *clamps = realloc(plan->clamps, bytes);

	if (!clamps)
		return no_memory(plan, err);
	clamps[plan->n_clamps] = clamp;
	plan->clamps = clamps;
	plan->n_clamps++;
	return 0;
}

struct plan_op *plan_stage(const struct plan *plan, int stage)
{
	return plan->ops + (size_t)stage * OP_KINDS * (size_t)plan->n_microbatches;
}

char *plan_order_text(const struct plan *plan, int stage)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	struct strbuf text = {0};

	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++)
		strbuf_addf(&text, "%s%c%d", i > 0 ? " " : "", op_kind_letter(ops[i].kind),
		            ops[i].microbatch);
	if (text.is_failed) {
		strbuf_fini(&text);
		return NULL;
	}
	return strbuf_take(&text);
}

int plan_peak_activations(const struct plan *plan, int stage)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	int held = 0, peak = 0;

	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++) {
		held += (ops[i].kind == OP_F) - (ops[i].kind == OP_W);
		peak = held > peak ? held : peak;
	}
	return peak;
}

static bool stage_is_in_order(const struct plan *plan, int stage)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	int next[OP_KINDS] = {0};

	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++)
		if (ops[i].microbatch != next[ops[i].kind]++)
			return false;
	return true;
}

bool plan_is_in_microbatch_order(const struct plan *plan)
{
	for (int s = 0; s < plan->n_stages; s++)
		if (!stage_is_in_order(plan, s))
			return false;
	return true;
}
