/* stage_start.c - when an op starts, and how long it takes then. */
#include "engine/replay/stage_internal.h"

int64_t stage_duration_ns(const struct stage *stage, const struct stage_op *op)
{
	const struct sim_world *view = stage->iteration->view;
	int64_t ns = view->op_ns[op->kind][stage->index];
	int n_messages = (stage_op_source(stage, op->kind) != 0) + stage_op_sends(stage, op->kind);

	if (view->ask_op)
		ns = view->ask_op(view->context, stage->index, op->kind,
		                  stage_profile_ns(stage, stage->last_end_ns));
	if (stage->rules.kind == PLANE_DELEGATE)
		ns += n_messages * stage->rules.message_cost_ns;
	return ns;
}
