/* exchange_end.c - ends exchanges for good, between iterations and inside them.
 *
 * Nothing computes on half a tensor. The holds of ops are flags, set by a host function behind a
 * post if that has run. Who ends an exchange first takes this right away from every post that has
 * not (post_state); what an abort lets pass is then nobody's input. What link streams stand at are
 * flags, too, so that nothing keeps them from their end then: by an event they could wait for an
 * op whose input only comes once they are empty. They are set after the abort, or something that
 * was never computed would be sent. A message that has left may not have arrived, even if a
 * later one has come back: who ends an exchange may have cancelled what ran a moment ago, and
 * what stands behind it still runs. So the last post of an iteration, which tells that all has
 * arrived, is posted when all before it was seen to have run, and everything else is sent again. */
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/dataplane/links_internal.h"
#include "engine/dataplane/staging_internal.h"
#include "engine/transport/exchange.h"

enum { LOOK_NS = 100 * NS_PER_US };

static void cancel_posts(struct dataplane *plane, struct exchange_link *link)
{
	for (int i = link->n_run; i < link->n_posted; i++)
		if (!post_settle(&link->posts[i], POST_CANCELLED))
			links_take_run(plane, &link->posts[i]);
	link->held = NULL;
	link->is_over = true;
}

static void open_ways(struct exchange_link *link, int64_t now_ns)
{
	for (int i = 0; i < link->n_posted; i++) {
		struct post *post = &link->posts[i];

		post_set_produced(post, now_ns);
		if (!device_flag_is_set(&post->may_go))
			device_flag_set(&post->may_go, now_ns);
	}
}

static void await_end(const struct exchange_link *link)
{
	while (exchange_progress(link->exchange, NULL) == 0)
		clock_sleep_ns(LOOK_NS);
}

static void end_link(struct dataplane *plane, struct exchange_link *link, int64_t now_ns)
{
	link->is_ending = false;
	open_ways(link, now_ns);
	/* What comes by other ways is not to be overwritten by what has been aborted. A device in
	 * error copies nothing. */
	if (device_record(link->ended, link->stream, NULL))
		return;
	if (plane->staging)
		(void)staging_wait(plane->staging, link->ended, NULL);
	else
		(void)device_wait(plane->in, link->ended, NULL);
}

void links_abort(struct dataplane *plane)
{
	links_look(plane);
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		struct exchange_link *link = &plane->links->peers[peer];

		if (!link->exchange || link->is_over)
			continue;
		cancel_posts(plane, link);
		exchange_abort(link->exchange);
		link->is_ending = true;
	}
}

void links_end(struct dataplane *plane, int64_t now_ns)
{
	struct exchange_link *links = plane->links->peers;

	links_abort(plane);
	for (int peer = 0; peer < PLANE_PEERS; peer++)
		if (links[peer].is_ending)
			await_end(&links[peer]);
	for (int peer = 0; peer < PLANE_PEERS; peer++)
		if (links[peer].is_ending)
			end_link(plane, &links[peer], now_ns);
}

/* It may not have arrived, or has not left: a delegate takes it, and nothing stands still for it.
 */
static int give_to_delegate(struct dataplane *plane, const struct post *post, int64_t now_ns,
                            struct err *err)
{
	struct sending *sending = post->sending;

	if (sending->is_acked)
		return 0;
	if (!post_has_run(post))
		device_flag_set(sending->done, now_ns);
	/* Until its copy is there it is nothing that a rail could take along. */
	sending->state = SENDING_IDLE;
	return delegate_plane_ops.issue(plane, NULL, sending, err);
}

/* In the order of their producers: a copy stream waits for each of them, and what it waits for must
 * not need what stands behind it. */
int links_hand_over(struct dataplane *plane, int64_t now_ns, struct err *err)
{
	const struct exchange_links *links = plane->links;
	int rc = 0;

	links_end(plane, now_ns);
	for (int i = 0; rc == 0 && i < links->n_issued; i++)
		rc = give_to_delegate(plane, links->issued[i], now_ns, err);
	return rc;
}
