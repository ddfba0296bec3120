/* world.c - the faults of a scenario as one iteration meets them.
 *
 * Faults by iteration without jitter are folded into one table of messages when the iteration
 * begins. Only those that depend on the moment or on the microbatch are asked for message by
 * message, so a run without them pays nothing. */
#include "engine/sim/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/sim/world_internal.h"

static int64_t transmit_ns(int64_t bytes, int64_t bits_per_s)
{
	if (bytes <= 0 || bits_per_s <= 0)
		return 0;
	return (int64_t)(((__int128)bytes * 8 * NS_PER_S + bits_per_s - 1) / bits_per_s);
}

static struct shape healthy_message(const struct scenario *scenario)
{
	const struct topology *topology = &scenario->topology;

	return (struct shape){
		.transmit_ns = transmit_ns(scenario_message_bytes(scenario),
	                                   topology->link_rate_bits_per_s),
		.latency_ns = topology->link_delay_ns,
		.return_ns = topology->link_delay_ns,
	};
}

int world_new(const struct scenario *scenario, uint64_t seed, struct world **out, struct err *err)
{
	size_t n_stages = (size_t)scenario->topology.n_stages;
	struct world *world = array_new(1, sizeof(*world));
	int rc;

	if (!world)
		return err_set(err, -ENOMEM, "no memory for the faults of a simulation");
	world->scenario = scenario;
	world->seed = seed;
	world->healthy = healthy_message(scenario);
	world->messages = array_new(n_stages * SIM_DIRECTIONS, sizeof(*world->messages));
	world->op_ns = array_new(n_stages * OP_KINDS, sizeof(*world->op_ns));
	world->faults = array_new(scenario->n_faults, sizeof(*world->faults));
	world->fault_ops = array_new(scenario->n_faults, sizeof(*world->fault_ops));
	world->outages = array_new(2 * scenario->n_faults, sizeof(*world->outages));
	rc = world->messages && world->op_ns && world->faults && world->fault_ops && world->outages
	             ? world_list_ops(world, err)
	             : err_set(err, -ENOMEM, "no memory for the faults of a simulation");
	if (rc) {
		world_free(world);
		return rc;
	}
	for (int kind = 0; kind < OP_KINDS; kind++)
		world->view.op_ns[kind] = world->op_ns + (size_t)kind * n_stages;
	world->view.messages = world->messages;
	world->view.message_bytes = scenario_message_bytes(scenario);
	world->view.outages = world->outages;
	world->view.context = world;
	*out = world;
	return 0;
}

void world_free(struct world *world)
{
	if (!world)
		return;
	free(world->messages);
	free(world->op_ns);
	free(world->faults);
	free(world->fault_ops);
	free(world->ops);
	free(world->own_op_starts);
	free(world->outages);
	measuring_free(world->measuring);
	free(world);
}

int64_t world_healthy_ns(const struct world *world)
{
	return world->healthy.transmit_ns + world->healthy.latency_ns;
}

int64_t world_window_ns(const struct world *world, int64_t window_bytes)
{
	int64_t extra_ns;

	(void)link_window_ns(world->view.message_bytes, window_bytes, &world->healthy, &extra_ns);
	return extra_ns;
}

/* What a delay or rate fault does to a message of its direction. Every fault only adds, so that it
 * does not matter in which order those of one link come; a link has no more than one rate at a
 * time, and that takes its place in what the healthy link transmits. */
static void worsen(const struct world *world, const struct fault *fault, int64_t delay_ns,
                   struct shape *message)
{
	/* Whoever runs packets loses them; sim_check() sees to it that this is not the simulator.
	 */
	if (fault->kind == FAULT_LOSS)
		return;
	if (fault->kind == FAULT_RATE) {
		int64_t slower_ns = transmit_ns(world->view.message_bytes, fault->rate_bits_per_s);

		if (slower_ns > world->healthy.transmit_ns)
			message->transmit_ns += slower_ns - world->healthy.transmit_ns;
		return;
	}
	switch (fault->model) {
	case DELAY_LATENCY:
		message->latency_ns += delay_ns;
		return;
	case DELAY_RATE:
		/* Alone on the link, a message takes the delay longer; together they pass one per
		 * delay. */
		message->transmit_ns += delay_ns;
		return;
	case DELAY_OCCUPANCY:
		message->hold_ns += delay_ns;
		return;
	}
}

static bool is_latency(const struct fault *fault)
{
	return fault->kind == FAULT_DELAY && fault->model == DELAY_LATENCY;
}

static void ask_message(void *context, int direction, int microbatch, int64_t now_ns,
                        struct shape *message)
{
	const struct world *world = context;
	const struct instant instant = {.iteration = world->iteration,
	                                .now_ns = world->start_ns + now_ns,
	                                .is_message = true};

	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct fault *fault = &world->scenario->faults[i];

		if (!world->faults[i].is_dynamic || !fault_is_on_link(fault) ||
		    world_fault_direction(fault) / SIM_DIRECTIONS != direction / SIM_DIRECTIONS ||
		    !world_is_in_force(world, i, instant))
			continue;
		if (world_fault_direction(fault) == direction)
			worsen(world, fault,
			       fault_delay_ns(fault, world->seed, world->iteration, microbatch),
			       message);
		else if (is_latency(fault))
			message->return_ns += fault->delay_ns;
	}
}

static int64_t slowed_ns(int64_t op_ns, const struct fault *fault)
{
	return (int64_t)((double)op_ns * fault->slowdown + 0.5);
}

static int64_t ask_op(void *context, int stage, enum op_kind kind, int microbatch, int64_t now_ns)
{
	const struct world *world = context;
	const struct moment op = {.kind = MOMENT_OP,
	                          .value = world->iteration,
	                          .stage = stage,
	                          .op = kind,
	                          .microbatch = microbatch};
	const struct instant instant = {
		.iteration = world->iteration, .now_ns = world->start_ns + now_ns, .op = &op};
	int64_t op_ns = world->view.op_ns[kind][stage];

	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct fault *fault = &world->scenario->faults[i];

		if (world->faults[i].is_dynamic && fault->kind == FAULT_SLOW_STAGE &&
		    fault->from_stage == stage && world_is_in_force(world, i, instant))
			op_ns = slowed_ns(op_ns, fault);
	}
	return op_ns;
}

static void reset_tables(struct world *world)
{
	const struct scenario *scenario = world->scenario;
	int n_stages = scenario->topology.n_stages;

	for (int i = 0; i < n_stages * SIM_DIRECTIONS; i++)
		world->messages[i] = world->healthy;
	for (int stage = 0; stage < n_stages; stage++) {
		const struct profile_stage *profile = &scenario->profile.stages[stage];

		world->op_ns[OP_F * n_stages + stage] = profile->forward_ns;
		world->op_ns[OP_B * n_stages + stage] = profile->backward_input_ns;
		world->op_ns[OP_W * n_stages + stage] = profile->backward_weight_ns;
	}
	world->view.ask_message = NULL;
	world->view.ask_op = NULL;
	world->view.switch_rules = NULL;
	world->view.n_outages = 0;
}

static void fold_in(struct world *world, const struct fault *fault)
{
	int n_stages = world->scenario->topology.n_stages, direction;

	if (fault->kind == FAULT_SLOW_STAGE) {
		for (int kind = 0; kind < OP_KINDS; kind++) {
			int64_t *op_ns = &world->op_ns[kind * n_stages + fault->from_stage];

			*op_ns = slowed_ns(*op_ns, fault);
		}
		return;
	}
	direction = world_fault_direction(fault);
	worsen(world, fault, fault->delay_ns, &world->messages[direction]);
	if (is_latency(fault))
		world->messages[direction ^ 1].return_ns += fault->delay_ns;
}

void world_begin(struct world *world, int iteration, int64_t start_ns)
{
	const struct instant start = {.iteration = iteration, .now_ns = start_ns};

	world->iteration = iteration;
	world->start_ns = start_ns;
	reset_tables(world);
	for (size_t i = 0; i < world->scenario->n_faults; i++) {
		const struct fault *fault = &world->scenario->faults[i];
		struct fault_state *state = &world->faults[i];
		bool is_active;

		if (fault->kind == FAULT_DOWN || (world->is_left && world->is_left[i]))
			continue;
		is_active = world_is_in_force(world, i, start);
		if (is_active && !state->is_active)
			*state = (struct fault_state){.is_active = true, .since_ns = start_ns};
		state->is_dynamic =
			world_may_change(world, i) || (is_active && fault->jitter_ns > 0);
		if (state->is_dynamic && fault_is_on_link(fault))
			world->view.ask_message = ask_message;
		else if (state->is_dynamic)
			world->view.ask_op = ask_op;
		else if (is_active)
			fold_in(world, fault);
	}
}

void world_leave(struct world *world, const bool *is_left)
{
	world->is_left = is_left;
}

void world_add_outage(struct world *world, const struct sim_outage *outage)
{
	world->outages[world->view.n_outages++] = *outage;
}

void world_set_switch(struct world *world, const struct plane_rules *rules, int64_t now_ns)
{
	world->view.switch_rules = rules;
	world->view.switch_ns = now_ns;
}

const struct sim_world *world_view(const struct world *world)
{
	return &world->view;
}

int64_t world_link_ns(const struct world *world, int link)
{
	const struct instant start = {.iteration = world->iteration, .now_ns = world->start_ns};
	int64_t slowest_ns = 0;

	for (int direction = sim_direction(link, false); direction <= sim_direction(link, true);
	     direction++) {
		struct shape message = world->messages[direction];
		int64_t total_ns;

		for (size_t i = 0; i < world->scenario->n_faults; i++) {
			const struct fault *fault = &world->scenario->faults[i];

			if (world->faults[i].is_dynamic && fault_is_on_link(fault) &&
			    world_fault_direction(fault) == direction &&
			    world_is_in_force(world, i, start))
				worsen(world, fault, fault->delay_ns, &message);
		}
		total_ns = message.hold_ns + message.transmit_ns + message.latency_ns;
		slowest_ns = total_ns > slowest_ns ? total_ns : slowest_ns;
	}
	return slowest_ns;
}
