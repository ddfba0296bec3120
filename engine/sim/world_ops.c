/* world_ops.c - faults that start or end at an op: when that is, is known once the op has started.
 *
 * An op's start depends on what came before it only. So an iteration is timed with the fault not
 * begun, the op's start is noted, and from there on the fault is one by time; in real time the
 * worker of the op's stage notes it, and everybody reads it from the memory that they share. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/sim/world_internal.h"

static int place_of(const struct world *world, const struct moment *moment)
{
	size_t low = 0, high = world->n_ops;

	if (moment->kind != MOMENT_OP)
		return -1;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (scenario_compare_ops(&world->ops[middle], moment) <= 0)
			low = middle;
		else
			high = middle;
	}
	return (int)low;
}

int world_list_ops(struct world *world, struct err *err)
{
	const struct scenario *scenario = world->scenario;

	if (scenario_list_ops(scenario, &world->ops, &world->n_ops) == 0)
		world->own_op_starts = array_new(world->n_ops, sizeof(*world->own_op_starts));
	if (!world->own_op_starts)
		return err_set(err, -ENOMEM, "no memory for the faults of a simulation");
	world->op_starts = world->own_op_starts;
	for (size_t i = 0; i < world->n_ops; i++)
		world->op_starts[i] = WORLD_NOT_YET;
	for (size_t i = 0; i < scenario->n_faults; i++)
		world->fault_ops[i] =
			(struct fault_ops){place_of(world, &scenario->faults[i].start),
		                           place_of(world, &scenario->faults[i].end)};
	return 0;
}

void world_share_ops(struct world *world, int64_t *op_starts)
{
	world->op_starts = op_starts;
}

static void find_range(const struct world *world, int iteration, int *first_out, int *n_out)
{
	const struct moment first = {.value = iteration}, behind = {.value = iteration + 1};
	int n[2];

	for (int i = 0; i < 2; i++) {
		const struct moment *wanted = i == 0 ? &first : &behind;
		size_t low = 0, high = world->n_ops;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (scenario_compare_ops(&world->ops[middle], wanted) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		n[i] = (int)low;
	}
	*first_out = n[0];
	*n_out = n[1] - n[0];
}

static void store(struct world *world, int op, int64_t start_ns)
{
	__atomic_store_n(&world->op_starts[op], start_ns, __ATOMIC_RELEASE);
}

void world_forget_ops(struct world *world, int iteration)
{
	int first, n;

	find_range(world, iteration, &first, &n);
	for (int i = first; i < first + n; i++)
		store(world, i, WORLD_NOT_YET);
}

void world_ops_now(const struct world *world, int *first_out, int *n_out)
{
	find_range(world, world->iteration, first_out, n_out);
}

const struct moment *world_op(const struct world *world, int op)
{
	return &world->ops[op];
}

void world_set_op(struct world *world, int op, int64_t start_ns)
{
	store(world, op, world->start_ns + start_ns);
}

int64_t world_op_ns(const struct world *world, int op)
{
	return __atomic_load_n(&world->op_starts[op], __ATOMIC_ACQUIRE);
}

int world_start_op(const struct world *world, size_t fault)
{
	return world->fault_ops[fault].start;
}

int world_end_op(const struct world *world, size_t fault)
{
	return world->fault_ops[fault].end;
}

/* Those of earlier iterations have started, those of later ones have not, whatever an attempt
 * before this one noted. */
static bool has_started(const struct world *world, int op, struct instant instant)
{
	int64_t iteration = world->ops[op].value, start_ns;

	if (instant.iteration != iteration)
		return instant.iteration > iteration;
	if (instant.op && scenario_compare_ops(instant.op, &world->ops[op]) == 0)
		return true;
	start_ns = world_op_ns(world, op);
	return instant.is_message ? instant.now_ns > start_ns : instant.now_ns >= start_ns;
}

int64_t world_fault_start_ns(const struct world *world, size_t i)
{
	const struct fault *fault = &world->scenario->faults[i];

	if (fault->start.kind == MOMENT_TIME)
		return fault->start.value;
	if (fault->start.kind != MOMENT_OP || fault->start.value != world->iteration)
		return WORLD_NOT_YET;
	return world_op_ns(world, world->fault_ops[i].start);
}

int64_t world_fault_end_ns(const struct world *world, size_t i)
{
	const struct fault *fault = &world->scenario->faults[i];
	int64_t start_ns;

	/* What an attempt before this one noted of a later iteration is of that attempt. */
	if (fault->end.kind == MOMENT_OP)
		return fault->end.value > world->iteration
		               ? WORLD_NOT_YET
		               : world_op_ns(world, world->fault_ops[i].end);
	if (fault->end.kind != MOMENT_TIME)
		return WORLD_NOT_YET;
	if (fault->start.kind != MOMENT_OP)
		return fault->end.value;
	start_ns = world_op_ns(world, world->fault_ops[i].start);
	return start_ns == WORLD_NOT_YET ? WORLD_NOT_YET : start_ns + fault->end.value;
}

bool world_is_in_force(const struct world *world, size_t i, struct instant instant)
{
	const struct fault *fault = &world->scenario->faults[i];
	const struct fault_ops *ops = &world->fault_ops[i];

	if (!fault_has_op(fault))
		return fault_is_active(fault, instant.iteration, instant.now_ns);
	if (ops->start >= 0 ? !has_started(world, ops->start, instant)
	                    : instant.iteration < fault->start.value)
		return false;
	switch (fault->end.kind) {
	case MOMENT_ITERATION:
		return instant.iteration < fault->end.value;
	case MOMENT_TIME:
		return instant.now_ns < world_fault_end_ns(world, i);
	case MOMENT_OP:
		return !has_started(world, ops->end, instant);
	case MOMENT_NEVER:
		break;
	}
	return true;
}

bool world_may_change(const struct world *world, size_t i)
{
	const struct fault *fault = &world->scenario->faults[i];

	if (fault->start.kind == MOMENT_TIME)
		return world_fault_end_ns(world, i) > world->start_ns;
	if (world->iteration < fault->start.value)
		return false;
	if (fault->start.kind == MOMENT_OP && fault->start.value == world->iteration)
		return true;
	if (fault->end.kind == MOMENT_OP)
		return fault->end.value == world->iteration;
	return fault->start.kind == MOMENT_OP && fault->end.kind == MOMENT_TIME &&
	       world_fault_end_ns(world, i) > world->start_ns;
}

bool world_is_on(const struct world *world, size_t fault, int64_t now_ns)
{
	const struct instant now = {.iteration = world->iteration, .now_ns = now_ns};

	return world_is_in_force(world, fault, now);
}

int64_t world_change_ns(const struct world *world, size_t fault, bool is_start)
{
	return is_start ? world_fault_start_ns(world, fault) : world_fault_end_ns(world, fault);
}

static int64_t sooner_ns(int64_t change_ns, int64_t now_ns, int64_t next_ns)
{
	return change_ns > now_ns && change_ns < next_ns ? change_ns : next_ns;
}

int64_t world_next_change_ns(const struct world *world, int64_t now_ns)
{
	int64_t next_ns = WORLD_NOT_YET;

	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		if (world->scenario->faults[i].kind == FAULT_DOWN)
			continue;
		next_ns = sooner_ns(world_fault_start_ns(world, i), now_ns, next_ns);
		next_ns = sooner_ns(world_fault_end_ns(world, i), now_ns, next_ns);
	}
	return next_ns;
}

static int64_t start_in(const struct plan *plan, const struct sim_op_times *times,
                        const struct moment *op)
{
	const struct plan_op *ops = plan_stage(plan, op->stage);
	int per_stage = OP_KINDS * plan->n_microbatches, i = 0;

	while (i < per_stage - 1 && (ops[i].kind != op->op || ops[i].microbatch != op->microbatch))
		i++;
	return times[op->stage * per_stage + i].start_ns;
}

int world_next_op(const struct world *world, const struct plan *plan,
                  const struct sim_op_times *times, int64_t *start_ns_out)
{
	int first, n, next = -1;

	world_ops_now(world, &first, &n);
	for (int i = first; i < first + n; i++) {
		int64_t start_ns;

		if (world_op_ns(world, i) != WORLD_NOT_YET)
			continue;
		start_ns = start_in(plan, times, &world->ops[i]);
		if (next >= 0 && start_ns >= *start_ns_out)
			continue;
		next = i;
		*start_ns_out = start_ns;
	}
	return next;
}

static int complain(const struct fault *fault, struct err *err)
{
	char start[MOMENT_TEXT_BYTES] = "the iteration", end[MOMENT_TEXT_BYTES];

	if (fault->start.kind == MOMENT_OP)
		moment_op_text(&fault->start, start);
	return err_set(
		err, -EINVAL,
		"in iteration %lld %s, at which the %s fault of stages %d->%d ends, does not "
		"start after %s, at which it starts; name ops that wait for each other",
		(long long)fault->end.value, moment_op_text(&fault->end, end),
		fault_kind_name(fault->kind), fault->from_stage, fault->to_stage, start);
}

int world_check_ops(const struct world *world, struct err *err)
{
	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct fault *fault = &world->scenario->faults[i];
		int64_t start_ns = world->start_ns;

		if (fault->end.kind != MOMENT_OP || fault->end.value != world->iteration ||
		    fault->start.value != world->iteration)
			continue;
		if (fault->start.kind == MOMENT_OP)
			start_ns = world_op_ns(world, world->fault_ops[i].start);
		if (world_op_ns(world, world->fault_ops[i].end) <= start_ns)
			return complain(fault, err);
	}
	return 0;
}
