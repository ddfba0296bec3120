/* stage_start.c - when an op starts, and what depends on that: faults that start or end at it, and
 * how long it takes on a stage that is slow for a while. */
#include "engine/replay/stage_internal.h"

void stage_find_ops(struct stage *stage)
{
	const struct world *world = stage->config.world;
	int first, n;

	stage->n_to_note = 0;
	/* One replica says when an op starts, the one whose times are in the record. */
	world_ops_now(world, &first, &n);
	for (int op = first; op < first + n && stage->config.replica == 0; op++) {
		const struct moment *wanted = world_op(world, op);

		if (wanted->stage != stage->index)
			continue;
		for (int i = 0; i < stage->n_ops; i++)
			if (stage->ops[i].kind == wanted->op &&
			    stage->ops[i].microbatch == wanted->microbatch)
				stage->ops[i].noted_as = op;
		stage->n_to_note++;
	}
}

int stage_note_ops(struct stage *stage, struct err *err)
{
	for (int i = stage->n_ended; i < stage->n_issued && stage->n_to_note > 0; i++) {
		struct stage_op *op = &stage->ops[i];
		int64_t begin_ns = 0;
		int rc;

		if (op->noted_as < 0)
			continue;
		rc = device_query(op->begin, &begin_ns, NULL, err);
		if (rc != 1)
			return rc;
		world_set_op(stage->config.world, op->noted_as, stage_profile_ns(stage, begin_ns));
		op->noted_as = -1;
		stage->n_to_note--;
	}
	return 0;
}

bool stage_has_ops_to_note(const struct stage *stage)
{
	return stage->n_to_note > 0;
}

int64_t stage_next_start_ns(const struct stage *stage)
{
	const struct stage_op *op = &stage->ops[stage->n_issued];
	const struct stage_op *before = stage->n_issued > 0 ? op - 1 : NULL;
	int64_t start_ns = stage->last_end_ns;

	if (stage->n_ended < stage->n_issued)
		return -1;
	if (stage_op_source(stage, op->kind)) {
		int64_t arrived_ns = dataplane_arrived_ns(stage->plane, op->kind, op->microbatch);

		if (arrived_ns < 0)
			return -1;
		start_ns = arrived_ns > start_ns ? arrived_ns : start_ns;
	}
	/* On the stream plane what was sent before stands in the device's queue. */
	if (stage->rules.kind == PLANE_STREAM && before && stage_op_sends(stage, before->kind)) {
		int64_t done_ns = dataplane_sent(stage->plane, stage_message_kind(before->kind),
		                                 before->microbatch)
		                          .done_ns;

		if (done_ns < 0)
			return -1;
		start_ns = done_ns > start_ns ? done_ns : start_ns;
	}
	return start_ns;
}

int64_t stage_duration_ns(const struct stage *stage, const struct stage_op *op, int64_t start_ns)
{
	const struct sim_world *view = stage->iteration->view;
	int64_t ns = view->op_ns[op->kind][stage->index];
	int n_messages = (stage_op_source(stage, op->kind) != 0) + stage_op_sends(stage, op->kind);

	if (view->ask_op)
		ns = view->ask_op(view->context, stage->index, op->kind, op->microbatch,
		                  stage_profile_ns(stage, start_ns));
	if (stage->rules.kind == PLANE_DELEGATE)
		ns += n_messages * stage->rules.message_cost_ns;
	return ns;
}
