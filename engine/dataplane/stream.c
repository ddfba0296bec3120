/* stream.c - transfers in the device's order, as NCCL's are.
 *
 * Unbatched: one channel a neighbour pair carries both directions in the plan's order; a message
 * starts when the channel is free and its producer has ended. Batched: the directions overlap and
 * nothing but the sender's own order holds a message back. In both the sender's queue stands still
 * until the transport is rid of its message. */
#include <errno.h>

#include "engine/dataplane/plane_internal.h"

static int64_t later_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static bool is_ordered(const struct dataplane *plane)
{
	return plane->rules.is_channel_shared && !plane->rules.is_batched;
}

/* Does the slot hold a message that goes to peer, rather than one that comes from it? */
static bool is_own(int peer, const struct channel_slot *slot)
{
	return (slot->kind == OP_F) == (peer == 1);
}

static struct sending *own_sending(struct dataplane *plane, const struct channel_slot *slot)
{
	return &plane->sendings[plane_slot(plane, plane->iteration % PLANE_PARITIES, slot->kind,
	                                   slot->microbatch)];
}

/* Start the channel's next message, if it is ours, wanted, and the channel is free by now. */
static int start_next(struct dataplane *plane, int peer, int64_t now_ns, int64_t *next_ns,
                      struct err *err)
{
	struct channel *channel = &plane->channels[peer];
	const struct channel_slot *slot = &channel->order[channel->n_passed];
	struct sending *sending;
	int64_t start_ns;

	if (channel->n_passed == 2 * plane->config.n_microbatches || !is_own(peer, slot))
		return 0;
	sending = own_sending(plane, slot);
	if (sending->state != SENDING_REQUESTED)
		return 0;
	start_ns = later_ns(channel->free_ns, sending->at.requested_ns);
	if (start_ns > now_ns) {
		*next_ns = start_ns < *next_ns ? start_ns : *next_ns;
		return 0;
	}
	return plane_transmit(plane, sending, 0, start_ns, err);
}

static int stream_pump(struct dataplane *plane, int64_t now_ns, int64_t *next_ns_out,
                       struct err *err)
{
	int rc = 0;

	*next_ns_out = INT64_MAX;
	for (int peer = 0; rc == 0 && peer < PLANE_PEERS && is_ordered(plane); peer++)
		rc = start_next(plane, peer, now_ns, next_ns_out, err);
	return rc;
}

static int stream_request(struct dataplane *plane, struct sending *sending, struct err *err)
{
	/* In order, the pump that follows starts it when its turn has come. */
	if (is_ordered(plane))
		return 0;
	return plane_transmit(plane, sending, 0, sending->at.requested_ns, err);
}

static void pass(struct dataplane *plane, int peer, int64_t done_ns)
{
	struct channel *channel = &plane->channels[peer];

	channel->n_passed++;
	channel->free_ns = later_ns(channel->free_ns, done_ns);
	plane->next_ns = 0;
}

static int stream_sent(struct dataplane *plane, struct sending *sending, struct err *err)
{
	(void)err;
	if (is_ordered(plane))
		pass(plane, sending->peer, sending->at.done_ns);
	return 0;
}

static int stream_passed(struct dataplane *plane, int peer, enum op_kind kind, int microbatch,
                         int64_t done_ns, struct err *err)
{
	struct channel *channel = &plane->channels[peer];
	const struct channel_slot *slot = &channel->order[channel->n_passed];

	if (!is_ordered(plane))
		return 0;
	if (channel->n_passed == 2 * plane->config.n_microbatches || slot->kind != kind ||
	    slot->microbatch != microbatch)
		return err_set(err, -EBADMSG,
		               "stage %d: %c%d came over its channel out of the plan's order",
		               plane->config.stage, op_kind_letter(kind), microbatch);
	pass(plane, peer, done_ns);
	return 0;
}

static int stream_lost(struct dataplane *plane, int peer, int rail, int64_t now_ns, struct err *err)
{
	(void)now_ns;
	return err_set(err, -ENETDOWN, "stage %d lost rail %d to stage %d", plane->config.stage,
	               rail, plane->config.stage + (peer ? 1 : -1));
}

const struct plane_ops stream_plane_ops = {
	.name = "stream",
	.holds_stream = true,
	.request = stream_request,
	.sent = stream_sent,
	.passed = stream_passed,
	.lost = stream_lost,
	.pump = stream_pump,
};
