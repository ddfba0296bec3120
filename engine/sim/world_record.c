/* world_record.c - what the faults did, for the record. */
#include "engine/sim/world_internal.h"

/* A fault may have begun inside the iteration that just ran, and so may one that has ended in it.
 */
static void notice_start(const struct world *world, size_t i, int64_t end_ns)
{
	const struct fault *fault = &world->scenario->faults[i];
	struct fault_state *state = &world->faults[i];
	int64_t start_ns = world_fault_start_ns(world, i);

	if (state->is_active || start_ns >= end_ns)
		return;
	if (fault->start.kind == MOMENT_TIME && world_fault_end_ns(world, i) <= world->start_ns)
		return;
	*state = (struct fault_state){
		.is_active = true, .is_dynamic = state->is_dynamic, .since_ns = start_ns};
}

/* One replica's iteration, up to end_ns. */
struct part {
	const struct plan *plan;
	const struct sim_op_times *times;
	int64_t end_ns;
	int n_alike; /* replicas that it stands for */
};

static void count_messages(struct world *world, size_t fault_index, const struct part *part)
{
	const struct fault *fault = &world->scenario->faults[fault_index];
	struct fault_state *state = &world->faults[fault_index];
	int per_stage = OP_KINDS * part->plan->n_microbatches,
	    first = fault->from_stage * per_stage;
	int64_t healthy_ns = world_healthy_ns(world);
	enum op_kind gradient = part->plan->merges_backward ? OP_W : OP_B;
	enum op_kind kind = fault->from_stage < fault->to_stage ? OP_F : gradient;

	for (int i = first; i < first + per_stage; i++) {
		const struct sim_op_times *times = &part->times[i];
		int64_t start_ns = times->transfer_start_ns;
		const struct instant instant = {.iteration = world->iteration,
		                                .now_ns = world->start_ns + start_ns,
		                                .is_message = true};

		if (part->plan->ops[i].kind != kind || start_ns < 0 || start_ns >= part->end_ns ||
		    !world_is_in_force(world, fault_index, instant))
			continue;
		state->n_messages += part->n_alike;
		/* What was under way when the job died has no transfer time. */
		if (times->arrive_ns < 0 || times->arrive_ns > part->end_ns)
			continue;
		state->n_arrived += part->n_alike;
		state->extra_ns += part->n_alike * (times->arrive_ns - start_ns - healthy_ns);
		measuring_add_message(world, fault_index, start_ns, times->arrive_ns);
	}
	measuring_end_replica(world, fault_index);
}

void world_account(struct world *world, const struct plan *plan, const struct sim_op_times *times,
                   int n_timed, int64_t end_ns)
{
	int n_ops = OP_KINDS * plan->n_stages * plan->n_microbatches;
	struct part part = {.plan = plan,
	                    .end_ns = end_ns,
	                    .n_alike = world->scenario->topology.n_replicas / n_timed};

	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct fault *fault = &world->scenario->faults[i];

		if (fault->kind == FAULT_DOWN)
			continue;
		notice_start(world, i, world->start_ns + end_ns);
		for (int k = 0;
		     k < n_timed && world->faults[i].is_active && fault_is_on_link(fault); k++) {
			part.times = times + (size_t)k * (size_t)n_ops;
			count_messages(world, i, &part);
		}
		if (world->faults[i].is_active)
			measuring_end_iteration(world, i);
	}
}

void world_share_times(struct world *world, const struct fault_times *times)
{
	world->times = times;
}

/* Not before it was asked for, and not after now. */
static int64_t real_ns(int64_t asked_ns, int64_t done_ns, int64_t now_ns)
{
	int64_t later_ns = link_later_ns(asked_ns, done_ns);

	return later_ns < now_ns ? later_ns : now_ns;
}

static int64_t applied_ns(const struct world *world, size_t fault, int64_t now_ns)
{
	int64_t asked_ns = world->faults[fault].since_ns;

	return world->times ? real_ns(asked_ns, world->times[fault].applied_ns, now_ns) : asked_ns;
}

static int64_t cleared_ns(const struct world *world, size_t fault, int64_t now_ns)
{
	int64_t end_ns = world_fault_end_ns(world, fault);

	return real_ns(end_ns < now_ns ? end_ns : now_ns,
	               world->times ? world->times[fault].cleared_ns : -1, now_ns);
}

int world_report(struct world *world, const struct world_moment *moment, struct record_sink *sink,
                 struct err *err)
{
	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct instant now = {.iteration = moment->iteration,
		                            .now_ns = moment->now_ns};
		struct fault_state *state = &world->faults[i];
		struct record_traffic traffic;
		bool is_over = !world_is_in_force(world, i, now);
		struct record_fault row = {.fault = i,
		                           .attempt = moment->attempt,
		                           .asked_ns = state->since_ns,
		                           .applied_ns = applied_ns(world, i, moment->now_ns),
		                           .n_messages = state->n_messages,
		                           .measured_ns = -1,
		                           .cleared_ns = -1};
		int rc;

		if (!state->is_active || !(is_over || moment->end != WORLD_GOES_ON))
			continue;
		if (is_over || moment->end == WORLD_ATTEMPT_ENDS)
			row.cleared_ns = cleared_ns(world, i, moment->now_ns);
		if (state->n_arrived > 0)
			row.measured_ns = state->extra_ns / state->n_arrived;
		row.traffic = measuring_report(world, i, &traffic);
		*state = (struct fault_state){0};
		rc = record_put_fault(sink, &row, err);
		if (rc)
			return rc;
	}
	return 0;
}
