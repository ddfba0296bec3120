/* net.c - compiles a plan under the rules of a data plane.
 *
 * Ops are sorted by their planned ends in a replay with F = B = W = 1000 and link 1, forward first
 * on ties (DESIGN.md section 4, fact 2a). That is the order of the messages in a channel that is
 * served in plan order, and at the same time an order in which everything an op can wait for comes
 * before it: its input, the op and the message before it on its stage, and the message before its
 * own in the channel all have earlier planned ends, or equal ones and come first in the tie. */
#include "engine/sim/net.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/schedule/channel.h"
#include "engine/sim/net_internal.h"

struct sort_key {
	int64_t end_ns;
	enum op_kind kind;
	int stage;
	int plan_index;
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

static struct sort_key *sorted_keys(const struct plan *timed, int n_nodes)
{
	struct sort_key *keys = array_new((size_t)n_nodes, sizeof(*keys));
	int per_stage = OP_KINDS * timed->n_microbatches;

	for (int i = 0; keys && i < n_nodes; i++)
		keys[i] = (struct sort_key){.end_ns = timed->ops[i].start_ns + PLAN_UNIT_OP_NS,
		                            .kind = timed->ops[i].kind,
		                            .stage = i / per_stage,
		                            .plan_index = i};
	if (keys)
		qsort(keys, (size_t)n_nodes, sizeof(*keys), compare_keys);
	return keys;
}

/* Direction of the message that leaves after op; −1: none. */
static int message_direction(const struct plan *plan, const struct plan_op *op, int stage)
{
	if (!plan_op_sends(plan, stage, op))
		return -1;
	return op->kind == OP_F ? sim_direction(stage, false) : sim_direction(stage - 1, true);
}

/* Does op wait for a message, and from which stage? −1: no. */
static int source_stage(const struct plan *plan, const struct plan_op *op, int stage)
{
	if (op->kind == OP_F)
		return stage - 1;
	if (op->kind == OP_B && stage < plan->n_stages - 1)
		return stage + 1;
	return -1;
}

/* sent[stage * N + mb] of a kind: node that sends the activation or gradient of mb from stage. */
struct senders {
	int *of[2];
};

static int add_nodes(struct sim_net *net, const struct plan *plan, const struct sort_key *keys,
                     const struct senders *senders)
{
	int per_stage = OP_KINDS * plan->n_microbatches;
	int *n_placed = array_new((size_t)plan->n_stages, sizeof(*n_placed));

	for (int i = 0; n_placed && i < net->n_nodes; i++) {
		const struct plan_op *op = &plan->ops[keys[i].plan_index];
		int stage = keys[i].stage, source = source_stage(plan, op, stage);
		struct net_node *node = &net->nodes[i];

		*node = (struct net_node){.stage = stage,
		                          .microbatch = op->microbatch,
		                          .kind = op->kind,
		                          .plan_index = keys[i].plan_index,
		                          .source = -1,
		                          .direction = message_direction(plan, op, stage)};
		if (source >= 0)
			node->source = senders->of[op->kind == OP_B]
			                          [source * plan->n_microbatches + op->microbatch];
		node->n_messages = (node->source >= 0) + (node->direction >= 0);
		if (node->direction >= 0)
			senders->of[op->kind != OP_F]
				   [stage * plan->n_microbatches + op->microbatch] = i;
		net->stage_nodes[stage * per_stage + n_placed[stage]++] = i;
	}
	free(n_placed);
	return n_placed ? 0 : -ENOMEM;
}

static int compile_nodes(struct sim_net *net, const struct plan *plan, const struct plan *timed)
{
	size_t n_messages = (size_t)plan->n_stages * (size_t)plan->n_microbatches;
	struct senders senders = {
		{array_new(n_messages, sizeof(int)), array_new(n_messages, sizeof(int))}};
	struct sort_key *keys = sorted_keys(timed, net->n_nodes);
	int rc = -ENOMEM;

	if (senders.of[0] && senders.of[1] && keys)
		rc = add_nodes(net, plan, keys, &senders);
	free(keys);
	free(senders.of[0]);
	free(senders.of[1]);
	return rc;
}

/* Queues and rings of acknowledgements of all directions, in one block. */
static int make_lanes(struct sim_net *net, int n_directions)
{
	size_t per_lane = (size_t)net->n_queues + (size_t)net->n_acks;

	net->lane_times = array_new((size_t)n_directions * per_lane, sizeof(*net->lane_times));
	if (!net->lane_times)
		return -ENOMEM;
	for (int i = 0; i < n_directions; i++) {
		net->lanes[i].queue_free_ns = net->lane_times + (size_t)i * per_lane;
		net->lanes[i].acks = net->lanes[i].queue_free_ns + net->n_queues;
	}
	return 0;
}

static int make_state(struct sim_net *net, const struct plan *plan)
{
	size_t n_nodes = (size_t)net->n_nodes,
	       n_directions = (size_t)plan->n_stages * SIM_DIRECTIONS;

	net->nodes = array_new(n_nodes, sizeof(*net->nodes));
	net->stage_nodes = array_new(n_nodes, sizeof(*net->stage_nodes));
	net->arrive_ns = array_new(n_nodes, sizeof(*net->arrive_ns));
	net->stages = array_new((size_t)plan->n_stages, sizeof(*net->stages));
	net->end_free_ns = array_new(n_directions, sizeof(*net->end_free_ns));
	net->lanes = array_new(n_directions, sizeof(*net->lanes));
	if (!net->nodes || !net->stage_nodes || !net->arrive_ns || !net->stages ||
	    !net->end_free_ns || !net->lanes)
		return -ENOMEM;
	return make_lanes(net, (int)n_directions);
}

int sim_net_new(const struct plan *plan, const struct plane_rules *rules, struct sim_net **out,
                struct err *err)
{
	struct sim_net *net;
	struct plan timed;
	int rc = plan_copy_in_units(plan, &timed, err);

	if (rc)
		return rc;
	net = array_new(1, sizeof(*net));
	if (!net) {
		plan_fini(&timed);
		return err_set(err, -ENOMEM, "no memory for a simulation");
	}
	net->rules = *rules;
	net->n_stages = plan->n_stages;
	net->n_nodes = plan->n_stages * OP_KINDS * plan->n_microbatches;
	net->n_queues = rules->n_queues > 0 ? rules->n_queues : PLANE_QUEUES_DEFAULT;
	/* A window may be as long as all messages of a direction together. */
	net->n_acks = plan->n_microbatches;
	rc = make_state(net, plan);
	if (rc == 0)
		rc = compile_nodes(net, plan, &timed);
	plan_fini(&timed);
	if (rc) {
		sim_net_free(net);
		return err_set(err, rc,
		               "no memory for a simulation of %d stages and %d microbatches",
		               plan->n_stages, plan->n_microbatches);
	}
	*out = net;
	return 0;
}

void sim_net_free(struct sim_net *net)
{
	if (!net)
		return;
	free(net->nodes);
	free(net->stage_nodes);
	free(net->arrive_ns);
	free(net->stages);
	free(net->end_free_ns);
	free(net->lanes);
	free(net->lane_times);
	free(net);
}
