/* stream.c - transfers in the device's order, as NCCL's are.
 *
 * Unbatched: one channel a neighbour pair carries both directions in the plan's order; a message
 * starts when this end of the channel is over with what comes before it, its own sends and the
 * receives between them, and its producer has ended (plane.h). Batched: the directions overlap and
 * nothing but the sender's own order holds a message back. In both the sender's queue stands still
 * until the transport is rid of its message. */
#include <errno.h>

#include "engine/dataplane/slots_internal.h"
#include "engine/dataplane/staging_internal.h"

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

static struct sending *own_sending(const struct dataplane *plane, const struct channel_slot *slot)
{
	return &plane->sendings[plane_slot(plane, slot->kind, slot->microbatch)];
}

static const struct arrival *peer_arrival(const struct dataplane *plane,
                                          const struct channel_slot *slot)
{
	return &plane->arrivals[plane_slot(plane, slot->kind, slot->microbatch)];
}

/* When this end of the channel was over with the slot's message; -1: not yet. */
static int64_t passed_ns(const struct dataplane *plane, int peer, const struct channel_slot *slot)
{
	const struct arrival *arrival = peer_arrival(plane, slot);

	if (is_own(peer, slot)) {
		const struct sending *sending = own_sending(plane, slot);

		return sending->state == SENDING_DONE ? sending->at.done_ns : -1;
	}
	return arrival->has_come ? arrival->at_ns : -1;
}

/* Pass all messages that this end is over with, in their order. One of the peer's may be ahead of
 * another that is held for longer. */
static void pass(struct dataplane *plane, int peer)
{
	struct channel *channel = &plane->channels[peer];

	while (channel->n_passed < 2 * plane->config.n_microbatches) {
		int64_t ns = passed_ns(plane, peer, &channel->order[channel->n_passed]);

		if (ns < 0)
			break;
		channel->free_ns = later_ns(channel->free_ns, ns);
		channel->n_passed++;
	}
}

/* Start the channel's next message, if it is ours, wanted, and the channel is free by now. */
static int start_next(struct dataplane *plane, int peer, int64_t now_ns, int64_t *next_ns,
                      struct err *err)
{
	struct channel *channel = &plane->channels[peer];
	const struct channel_slot *slot;
	struct sending *sending;
	int64_t start_ns;

	pass(plane, peer);
	slot = &channel->order[channel->n_passed];
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

/* As NCCL does, the transport reads the device's memory, unless only the device can. */
static int stream_issue(struct dataplane *plane, struct device_stream *stream,
                        struct sending *sending, struct err *err)
{
	int rc;

	if (plane->staging) {
		rc = staging_send(plane->staging, sending, err);
	} else {
		sending->payload = sending->output;
		rc = plane_call_produced(stream, sending, err);
	}
	return rc ? rc : device_hold(stream, sending->done, err);
}

static int stream_request(struct dataplane *plane, struct sending *sending, struct err *err)
{
	/* In order, the pump that follows starts it when its turn has come. */
	if (is_ordered(plane))
		return 0;
	return plane_transmit(plane, sending, 0, sending->at.requested_ns, err);
}

static int stream_sent(struct dataplane *plane, struct sending *sending, struct err *err)
{
	(void)err;
	(void)sending;
	plane->next_ns = 0;
	return 0;
}

/* Can the message in slot, before what came in the channel or behind it, be where it is? If it is
 * before it and ours, it has been sent, or the peer would not have got so far. If it is the peer's,
 * they were sent in this order, whichever came first, unless an outage put one of them off. */
static bool is_order_kept(const struct dataplane *plane, int peer, const struct arrival *arrival,
                          const struct channel_slot *slot, bool is_before)
{
	const struct arrival *other = peer_arrival(plane, slot);

	if (is_own(peer, slot))
		return !is_before || own_sending(plane, slot)->state >= SENDING_UNDER_WAY;
	if (!other->has_come || plane->channels[peer].has_outage)
		return true;
	return is_before ? other->sent_ns <= arrival->sent_ns : other->sent_ns >= arrival->sent_ns;
}

static bool is_in_order(const struct dataplane *plane, int peer, const struct arrival *arrival)
{
	const struct channel *channel = &plane->channels[peer];
	bool is_before = true;

	for (int i = channel->n_passed; i < 2 * plane->config.n_microbatches; i++) {
		const struct channel_slot *slot = &channel->order[i];

		if (!is_own(peer, slot) && peer_arrival(plane, slot) == arrival)
			is_before = false;
		else if (!is_order_kept(plane, peer, arrival, slot, is_before))
			return false;
	}
	return !is_before;
}

static int stream_came(struct dataplane *plane, int peer, enum op_kind kind, int microbatch,
                       struct err *err)
{
	if (!is_ordered(plane))
		return 0;
	if (!is_in_order(plane, peer, &plane->arrivals[plane_slot(plane, kind, microbatch)]))
		return err_set(err, -EBADMSG,
		               "stage %d: %c%d came over its channel out of the plan's order",
		               plane->config.stage, op_kind_letter(kind), microbatch);
	plane->next_ns = 0;
	return 0;
}

static int stream_lost(struct dataplane *plane, int peer, struct err *err)
{
	return err_set(err, -ENETDOWN, "stage %d lost rail %d to stage %d", plane->config.stage,
	               plane->rails[peer].in_use, plane->config.stage + (peer ? 1 : -1));
}

const struct plane_ops stream_plane_ops = {
	.name = "stream",
	.holds_stream = true,
	.issue = stream_issue,
	.request = stream_request,
	.sent = stream_sent,
	.came = stream_came,
	.lost = stream_lost,
	.pump = stream_pump,
};
