/* links.c - the order of what is posted on exchanges, and its memory.
 *
 * Both ends of a link make the same list of posts from the same plan. It is the channel's order
 * (plan_channel_order()), and at its end one post in both directions: once that has run here,
 * everything before it has run at the other end. Where sends are batched, two messages of opposite
 * directions are one post if each is what its receiver computes with next after it has sent the
 * other: the steady state of 1F1B, as Megatron posts it. Either op waits for the whole post then,
 * but also without it neither could begin before the other's producer has ended: one follows that
 * producer on its own stage. So batching adds no order among ops that the plan has not; and no
 * message lies between the two in the channel's order, which keeps to each stage's. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/dataplane/links_internal.h"
#include "engine/transport/exchange.h"

static bool make_post(const struct dataplane *plane, struct post *post, struct err *err)
{
	struct device *device = plane->config.device;

	return device_event_new(device, &post->started, err) == 0 &&
	       device_event_new(device, &post->ended, err) == 0;
}

static int open_link(struct dataplane *plane, struct exchange_link *link, struct err *err)
{
	struct device *device = plane->config.device;
	size_t n_posts = (size_t)links_n_posts_max(plane);
	int rc = device_stream_new(device, &link->stream, err);

	rc = rc ? rc : device_event_new(device, &link->ended, err);
	if (rc)
		return rc;
	link->posts = device_alloc(device, n_posts * sizeof(*link->posts), true);
	link->last = device_alloc(device, 2 * (size_t)LINKS_LAST_BYTES, false);
	if (!link->posts || !link->last)
		return err_set(err, -ENOMEM, "no memory for the exchanges of stage %d",
		               plane->config.stage);
	for (size_t i = 0; i < n_posts; i++)
		if (!make_post(plane, &link->posts[i], err))
			return err->code;
	return 0;
}

int links_open(struct dataplane *plane, struct err *err)
{
	int rc = 0;

	if (!plane->config.uses_exchanges)
		return 0;
	plane->links = array_new(1, sizeof(*plane->links));
	if (plane->links)
		plane->links->issued = array_new(plane_n_slots(plane), sizeof(struct post *));
	if (!plane->links || !plane->links->issued)
		return err_set(err, -ENOMEM, "no memory for the exchanges of stage %d",
		               plane->config.stage);
	for (int peer = 0; rc == 0 && peer < PLANE_PEERS; peer++)
		if (plane_has_peer(plane, peer))
			rc = open_link(plane, &plane->links->peers[peer], err);
	return rc;
}

/* Host functions that are still to come find what they are about cancelled. */
void links_close(struct dataplane *plane)
{
	if (!plane->links)
		return;
	links_end(plane, plane_now_ns(plane));
	for (int peer = 0; peer < PLANE_PEERS; peer++)
		exchange_close(plane->links->peers[peer].exchange);
	free(plane->links->issued);
	free(plane->links);
}

bool links_are_usable(const struct dataplane *plane)
{
	for (int peer = 0; plane->links && peer < PLANE_PEERS; peer++) {
		const struct exchange_link *link = &plane->links->peers[peer];

		if (plane_has_peer(plane, peer) && (!link->exchange || link->is_over))
			return false;
	}
	return plane->links != NULL;
}

/* Is what stage computes next after (kind, microbatch) a given op? */
static bool is_followed_by(const struct plan *plan, int stage, struct plan_op op,
                           struct plan_op next)
{
	const struct plan_op *ops = plan_stage(plan, stage);

	for (int i = 0; i + 1 < OP_KINDS * plan->n_microbatches; i++)
		if (ops[i].kind == op.kind && ops[i].microbatch == op.microbatch)
			return ops[i + 1].kind == next.kind &&
			       ops[i + 1].microbatch == next.microbatch;
	return false;
}

/* Stages low and low + 1. */
static bool are_one_post(const struct plan *plan, int low, const struct channel_slot *a,
                         const struct channel_slot *b)
{
	int forward = a->kind == OP_F ? a->microbatch : b->microbatch;
	int backward = a->kind == OP_F ? b->microbatch : a->microbatch;
	const struct plan_op activates = {.kind = OP_F, .microbatch = forward};
	const struct plan_op needs_gradient = {.kind = OP_B, .microbatch = backward};
	const struct plan_op makes_gradient = {.kind = plan->merges_backward ? OP_W : OP_B,
	                                       .microbatch = backward};

	return a->kind != b->kind && is_followed_by(plan, low, activates, needs_gradient) &&
	       is_followed_by(plan, low + 1, makes_gradient, activates);
}

static void add_slot(struct dataplane *plane, int peer, const struct channel_slot *slot,
                     struct post *post)
{
	if ((slot->kind == OP_F) == (peer == 1)) {
		post->sending = plane_sending(plane, slot->kind, slot->microbatch);
		post->sending->post = post;
	} else {
		post->arrival = plane_arrival(plane, slot->kind, slot->microbatch);
	}
}

static struct post *add_post(struct dataplane *plane, int peer)
{
	struct exchange_link *link = &plane->links->peers[peer];
	struct post *post = &link->posts[link->n_posts++];

	post->plane = plane;
	post->peer = peer;
	post->sending = NULL;
	post->arrival = NULL;
	return post;
}

static void order_link(struct dataplane *plane, int peer, const struct plan *unit_copy)
{
	const struct channel_slot *order = plane->channels[peer].order;
	int n = 2 * plane->config.n_microbatches, low = plane->config.stage - (peer == 0);

	plane->links->peers[peer].n_posts = 0;
	for (int i = 0; i < n; i++) {
		struct post *post = add_post(plane, peer);

		add_slot(plane, peer, &order[i], post);
		if (plane->rules.is_batched && i + 1 < n &&
		    are_one_post(unit_copy, low, &order[i], &order[i + 1]))
			add_slot(plane, peer, &order[++i], post);
	}
	(void)add_post(plane, peer);
}

void links_order(struct dataplane *plane, const struct plan *unit_copy)
{
	for (int peer = 0; peer < PLANE_PEERS; peer++)
		if (plane_has_peer(plane, peer))
			order_link(plane, peer, unit_copy);
}

void links_reset(struct dataplane *plane)
{
	plane->links->n_issued = 0;
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		struct exchange_link *link = &plane->links->peers[peer];

		/* What was aborted may still be on its way to its end, past flags that are set. */
		if (link->is_over)
			continue;
		link->n_posted = link->n_run = 0;
		link->held = NULL;
		for (int i = 0; i < link->n_posts; i++) {
			link->posts[i].state = POST_UNDER_WAY;
			link->posts[i].is_reached = false;
			link->posts[i].is_produced_set = false;
			device_flag_clear(&link->posts[i].produced);
			device_flag_clear(&link->posts[i].may_go);
		}
	}
}
