/* rails.c - which path a message takes, and what becomes of it when that dies.
 *
 * The rail in use dies for good: delegates, which have queues of their own and know what was not
 * acknowledged, go over to the next one; what was under way, and what comes before anybody has
 * noticed, goes failover_ns later. Or it is back before anybody gives up on it: then the same waits
 * for that. Meanwhile the sender is rid of it when it would have been, as of any message that a
 * buffer has taken; only one larger than the window has to be taken again.
 *
 * A message that has left its channel, or would have by then, starts over behind the link's dead
 * time and is not held a second time; one that is still held then, as if nothing had happened. A
 * queue holds its message behind the link, so there it is held again. The simulator's arithmetic
 * is the same (engine/sim/net_run.c). */
#include <errno.h>

#include "engine/dataplane/slots_internal.h"

static int peer_of(const struct dataplane *plane, int peer_stage)
{
	return peer_stage > plane->config.stage;
}

static int stage_of(const struct dataplane *plane, int peer)
{
	return plane->config.stage + (peer ? 1 : -1);
}

/* The rail in use, or the first that is left; -1: none is. */
static int choose_rail(const struct dataplane *plane, int peer)
{
	const struct plane_rails *rails = &plane->rails[peer];

	if (!rails->is_dead[rails->in_use])
		return rails->in_use;
	for (int rail = 0; rail < plane->config.n_rails; rail++)
		if (!rails->is_dead[rail])
			return rail;
	return -1;
}

static struct message message_of(const struct dataplane *plane, const struct sending *sending)
{
	return (struct message){
		.run = plane->config.run,
		.attempt = plane->attempt,
		.iteration = plane->iteration,
		.kind = sending->kind,
		.microbatch = sending->microbatch,
		.replica = plane->config.replica,
		.from_stage = plane->config.stage,
		.to_stage = stage_of(plane, sending->peer),
		.rail = sending->rail,
		.queue = sending->queue,
		.n_bytes = (int64_t)plane->config.payload_bytes,
		.sent_ns = sending->at.started_ns,
	};
}

/* Its sender is rid of it only when the receiver has taken most of it. */
static bool is_larger_than_window(const struct dataplane *plane, const struct sending *sending)
{
	int64_t window_bytes = plane->rules.window_bytes;

	return sending->is_of_channel && window_bytes > 0 &&
	       (int64_t)plane->config.payload_bytes > window_bytes;
}

int64_t plane_held_until_ns(const struct dataplane *plane, const struct sending *sending)
{
	const struct message message = message_of(plane, sending);
	int64_t start_ns = sending->at.started_ns;

	if (!plane->config.hold_ns)
		return start_ns;
	return start_ns + plane->config.hold_ns(plane->config.hold_context, &message);
}

/* again_ns: when it goes if it starts over, or has been held here. */
static int hand_out(struct dataplane *plane, struct sending *sending, int64_t again_ns,
                    struct err *err)
{
	struct message message = message_of(plane, sending);
	int rc;

	message.rail = choose_rail(plane, sending->peer);
	if (message.rail < 0)
		return err_set(err, -ENETDOWN, "stage %d has no rail left to stage %d",
		               message.from_stage, message.to_stage);
	if (sending->starts_over || plane->config.occupies_streams)
		message.sent_ns = again_ns;
	if (sending->starts_over) {
		message.was_held = sending->is_of_channel;
		if (message.was_held && sending->state == SENDING_DONE)
			message.done_ns = sending->at.done_ns;
	}
	plane->rails[sending->peer].in_use = sending->rail = message.rail;
	rc = transport_send(plane->config.transport, &message, sending->payload, err);
	sending->n_sent += rc == 0;
	sending->left_late_ns = plane_now_ns(plane) - again_ns;
	/* It died a moment ago; LOST comes next and takes this message along. */
	return rc == -ENETDOWN ? 0 : rc;
}

static void expect(struct dataplane *plane, int64_t moment_ns)
{
	if (moment_ns < plane->again_ns)
		plane->again_ns = moment_ns;
	plane->next_ns = 0;
}

static void go_at(struct dataplane *plane, struct sending *sending, int64_t again_ns)
{
	sending->again_ns = again_ns;
	expect(plane, again_ns);
}

/* It goes when its link is back. What transports hold they hold then; what is held in front of
 * them is held here. */
static void put_off(struct dataplane *plane, struct sending *sending, int64_t back_ns)
{
	int64_t until_ns = plane_held_until_ns(plane, sending), again_ns = back_ns;

	if (plane->config.occupies_streams && !sending->is_of_channel)
		again_ns += until_ns - sending->at.started_ns;
	else if (plane->config.occupies_streams && sending->state != SENDING_DONE &&
	         until_ns > back_ns)
		again_ns = until_ns;
	go_at(plane, sending, again_ns);
	sending->starts_over = true;
	if (sending->state == SENDING_DONE)
		return;
	sending->rid_ns = until_ns;
	if (sending->is_of_channel && sending->rid_ns >= back_ns)
		sending->starts_over = false;
	if (!sending->starts_over || is_larger_than_window(plane, sending))
		sending->rid_ns = INT64_MAX;
	else
		expect(plane, sending->rid_ns);
}

int plane_transmit(struct dataplane *plane, struct sending *sending, int queue, int64_t start_ns,
                   struct err *err)
{
	const struct plane_rails *rails = &plane->rails[sending->peer];
	int64_t leaves_ns = start_ns;

	sending->queue = queue;
	sending->rail = rails->in_use;
	sending->state = SENDING_UNDER_WAY;
	sending->at.started_ns = start_ns;
	sending->is_of_channel = plane->ops->holds_stream;
	sending->starts_over = false;
	if (start_ns < rails->free_ns) {
		put_off(plane, sending, rails->free_ns);
		return 0;
	}
	if (plane->config.occupies_streams)
		leaves_ns = plane_held_until_ns(plane, sending);
	if (leaves_ns <= start_ns)
		return hand_out(plane, sending, start_ns, err);
	go_at(plane, sending, leaves_ns);
	return 0;
}

int plane_lose(struct dataplane *plane, int peer, int rail, int64_t now_ns, struct err *err)
{
	struct plane_rails *rails = &plane->rails[peer];
	bool is_known = rails->is_dead[rail];
	int rc = 0;

	plane->channels[peer].has_outage = true;
	rails->is_dead[rail] = true;
	/* Known or not, what was under way on one that will be back goes again then. */
	if (rail != rails->in_use || (is_known && rails->back_ns == 0))
		return 0;
	if (rails->back_ns > 0)
		rails->free_ns = rails->back_ns;
	else
		rc = plane->ops->lost(plane, peer, err);
	if (rails->back_ns == 0)
		rails->free_ns = now_ns + plane->config.failover_ns;
	if (rc == 0 && rails->back_ns == 0 && choose_rail(plane, peer) < 0)
		rc = err_set(err, -ENETDOWN, "stage %d has no rail left to stage %d",
		             plane->config.stage, stage_of(plane, peer));
	for (size_t i = 0; rc == 0 && i < plane_n_slots(plane); i++) {
		struct sending *sending = &plane->sendings[i];

		if (sending->peer == peer && !sending->is_acked && sending->rail == rail &&
		    (sending->state == SENDING_UNDER_WAY || sending->state == SENDING_DONE))
			put_off(plane, sending, rails->free_ns);
	}
	return rc;
}

static int finish_or_send(struct dataplane *plane, struct sending *sending, int64_t now_ns,
                          struct err *err)
{
	int64_t rid_ns = sending->rid_ns, again_ns = sending->again_ns;
	int rc = 0;

	if (rid_ns <= now_ns) {
		sending->rid_ns = INT64_MAX;
		if (sending->state == SENDING_UNDER_WAY)
			rc = plane_finish(plane, sending, rid_ns, err);
	}
	if (rc == 0 && again_ns <= now_ns) {
		sending->again_ns = INT64_MAX;
		rc = hand_out(plane, sending, again_ns, err);
	}
	return rc;
}

int plane_send_again(struct dataplane *plane, int64_t now_ns, struct err *err)
{
	int rc = 0;

	plane->again_ns = INT64_MAX;
	for (size_t i = 0; rc == 0 && i < plane_n_slots(plane); i++) {
		struct sending *sending = &plane->sendings[i];

		rc = finish_or_send(plane, sending, now_ns, err);
		if (sending->again_ns < plane->again_ns)
			plane->again_ns = sending->again_ns;
		if (sending->rid_ns < plane->again_ns)
			plane->again_ns = sending->rid_ns;
	}
	return rc;
}

void dataplane_expect_back(struct dataplane *plane, int peer_stage, int rail, int64_t back_ns)
{
	int peer = peer_of(plane, peer_stage);
	struct plane_rails *rails = &plane->rails[peer];

	plane->channels[peer].has_outage = true;
	/* Both ends of a link may be out: it is back when the last of them is. */
	if (rail == rails->in_use && back_ns > rails->back_ns)
		rails->back_ns = rails->free_ns = back_ns;
}

void dataplane_set_rail(struct dataplane *plane, int peer_stage, int rail, bool is_dead)
{
	struct plane_rails *rails = &plane->rails[peer_of(plane, peer_stage)];

	rails->is_dead[rail] = is_dead;
	if (!is_dead && rail == rails->in_use)
		rails->back_ns = 0;
}
