/* verbs_connect.c - making queue pairs with the peers, before iteration 0 and again.
 *
 * The control connections come first, and with them the one global order. Then each side of an end
 * makes its queue pairs and offers them; connects them with those offered; and says so. What is
 * sent to a queue pair that is not connected yet is dropped, so an end is up when both sides have
 * said so. An address may be missing, and a neighbour not yet be found, for a while after a link
 * has come back: that is tried again until the time is over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/transport/verbs_internal.h"

/* What a message of the control connection is, in its microbatch. */
enum { SAYS_OFFER, SAYS_READY };

static const int64_t RETRY_NS = 20 * NS_PER_MS, WAIT_NS = 200 * NS_PER_US, GRACE_NS = NS_PER_S;

static const struct framing *framing_of(const struct verbs *verbs, const struct verbs_end *end)
{
	return &verbs_first_queue(verbs, end)->framing;
}

static bool is_wanted(const struct verbs *verbs, const struct verbs_end *end)
{
	const struct framing *framing = framing_of(verbs, end);
	int n_rails = verbs->host.config.n_rails;

	return end->port && verbs->is_rail_up[framing->stage * n_rails + framing->rail] &&
	       verbs->is_rail_up[framing->peer * n_rails + framing->rail];
}

/* The first end that is wanted and missing, after the one given. */
static struct verbs_end *next_missing(const struct verbs *verbs, const struct verbs_end *after)
{
	int n_ends = verbs->n_queues / verbs->host.config.n_queues;

	for (int i = after ? (int)(after - verbs->ends) + 1 : 0; i < n_ends; i++)
		if (verbs->ends[i].state != VERBS_UP && is_wanted(verbs, &verbs->ends[i]))
			return &verbs->ends[i];
	return NULL;
}

static int say(struct verbs *verbs, const struct verbs_end *end, int what, size_t n_bytes,
               struct err *err)
{
	const struct framing *framing = framing_of(verbs, end);
	const struct message message = {
		.run = verbs->host.config.run,
		.replica = verbs->host.config.replica,
		.from_stage = framing->stage,
		.to_stage = framing->peer,
		.rail = framing->rail,
		.microbatch = what,
		.n_bytes = (int64_t)n_bytes,
	};

	return transport_send(verbs->control, &message, end->offer, err);
}

static int check_offer(const struct verbs *verbs, const struct verbs_end *end,
                       const struct verbs_offer *theirs, struct err *err)
{
	enum verbs_family mine = verbs_family_of(end->port->gid);
	enum verbs_family other = verbs_family_of(theirs->gid);

	if (theirs->n_queues != verbs->host.config.n_queues)
		return err_set(err, -EBADMSG, "the other side has %d queues, this one %d",
		               theirs->n_queues, verbs->host.config.n_queues);
	if (mine != other)
		return err_set(err, -EBADMSG,
		               "the address of the other side's RNIC is of %s, here it is of %s",
		               verbs_family_text(other), verbs_family_text(mine));
	return 0;
}

/* retry_ns: when what failed is tried again; 0: that is for the peer to do. */
static void set_trouble(struct verbs_end *end, const struct err *err, int64_t retry_ns)
{
	(void)snprintf(end->trouble, sizeof(end->trouble), "%s", err->text);
	end->retry_ns = retry_ns;
}

static void clear_trouble(struct verbs_end *end)
{
	end->trouble[0] = '\0';
	end->retry_ns = 0;
}

void verbs_hear(struct verbs *verbs, struct verbs_end *end, const struct message *message,
                const void *payload)
{
	struct err err = {0};
	int rc;

	if (message->microbatch == SAYS_READY) {
		end->are_they_ready = true;
		return;
	}
	rc = verbs_offer_decode(payload, (size_t)message->n_bytes, &end->theirs, &err);
	rc = rc ? rc : check_offer(verbs, end, &end->theirs, &err);
	end->has_theirs = rc == 0;
	if (rc)
		set_trouble(end, &err, 0);
}

/* Make the queue pairs anew and offer them. What old ones have left in the completion queue goes
 * first: there is room for the new ones' alone. */
static int offer(struct verbs *verbs, struct verbs_end *end, struct err *err)
{
	struct verbs_queue *queues = verbs_first_queue(verbs, end);
	int n = verbs->host.config.n_queues;
	struct verbs_offer *mine = &end->mine;
	int rc;

	for (int i = 0; i < n; i++)
		verbs_queue_close(&queues[i]);
	(void)verbs_take_completions(verbs, end->port, INT32_MAX);
	*mine = (struct verbs_offer){.clock_id = verbs->host.clock_id, .n_queues = n};
	rc = verbs_port_describe(end->port, mine, err);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = verbs_queue_open(verbs, &queues[i], &mine->numbers[i], err);
	rc = rc ? rc : say(verbs, end, SAYS_OFFER, verbs_offer_encode(mine, end->offer), err);
	if (rc)
		return rc;
	end->n_connected = 0;
	end->state = VERBS_OFFERED;
	return 0;
}

static int connect_queues(struct verbs *verbs, struct verbs_end *end, struct err *err)
{
	struct verbs_queue *queues = verbs_first_queue(verbs, end);
	int gid_index = 0;
	int rc = verbs_port_gid_index(end->port, &gid_index, err);

	while (rc == 0 && end->n_connected < verbs->host.config.n_queues) {
		rc = verbs_queue_connect(verbs, &queues[end->n_connected], gid_index, err);
		end->n_connected += rc == 0;
	}
	rc = rc ? rc : say(verbs, end, SAYS_READY, 0, err);
	if (rc == 0)
		end->state = VERBS_READY;
	return rc;
}

/* The other side may have been up for a while, and have sent something: what that is answered with
 * could not go until now. */
static void go_up(struct verbs *verbs, struct verbs_end *end)
{
	struct verbs_queue *queues = verbs_first_queue(verbs, end);

	end->state = VERBS_UP;
	end->lost.is_live = true;
	for (int i = 0; i < verbs->host.config.n_queues; i++)
		verbs_mark_dirty(verbs, &queues[i]);
}

/* As far as it goes now. */
static int advance(struct verbs *verbs, struct verbs_end *end, struct err *err)
{
	int rc = 0;

	if (end->state == VERBS_CLOSED)
		rc = offer(verbs, end, err);
	if (rc == 0 && end->state == VERBS_OFFERED && end->has_theirs)
		rc = connect_queues(verbs, end, err);
	if (rc == 0 && end->state == VERBS_READY && end->are_they_ready)
		go_up(verbs, end);
	return rc;
}

static void advance_all(struct verbs *verbs)
{
	struct verbs_end *end = NULL;

	while ((end = next_missing(verbs, end))) {
		struct err err = {0};

		if (clock_monotonic_ns() < end->retry_ns)
			continue;
		if (advance(verbs, end, &err))
			set_trouble(end, &err, clock_monotonic_ns() + RETRY_NS);
		else if (end->retry_ns > 0)
			clear_trouble(end);
	}
}

static int say_missing(const struct verbs *verbs, const struct verbs_end *end, int64_t timeout_ns,
                       struct err *err)
{
	const struct framing *framing = framing_of(verbs, end);
	char span[UNITS_TEXT_BYTES];

	return err_set(err, -ETIMEDOUT,
	               "stage %d could not connect its RNIC %s to that of stage %d on rail %d, "
	               "queue %d within %s: %s",
	               framing->stage, end->port->name.device, framing->peer, framing->rail,
	               end->state == VERBS_OFFERED ? end->n_connected : 0,
	               units_format_duration(timeout_ns, span),
	               end->trouble[0] ? end->trouble : "its worker did not answer");
}

/* Ends that are half made would surprise the next connect(). */
static void give_up(struct verbs *verbs)
{
	struct verbs_end *end = NULL;

	while ((end = next_missing(verbs, end)))
		verbs_lose(verbs, end, -ETIMEDOUT, "it could not be connected");
}

/* Is there an end that can still be made? Where the control connections are not all there, who has
 * none will not come. */
static bool is_awaited(const struct verbs *verbs, bool has_all_controls)
{
	struct verbs_end *end = next_missing(verbs, NULL);

	while (end && end->state == VERBS_CLOSED && !has_all_controls)
		end = next_missing(verbs, end);
	return end != NULL;
}

static void prepare(struct verbs *verbs)
{
	struct verbs_end *end = NULL;

	/* News from before: of links that have been down, of peers that have gone. */
	verbs_watch(verbs);
	verbs_progress(verbs);
	while ((end = next_missing(verbs, end)))
		clear_trouble(end);
}

/* Connect who can be reached until all are there or the time is over. */
static void connect_ends(struct verbs *verbs, int64_t end_ns, bool has_all_controls)
{
	verbs_watch(verbs);
	advance_all(verbs);
	while (is_awaited(verbs, has_all_controls) && clock_monotonic_ns() < end_ns) {
		clock_sleep_ns(WAIT_NS);
		verbs_watch(verbs);
		verbs_progress(verbs);
		advance_all(verbs);
	}
}

int verbs_connect(struct transport *transport, const struct transport_address *addresses,
                  int64_t timeout_ns, struct err *err)
{
	struct verbs *verbs = (struct verbs *)transport;
	int64_t end_ns = clock_monotonic_ns() + timeout_ns;
	int control_rc;

	prepare(verbs);
	control_rc = transport_connect(verbs->control, addresses, timeout_ns, err);
	if (control_rc && control_rc != -ETIMEDOUT)
		return control_rc;
	/* Who is there is connected, whoever else is not. */
	connect_ends(verbs, control_rc ? end_ns + GRACE_NS : end_ns, control_rc == 0);
	transport->next_ns = 0;
	if (!next_missing(verbs, NULL))
		return 0;
	if (control_rc == 0)
		(void)say_missing(verbs, next_missing(verbs, NULL), timeout_ns, err);
	give_up(verbs);
	return -ETIMEDOUT;
}
