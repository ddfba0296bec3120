/* rails.c - which path a message takes, and what becomes of it when that dies.
 *
 * The rail in use dies for good: delegates, which have queues of their own and know what was not
 * acknowledged, go over to the next one; what was under way, and what comes before anybody has
 * noticed, goes failover_ns later. Or it is back before anybody gives up on it: then the same waits
 * for that. Meanwhile the sender is rid of it, as of any message that a buffer has taken. A message
 * that is sent again enters neither channel nor queue a second time. */
#include <errno.h>

#include "engine/dataplane/plane_internal.h"

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

static int hand_out(struct dataplane *plane, struct sending *sending, int64_t start_ns,
                    struct err *err)
{
	struct message message = {
		.run = plane->config.run,
		.attempt = plane->attempt,
		.iteration = plane->iteration,
		.kind = sending->kind,
		.microbatch = sending->microbatch,
		.replica = plane->config.replica,
		.from_stage = plane->config.stage,
		.to_stage = stage_of(plane, sending->peer),
		.rail = choose_rail(plane, sending->peer),
		.queue = sending->queue,
		.n_bytes = (int64_t)plane->config.payload_bytes,
		.sent_ns = start_ns,
	};
	int rc;

	if (message.rail < 0)
		return err_set(err, -ENETDOWN, "stage %d has no rail left to stage %d",
		               message.from_stage, message.to_stage);
	plane->rails[sending->peer].in_use = sending->rail = message.rail;
	rc = transport_send(plane->config.transport, &message, sending->payload, err);
	/* It died a moment ago; LOST comes next and takes this message along. */
	return rc == -ENETDOWN ? 0 : rc;
}

/* It goes at again_ns; its sender is rid of it. */
static int put_off(struct dataplane *plane, struct sending *sending, int64_t again_ns,
                   int64_t now_ns, struct err *err)
{
	sending->again_ns = again_ns;
	if (again_ns < plane->again_ns)
		plane->again_ns = again_ns;
	plane->next_ns = 0;
	return sending->state == SENDING_UNDER_WAY ? plane_finish(plane, sending, now_ns, err) : 0;
}

int plane_transmit(struct dataplane *plane, struct sending *sending, int queue, int64_t start_ns,
                   struct err *err)
{
	const struct plane_rails *rails = &plane->rails[sending->peer];

	sending->queue = queue;
	sending->rail = rails->in_use;
	sending->state = SENDING_UNDER_WAY;
	sending->at.started_ns = start_ns;
	if (start_ns < rails->free_ns)
		return put_off(plane, sending, rails->free_ns, start_ns, err);
	return hand_out(plane, sending, start_ns, err);
}

int plane_lose(struct dataplane *plane, int peer, int rail, int64_t now_ns, struct err *err)
{
	struct plane_rails *rails = &plane->rails[peer];
	bool is_known = rails->is_dead[rail];
	int rc = 0;

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
			rc = put_off(plane, sending, rails->free_ns, now_ns, err);
	}
	return rc;
}

int plane_send_again(struct dataplane *plane, int64_t now_ns, struct err *err)
{
	int rc = 0;

	plane->again_ns = INT64_MAX;
	for (size_t i = 0; rc == 0 && i < plane_n_slots(plane); i++) {
		struct sending *sending = &plane->sendings[i];
		int64_t again_ns = sending->again_ns;

		if (again_ns <= now_ns) {
			sending->again_ns = INT64_MAX;
			rc = hand_out(plane, sending, again_ns, err);
		} else if (again_ns < plane->again_ns) {
			plane->again_ns = again_ns;
		}
	}
	return rc;
}

void dataplane_expect_back(struct dataplane *plane, int peer_stage, int rail, int64_t back_ns)
{
	struct plane_rails *rails = &plane->rails[peer_of(plane, peer_stage)];

	if (rail != rails->in_use)
		return;
	rails->back_ns = rails->free_ns = back_ns;
}

void dataplane_set_rail(struct dataplane *plane, int peer_stage, int rail, bool is_dead)
{
	struct plane_rails *rails = &plane->rails[peer_of(plane, peer_stage)];

	rails->is_dead[rail] = is_dead;
	if (!is_dead && rail == rails->in_use)
		rails->back_ns = 0;
}
