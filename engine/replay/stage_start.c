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
		if (stage->config.op_started)
			stage->config.op_started(stage->config.op_started_context);
		op->noted_as = -1;
		stage->n_to_note--;
	}
	return 0;
}

bool stage_has_ops_to_note(const struct stage *stage)
{
	return stage->n_to_note > 0;
}

int64_t stage_ask_duration(void *argument, int64_t start_ns)
{
	const struct stage_op *op = argument;
	const struct stage *stage = op->stage;
	const struct sim_world *view = stage->iteration->view;
	int64_t ns = view->op_ns[op->kind][stage->index];
	int n_messages = (stage_op_source(stage, op->kind) != 0) + stage_op_sends(stage, op->kind);

	if (view->ask_op)
		ns = view->ask_op(view->context, stage->index, op->kind, op->microbatch,
		                  stage_profile_ns(stage, start_ns));
	if (stage->rules.kind == PLANE_DELEGATE && start_ns >= stage->switched_ns)
		ns += n_messages * stage->rules.message_cost_ns;
	return ns;
}
