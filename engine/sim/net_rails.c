/* net_rails.c - over which rails the messages of an iteration went.
 *
 * Nothing is timed by that: all rails are alike, and an outage is dead time of a stage's links
 * wherever messages go afterwards. */
#include "engine/schedule/channel.h"
#include "engine/sim/net.h"

/* The rail of stage when a message arrived there, or left for there. */
static int rail_of(const struct sim_world *world, const int *rails, int stage, int64_t arrive_ns)
{
	for (int i = 0; i < world->n_outages; i++)
		if (world->outages[i].stage == stage && arrive_ns <= world->outages[i].from_ns)
			return world->outages[i].rail;
	return rails[stage];
}

static void follow(const struct sim_world *world, const int *rails, int stage, int peer,
                   struct sim_op_times *times)
{
	int own = rail_of(world, rails, stage, times->arrive_ns);
	int theirs = rail_of(world, rails, peer, times->arrive_ns);

	times->rail = (int16_t)(own > theirs ? own : theirs);
	times->n_resends = 0;
	for (int i = 0; i < world->n_outages; i++) {
		const struct sim_outage *outage = &world->outages[i];

		times->n_resends = (int16_t)(times->n_resends +
		                             ((outage->stage == stage || outage->stage == peer) &&
		                              times->transfer_start_ns < outage->from_ns &&
		                              outage->from_ns < times->arrive_ns));
	}
}

void sim_net_rails(const struct plan *plan, const struct sim_world *world, const int *rails,
                   struct sim_op_times *times)
{
	int per_stage = OP_KINDS * plan->n_microbatches;

	for (int i = 0; i < plan->n_stages * per_stage; i++) {
		int stage = i / per_stage;

		if (plan_op_sends(plan, stage, &plan->ops[i]))
			follow(world, rails, stage, stage + (plan->ops[i].kind == OP_F ? 1 : -1),
			       &times[i]);
	}
}
