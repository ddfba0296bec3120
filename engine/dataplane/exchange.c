/* exchange.c - the stream plane whose tensors the devices exchange themselves, as NCCL does.
 *
 * Every link has a stream of its own on which its posts stand in the order of links.c. One is
 * posted as soon as all before it are, and the producer of what it sends has been issued: the
 * link's stream stands still until that has ended. So receives are posted early, and nobody
 * reorders. The stage's own stream stands still until its input is there and, as on the other
 * stream plane, until what it sent is gone. The host waits for nothing.
 *
 * Nothing waits in a ring. Take the message whose producer ends first in the unit replay that the
 * order was made with, of those that have not run. All messages that its producer, and what that
 * stage computed before, waited for had producers that end earlier, so they have run, and the
 * producer does. Everything before it on its link ends earlier, too, and has run: both ends have
 * it at the head of the link's stream. So it runs. This takes streams that do not hold each other
 * up: with one issue queue for all of a stage's streams, a receive that was posted early would
 * stand before the computation that the other end's send waits for. A stage gives every stream a
 * queue of its own; that a send holds the stage's next op is said by a hold, not by a shared queue.
 */
#include <errno.h>

#include "engine/dataplane/links_internal.h"
#include "engine/transport/exchange.h"

/* In stream order: when it came here. A CPU device says which moment it is at, however late. */
static int64_t reached_ns(const struct dataplane *plane)
{
	const struct device *device = plane->config.device;

	return device->has_own_memory ? plane_now_ns(plane) : device->issued_as_of;
}

/* In stream order, behind the producer. */
static void on_produced(void *argument)
{
	struct post *post = argument;

	post_set_produced(post, reached_ns(post->plane));
}

/* In stream order, before a post that may have to be held. */
static void on_reached(void *argument)
{
	struct post *post = argument;

	__atomic_store_n(&post->is_reached, 1, __ATOMIC_RELEASE);
}

/* In stream order, behind a post. */
static void on_run(void *argument)
{
	struct post *post = argument;

	post->ran_ns = reached_ns(post->plane);
	if (!post_settle(post, POST_RAN))
		return;
	if (post->arrival)
		device_flag_set(post->arrival->flag, post->ran_ns);
	if (post->sending)
		device_flag_set(post->sending->done, post->ran_ns);
}

static int64_t moment_ns(struct device_event *event, int64_t otherwise_ns)
{
	int64_t scheduled_ns;

	return device_query(event, &scheduled_ns, NULL, NULL) == 1 ? scheduled_ns : otherwise_ns;
}

static void acknowledge(struct dataplane *plane, int peer)
{
	for (int mb = 0; mb < plane->config.n_microbatches; mb++)
		plane_sending(plane, peer ? OP_F : OP_B, mb)->is_acked = true;
}

void links_take_run(struct dataplane *plane, struct post *post)
{
	struct exchange_link *link = &plane->links->peers[post->peer];
	int64_t ended_ns = moment_ns(post->ended, post->ran_ns);
	struct sending *sending = post->sending;

	link->n_run++;
	if (post->arrival) {
		post->arrival->has_come = true;
		post->arrival->at_ns = ended_ns;
	}
	if (sending) {
		sending->state = SENDING_DONE;
		sending->at.requested_ns = moment_ns(sending->produced, ended_ns);
		sending->at.started_ns = moment_ns(post->started, ended_ns);
		sending->at.done_ns = ended_ns;
	}
	if (!sending && !post->arrival)
		acknowledge(plane, post->peer);
}

/* The link's stream has come to a post; how long it stays there is asked now. */
static void take_reached(struct dataplane *plane, struct post *post)
{
	struct exchange_link *link = &plane->links->peers[post->peer];

	post->sending->at.started_ns = moment_ns(post->started, plane_now_ns(plane));
	link->held = post;
	link->release_ns = plane_held_until_ns(plane, post->sending);
}

/* The post that the stream is at, or comes to; NULL: there is none. */
static struct post *next_to_run(const struct exchange_link *link)
{
	return link->n_run < link->n_posted ? &link->posts[link->n_run] : NULL;
}

void links_look(struct dataplane *plane)
{
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		struct exchange_link *link = &plane->links->peers[peer];
		struct post *post;

		while ((post = next_to_run(link)) && post_has_run(post))
			links_take_run(plane, post);
		if (post && !link->is_over &&
		    __atomic_exchange_n(&post->is_reached, 0, __ATOMIC_ACQ_REL))
			take_reached(plane, post);
	}
}

bool links_have_news(const struct dataplane *plane)
{
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		const struct exchange_link *link = &plane->links->peers[peer];
		const struct post *post = next_to_run(link);

		if (post &&
		    (post_has_run(post) ||
		     (!link->is_over && __atomic_load_n(&post->is_reached, __ATOMIC_ACQUIRE))))
			return true;
	}
	return false;
}

static size_t fill_parts(const struct dataplane *plane, const struct post *post,
                         struct exchange_part parts[2])
{
	unsigned char *last = plane->links->peers[post->peer].last;
	size_t n_bytes = plane->config.payload_bytes, n = 0;

	if (post->sending)
		parts[n++] = (struct exchange_part){true, post->sending->output, n_bytes};
	if (post->arrival)
		parts[n++] = (struct exchange_part){false, post->arrival->input, n_bytes};
	if (n > 0)
		return n;
	parts[n++] = (struct exchange_part){true, last, LINKS_LAST_BYTES};
	parts[n++] = (struct exchange_part){false, last + LINKS_LAST_BYTES, LINKS_LAST_BYTES};
	return n;
}

/* The stream stands until the output is there, and then for as long as a fault says. */
static int issue_way(const struct dataplane *plane, struct device_stream *stream, struct post *post,
                     struct err *err)
{
	bool is_held = post->sending && plane->config.occupies_streams;
	int rc = post->sending ? device_hold(stream, &post->produced, err) : 0;

	rc = rc ? rc : device_record(post->started, stream, err);
	if (rc == 0 && is_held)
		rc = device_call(stream, on_reached, post, err);
	if (rc == 0 && is_held)
		rc = device_hold(stream, &post->may_go, err);
	return rc;
}

static int issue_post(struct dataplane *plane, struct exchange_link *link, struct post *post,
                      struct err *err)
{
	struct exchange_part parts[2];
	size_t n = fill_parts(plane, post, parts);
	int rc = issue_way(plane, link->stream, post, err);

	rc = rc ? rc : exchange_post(link->exchange, link->stream, parts, n, err);
	rc = rc ? rc : device_record(post->ended, link->stream, err);
	rc = rc ? rc : device_call(link->stream, on_run, post, err);
	if (rc)
		return rc;
	link->n_posted++;
	if (post->sending) {
		post->sending->state = SENDING_UNDER_WAY;
		post->sending->rail = plane->rails[post->peer].in_use;
		post->sending->queue = 0;
		post->sending->is_of_channel = true;
		post->sending->n_sent = 1;
	}
	return 0;
}

/* All before the next one are posted; before the last one of an iteration they have run. */
static bool may_post(const struct exchange_link *link)
{
	const struct sending *sending;

	if (link->n_posted == link->n_posts)
		return false;
	if (link->n_posted == link->n_posts - 1)
		return link->n_run == link->n_posted;
	sending = link->posts[link->n_posted].sending;
	return !sending || sending->state == SENDING_REQUESTED;
}

/* Is the exchange ready for the next post? What it fails with is told when the plane looks the next
 * time: what made it fail may be known to the caller then. */
static bool is_ready(struct dataplane *plane, struct exchange_link *link)
{
	int rc;

	if (link->failure.code || link->is_over || link->n_run == link->n_posts)
		return false;
	rc = exchange_progress(link->exchange, &link->failure);
	link->failure.code = rc < 0 ? rc : 0;
	if (rc != 1 && (rc < 0 || may_post(link)))
		plane->next_ns = 0;
	return rc == 1;
}

static int post_more(struct dataplane *plane, struct exchange_link *link, struct err *err)
{
	int rc = 0;

	while (rc == 0 && is_ready(plane, link) && may_post(link))
		rc = issue_post(plane, link, &link->posts[link->n_posted], err);
	return rc;
}

/* Let go what has been held for long enough. */
static void release(struct exchange_link *link, int64_t now_ns, int64_t *next_ns)
{
	if (!link->held)
		return;
	if (link->release_ns > now_ns) {
		*next_ns = link->release_ns < *next_ns ? link->release_ns : *next_ns;
		return;
	}
	device_flag_set(&link->held->may_go, link->release_ns);
	link->held = NULL;
}

static int exchange_lost(struct dataplane *plane, int peer, struct err *err)
{
	const struct err *failure = &plane->links->peers[peer].failure;

	links_end(plane, plane_now_ns(plane));
	if (failure->code)
		return err_set(err, failure->code, "%s", failure->text);
	return err_set(err, -ENETDOWN, "stage %d lost rail %d to stage %d", plane->config.stage,
	               plane->rails[peer].in_use, plane_peer_stage(plane, peer));
}

static int exchange_pump(struct dataplane *plane, int64_t now_ns, int64_t *next_ns_out,
                         struct err *err)
{
	int rc = 0;

	*next_ns_out = INT64_MAX;
	links_look(plane);
	for (int peer = 0; rc == 0 && peer < PLANE_PEERS; peer++) {
		struct exchange_link *link = &plane->links->peers[peer];

		if (!plane_has_peer(plane, peer))
			continue;
		if (link->failure.code)
			return exchange_lost(plane, peer, err);
		release(link, now_ns, next_ns_out);
		rc = post_more(plane, link, err);
	}
	return rc;
}

static int exchange_issue(struct dataplane *plane, struct device_stream *stream,
                          struct sending *sending, struct err *err)
{
	struct exchange_link *link = &plane->links->peers[sending->peer];
	int rc = device_call(stream, on_produced, sending->post, err);

	rc = rc ? rc : device_hold(stream, sending->done, err);
	sending->state = SENDING_REQUESTED;
	plane->links->issued[plane->links->n_issued++] = sending->post;
	return rc ? rc : post_more(plane, link, err);
}

/* It stands in stream order, and nobody is told. */
static int exchange_request(struct dataplane *plane, struct sending *sending, struct err *err)
{
	(void)plane;
	(void)sending;
	(void)err;
	return 0;
}

/* Who sends like that has gone over to delegates, and who receives it should have, too. */
static int exchange_came(struct dataplane *plane, int peer, enum op_kind kind, int microbatch,
                         struct err *err)
{
	return err_set(err, -EBADMSG,
	               "stage %d: %c%d came from stage %d by the transport, not by their exchange",
	               plane->config.stage, op_kind_letter(kind), microbatch,
	               plane_peer_stage(plane, peer));
}

const struct plane_ops exchange_plane_ops = {
	.name = "exchange",
	.holds_stream = true,
	.issue = exchange_issue,
	.request = exchange_request,
	.sent = exchange_request,
	.came = exchange_came,
	.lost = exchange_lost,
	.pump = exchange_pump,
};
