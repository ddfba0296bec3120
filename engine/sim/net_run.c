/* net_run.c - times one iteration of a compiled plan.
 *
 * An op starts when the device's queue takes it and its input is there. Its message then enters a
 * channel (stream plane) or the first free queue (delegate plane), is held there as long as the
 * fault says, crosses the link, and arrives. A channel has an end at either stage, which are free
 * again at different times (plane.h). On the stream plane with one issue queue the next op
 * waits until that message has ended (DESIGN.md section 4, fact 2b), or, where the host does not
 * wait for each computation, until it has started: the queue then only has to have issued it. */
#include <assert.h>
#include <stddef.h>

#include "engine/sim/net.h"
#include "engine/sim/net_internal.h"

struct run {
	struct sim_net *net;
	const struct sim_world *world;
	struct sim_op_times *times; /* NULL: not wanted */
	struct sim_outcome sum;
};

/* One message on its way; what the op's record needs of it. */
struct transfer {
	int64_t start_ns; /* entered its channel or queue */
	int64_t done_ns;  /* its sender was rid of it */
	int64_t arrive_ns;
	int queue; /* of the delegates; −1: a channel */
};

static int64_t max_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct shape ask_message(const struct run *run, const struct net_node *node, int64_t now_ns)
{
	struct shape message = run->world->messages[node->direction];

	if (run->world->ask_message)
		run->world->ask_message(run->world->context, node->direction, node->microbatch,
		                        now_ns, &message);
	return message;
}

/* Let a message that is ready then come behind what an outage caught, unless it crosses before. */
static void come_behind(struct net_lane *lane, int64_t ready_ns)
{
	if (max_ns(lane->link.free_ns, ready_ns) < lane->again_from_ns)
		return;
	lane->link.free_ns = max_ns(lane->link.free_ns, lane->again.free_ns);
	lane->link.last_ns = max_ns(lane->link.last_ns, lane->again.last_ns);
}

static bool is_caught(const struct sim_outage *outage, const struct net_node *node,
                      const struct link_crossing *crossing, const struct link_times *times)
{
	int link = node->direction / SIM_DIRECTIONS;

	return outage->link == link && crossing->ready_ns < outage->until_ns &&
	       times->arrive_ns > outage->from_ns;
}

/* A message that an outage catches starts over at its end, behind others that did; those that
 * crossed the link before the outage do not wait for them. A sender that was rid of it before stays
 * so. */
static void start_over(const struct run *run, const struct net_node *node,
                       const struct shape *message, struct link_crossing crossing,
                       struct link_times *times)
{
	struct net_lane *lane = &run->net->lanes[node->direction];

	for (int i = 0; i < run->world->n_outages; i++) {
		const struct sim_outage *outage = &run->world->outages[i];
		int64_t done_ns = times->done_ns;

		if (!is_caught(outage, node, &crossing, times))
			continue;
		crossing.ready_ns = lane->again_from_ns = outage->until_ns;
		*times = link_cross(&lane->again, message, &crossing);
		if (done_ns <= outage->from_ns)
			times->done_ns = done_ns;
	}
}

/* Inline, so that a message that no outage can catch costs no call. */
static inline struct link_times deliver(const struct run *run, const struct net_node *node,
                                        const struct shape *message, struct link_crossing crossing)
{
	struct net_lane *lane = &run->net->lanes[node->direction];
	struct link_times times;

	come_behind(lane, crossing.ready_ns);
	times = link_cross(&lane->link, message, &crossing);
	if (run->world->n_outages > 0)
		start_over(run, node, message, crossing, &times);
	return times;
}

static struct transfer send_delegated(struct run *run, struct net_node *node,
                                      const struct plane_rules *rules, int64_t request_ns)
{
	struct net_lane *lane = &run->net->lanes[node->direction];
	struct link_times times;
	struct shape message;
	int64_t start_ns;
	int first = 0;

	for (int i = 1; i < rules->n_queues; i++)
		if (lane->queue_free_ns[i] < lane->queue_free_ns[first])
			first = i;
	start_ns = max_ns(request_ns, lane->queue_free_ns[first]);
	message = ask_message(run, node, start_ns);
	times = deliver(run, node, &message, link_from_queue(&message, start_ns));
	lane->queue_free_ns[first] = times.done_ns;
	return (struct transfer){start_ns, times.done_ns, times.arrive_ns, first};
}

/* The acknowledgement that must be there before a message of no more than a window ends: that of
 * the message which, with all after it, no longer fits the window. */
static int64_t earlier_ack_ns(const struct run *run, const struct net_lane *lane)
{
	int64_t bytes = run->world->message_bytes;
	int64_t n_in_window = bytes > 0 && run->net->rules.window_bytes > 0
	                              ? run->net->rules.window_bytes / bytes
	                              : run->net->n_acks;
	int n_acks = run->net->n_acks;

	if (n_in_window == 0 || n_in_window >= n_acks)
		return 0;
	return lane->acks[(lane->next_ack + n_acks - (int)n_in_window) % n_acks];
}

/* The end at the receiver, where it sends as well. */
static void free_other_end(struct sim_net *net, int direction, int64_t free_ns)
{
	int64_t *end_ns = &net->end_free_ns[sim_opposite(direction)];

	if (net->rules.is_channel_shared && !net->rules.is_batched)
		*end_ns = max_ns(*end_ns, free_ns);
}

static struct transfer send_in_channel(struct run *run, struct net_node *node, int64_t request_ns)
{
	struct net_lane *lane = &run->net->lanes[node->direction];
	int64_t *end_ns = &run->net->end_free_ns[node->direction];
	int64_t start_ns = max_ns(request_ns, *end_ns);
	struct shape message = ask_message(run, node, start_ns);
	struct link_times times = deliver(run, node, &message,
	                                  link_from_channel(&message, run->world->message_bytes,
	                                                    run->net->rules.window_bytes, start_ns,
	                                                    earlier_ack_ns(run, lane)));

	lane->acks[lane->next_ack] = times.acked_ns;
	lane->next_ack = (lane->next_ack + 1) % run->net->n_acks;
	*end_ns = times.done_ns;
	free_other_end(run->net, node->direction, times.arrive_ns);
	return (struct transfer){start_ns, times.done_ns, times.arrive_ns, -1};
}

/* When the device's queue takes the next op after one that ended at end_ns and whose message went
 * like this. From the switch on no message holds a queue. */
static int64_t next_op_ns(const struct run *run, int64_t end_ns, const struct transfer *transfer)
{
	const struct plane_rules *rules = &run->net->rules;
	int64_t free_ns =
		rules->host_waits || rules->is_batched ? transfer->done_ns : transfer->start_ns;

	if (!rules->has_one_issue_queue && !rules->is_batched)
		return end_ns;
	if (run->world->switch_rules && free_ns > run->world->switch_ns)
		return max_ns(end_ns, run->world->switch_ns);
	return free_ns;
}

/* Send the node's message at end_ns; returns when the stage's queue takes the next op. */
static int64_t send_message(struct run *run, struct net_node *node, int64_t end_ns,
                            struct transfer *out)
{
	const struct plane_rules *rules = &run->net->rules, *later = run->world->switch_rules;
	int64_t *end_free_ns = &run->net->end_free_ns[node->direction];

	if (rules->kind == PLANE_DELEGATE) {
		*out = send_delegated(run, node, rules, end_ns);
		return end_ns;
	}
	if (later && max_ns(end_ns, *end_free_ns) >= run->world->switch_ns) {
		*out = send_delegated(run, node, later, max_ns(end_ns, run->world->switch_ns));
		/* Those that wait behind it in plan order were still waiting then, too. */
		*end_free_ns = max_ns(*end_free_ns, run->world->switch_ns);
		free_other_end(run->net, node->direction, run->world->switch_ns);
	} else {
		*out = send_in_channel(run, node, end_ns);
	}
	return next_op_ns(run, end_ns, out);
}

static int64_t duration_ns(const struct run *run, const struct net_node *node, int64_t start_ns)
{
	const struct sim_world *world = run->world;
	int64_t op_ns = world->ask_op ? world->ask_op(world->context, node->stage, node->kind,
	                                              node->microbatch, start_ns)
	                              : world->op_ns[node->kind][node->stage];

	if (run->net->rules.kind == PLANE_DELEGATE)
		return op_ns + node->n_messages * run->net->rules.message_cost_ns;
	if (world->switch_rules && start_ns >= world->switch_ns)
		return op_ns + node->n_messages * world->switch_rules->message_cost_ns;
	return op_ns;
}

/* Start of the node's op; what it waits for has been timed. */
static int64_t start_of(const struct run *run, const struct net_node *node)
{
	int64_t free_ns = run->net->stages[node->stage].free_ns;

	return node->source < 0 ? free_ns : max_ns(free_ns, run->net->arrive_ns[node->source]);
}

static void add_shares(struct sim_outcome *sum, int64_t previous_end_ns, int64_t ready_ns,
                       int64_t start_ns, int64_t end_ns)
{
	int64_t waited_until_ns = max_ns(previous_end_ns, ready_ns);

	sum->wait_ns += waited_until_ns - previous_end_ns;
	sum->blocked_ns += start_ns - waited_until_ns;
	sum->compute_ns += end_ns - start_ns;
}

static void run_node(struct run *run, int index)
{
	struct sim_net *net = run->net;
	struct net_node *node = &net->nodes[index];
	struct net_stage *stage = &net->stages[node->stage];
	int64_t ready_ns = node->source < 0 ? 0 : net->arrive_ns[node->source];
	int64_t start_ns = start_of(run, node),
		end_ns = start_ns + duration_ns(run, node, start_ns);
	struct transfer transfer = {-1, -1, -1, -1};

	add_shares(&run->sum, stage->end_ns, ready_ns, start_ns, end_ns);
	stage->end_ns = stage->free_ns = end_ns;
	if (node->direction >= 0) {
		stage->free_ns = send_message(run, node, end_ns, &transfer);
		net->arrive_ns[index] = transfer.arrive_ns;
	}
	if (run->times)
		run->times[node->plan_index] = (struct sim_op_times){
			.start_ns = start_ns,
			.end_ns = end_ns,
			.ready_ns = ready_ns,
			.transfer_start_ns = transfer.start_ns,
			.transfer_end_ns = transfer.done_ns,
			.arrive_ns = transfer.arrive_ns,
			.queue = transfer.queue,
		};
}

static void reset(struct sim_net *net)
{
	int n_directions = net->n_stages * SIM_DIRECTIONS;
	int per_lane = net->n_queues + net->n_acks;

	for (int i = 0; i < net->n_stages; i++)
		net->stages[i] = (struct net_stage){0};
	for (int i = 0; i < n_directions; i++) {
		net->end_free_ns[i] = 0;
		net->lanes[i].link = net->lanes[i].again = (struct link_lane){0};
		net->lanes[i].again_from_ns = 0;
		net->lanes[i].next_ack = 0;
	}
	for (ptrdiff_t i = 0; i < (ptrdiff_t)n_directions * per_lane; i++)
		net->lane_times[i] = 0;
}

/* Of the stages' next ops whose input has arrived or is under way, the one that ends first; ties
 * forward first. */
static int first_to_end(const struct run *run)
{
	const struct sim_net *net = run->net;
	int per_stage = net->n_nodes / net->n_stages, best = -1;
	int64_t best_ns = 0;

	for (int s = 0; s < net->n_stages; s++) {
		int index = net->stages[s].next < per_stage
		                    ? net->stage_nodes[s * per_stage + net->stages[s].next]
		                    : -1;
		const struct net_node *node = index < 0 ? NULL : &net->nodes[index];
		int64_t start_ns, end_ns;

		if (!node || (node->source >= 0 && net->arrive_ns[node->source] < 0))
			continue;
		start_ns = start_of(run, node);
		end_ns = start_ns + duration_ns(run, node, start_ns);
		if (best < 0 || end_ns < best_ns || (end_ns == best_ns && index < best)) {
			best = index;
			best_ns = end_ns;
		}
	}
	return best;
}

/* Messages ask for their channel when their ops end, so ops are timed in the order of their ends.
 */
static void run_in_request_order(struct run *run)
{
	struct sim_net *net = run->net;

	for (int i = 0; i < net->n_nodes; i++)
		net->arrive_ns[i] = -1;
	for (int i = 0; i < net->n_nodes; i++) {
		int index = first_to_end(run);

		assert(index >= 0);
		net->stages[net->nodes[index].stage].next++;
		run_node(run, index);
	}
}

void sim_net_run(struct sim_net *net, const struct sim_world *world, struct sim_op_times *times,
                 struct sim_outcome *out)
{
	struct run run = {.net = net, .world = world, .times = times};

	reset(net);
	if (net->rules.kind == PLANE_STREAM && net->rules.order == CHANNEL_REQUEST_ORDER)
		run_in_request_order(&run);
	else
		for (int i = 0; i < net->n_nodes; i++)
			run_node(&run, i);
	for (int s = 0; s < net->n_stages; s++)
		run.sum.makespan_ns = max_ns(run.sum.makespan_ns, net->stages[s].end_ns);
	for (int s = 0; s < net->n_stages; s++)
		run.sum.wait_ns += run.sum.makespan_ns - net->stages[s].end_ns;
	*out = run.sum;
}

/* min and max keep every part of an op inside [0, end_ns]. */
static int64_t clip(int64_t ns, int64_t end_ns)
{
	return ns < end_ns ? ns : end_ns;
}

void sim_outcome_until(const struct plan *plan, const struct sim_op_times *times, int64_t end_ns,
                       struct sim_outcome *out)
{
	struct sim_outcome sum = {.makespan_ns = end_ns};
	int per_stage = OP_KINDS * plan->n_microbatches;

	for (int s = 0; s < plan->n_stages; s++) {
		int64_t previous_end_ns = 0;

		for (int i = s * per_stage; i < (s + 1) * per_stage; i++) {
			add_shares(&sum, previous_end_ns, clip(times[i].ready_ns, end_ns),
			           clip(times[i].start_ns, end_ns), clip(times[i].end_ns, end_ns));
			previous_end_ns = clip(times[i].end_ns, end_ns);
		}
		sum.wait_ns += end_ns - previous_end_ns;
	}
	*out = sum;
}
