/* net_rails.c - over which rails the messages of an iteration went.
 *
 * Nothing is timed by that: all rails are alike, and an outage is dead time of its links wherever
 * messages go afterwards. */
#include "engine/schedule/channel.h"
#include "engine/sim/net.h"

/* When its sender heard that it had arrived: until then it leaves again when its rail dies. */
static int64_t acked_ns(const struct sim_world *world, int direction, int microbatch,
                        const struct sim_op_times *times)
{
	struct shape message = world->messages[direction];

	if (world->ask_message)
		world->ask_message(world->context, direction, microbatch, times->transfer_start_ns,
		                   &message);
	return times->arrive_ns + message.return_ns;
}

/* The rail of link for what had ended by then. */
static int rail_of(const struct sim_world *world, const int *rails, int link, int64_t end_ns)
{
	for (int i = 0; i < world->n_outages; i++)
		if (world->outages[i].link == link && end_ns <= world->outages[i].from_ns)
			return world->outages[i].rail;
	return rails[link];
}

static int count_resends(const struct sim_world *world, int link, const struct sim_op_times *times,
                         int64_t end_ns)
{
	int n = 0;

	for (int i = 0; i < world->n_outages; i++) {
		const struct sim_outage *outage = &world->outages[i];

		n += outage->link == link && times->transfer_start_ns < outage->from_ns &&
		     outage->from_ns < end_ns;
	}
	return n;
}

static void follow(const struct sim_world *world, const int *rails, int direction, int microbatch,
                   struct sim_op_times *times)
{
	int link = direction / SIM_DIRECTIONS;
	int64_t end_ns = acked_ns(world, direction, microbatch, times);

	times->rail = (int16_t)rail_of(world, rails, link, end_ns);
	times->n_resends = (int16_t)count_resends(world, link, times, end_ns);
}

void sim_net_rails(const struct plan *plan, const struct sim_world *world, const int *rails,
                   struct sim_op_times *times)
{
	int per_stage = OP_KINDS * plan->n_microbatches;

	for (int i = 0; i < plan->n_stages * per_stage; i++) {
		const struct plan_op *op = &plan->ops[i];
		int stage = i / per_stage;

		if (plan_op_sends(plan, stage, op))
			follow(world, rails,
			       op->kind == OP_F ? sim_direction(stage, false)
			                        : sim_direction(stage - 1, true),
			       op->microbatch, &times[i]);
	}
}
