/* shaped.c - a transport around another one that holds messages as a scenario's faults ask.
 *
 * Everything is computed when a message is sent: when its sender is rid of it, when it is due, when
 * it is acknowledged. The transport inside carries these moments and shows nothing before them, so
 * nothing is kept here but what a link remembers: since when it is free, what came out of its path
 * last, and which bytes the window still counts. Holding in the wrapper was rejected: it cannot
 * keep the acknowledgement back until the receiver has shown the message, and a rail that dies
 * would lose acknowledged messages. */
#include "engine/transport/shaped.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/transport/transport_internal.h"

enum { TOWARDS = 2 }; /* a stage sends to the stage before it and to the one after */

struct sent_bytes {
	int64_t n_bytes;
	int64_t acked_ns;
};

/* What one direction of one rail remembers. */
struct lane {
	struct link_lane link;
	struct sent_bytes *sent; /* those the window may still count, oldest first */
	size_t capacity, n_sent;
};

struct shaped {
	struct transport base;
	struct transport *inner;
	struct transport_config config;
	struct shape *shapes; /* [from * TOWARDS + is_forward] */
	struct lane *lanes;   /* [(from * TOWARDS + is_forward) * n_rails + rail] */
	enum plane_kind plane;
	int64_t window_bytes;
	void (*ask)(void *context, const struct message *message, struct shape *shape);
	void *ask_context;
};

static int direction_of(int from_stage, int to_stage)
{
	return from_stage * TOWARDS + (to_stage > from_stage);
}

static size_t n_lanes(const struct shaped *shaped)
{
	return (size_t)shaped->config.n_stages * TOWARDS * (size_t)shaped->config.n_rails;
}

static void shaped_free(struct shaped *shaped)
{
	for (size_t i = 0; shaped->lanes && i < n_lanes(shaped); i++)
		free(shaped->lanes[i].sent);
	free(shaped->lanes);
	free(shaped->shapes);
	free((void *)shaped->config.is_local);
	free(shaped);
}

static void shaped_close(struct transport *transport)
{
	struct shaped *shaped = (struct shaped *)transport;

	transport_close(shaped->inner);
	shaped_free(shaped);
}

static int shaped_open(const struct transport_config *config,
                       struct transport_address *addresses_out, struct transport **out,
                       struct err *err)
{
	(void)config;
	(void)addresses_out;
	(void)out;
	return err_set(err, -EINVAL, "transport shaped wraps another one; open that first");
}

static int shaped_connect(struct transport *transport, const struct transport_address *addresses,
                          int64_t timeout_ns, struct err *err)
{
	struct shaped *shaped = (struct shaped *)transport;
	int rc = shaped->inner->ops->connect(shaped->inner, addresses, timeout_ns, err);

	transport->next_ns = transport_next_ns(shaped->inner);
	return rc;
}

/* When the bytes are acknowledged that a message of n_bytes has to wait for: those of the last one
 * that, with all after it and the message, does not fit the window. 0: all fit, or the message
 * alone does not, and then link_window_ns() says how long it takes. *n_past_out: how many of
 * lane->sent do not count any more once it is sent: those acknowledged at start_ns, and all before
 * the one that it waits for. */
static int64_t earlier_ack_ns(const struct shaped *shaped, const struct lane *lane, int64_t n_bytes,
                              int64_t start_ns, size_t *n_past_out)
{
	int64_t sum_bytes = n_bytes, ack_ns = 0;
	size_t first = lane->n_sent;

	while (first > 0 && sum_bytes <= shaped->window_bytes) {
		sum_bytes += lane->sent[--first].n_bytes;
		if (sum_bytes > shaped->window_bytes)
			ack_ns = lane->sent[first].acked_ns;
	}
	while (first < lane->n_sent && lane->sent[first].acked_ns <= start_ns)
		first++;
	*n_past_out = first;
	return ack_ns;
}

/* Have room for one message more, so that remember() cannot fail. */
static int make_room(struct lane *lane, struct err *err)
{
	struct sent_bytes *sent =
		array_grow(lane->sent, &lane->capacity, lane->n_sent + 1, sizeof(*sent));

	if (!sent)
		return err_set(err, -ENOMEM, "no memory for the window of a link");
	lane->sent = sent;
	return 0;
}

static void remember(struct lane *lane, size_t n_past, int64_t n_bytes, int64_t acked_ns)
{
	for (size_t i = n_past; n_past > 0 && i < lane->n_sent; i++)
		lane->sent[i - n_past] = lane->sent[i];
	lane->n_sent -= n_past;
	lane->sent[lane->n_sent++] = (struct sent_bytes){n_bytes, acked_ns};
}

static struct lane *lane_of(struct shaped *shaped, const struct message *message)
{
	int direction = direction_of(message->from_stage, message->to_stage);

	return &shaped->lanes[direction * shaped->config.n_rails + message->rail];
}

static struct shape shape_of(const struct shaped *shaped, const struct message *message)
{
	struct shape shape = shaped->shapes[direction_of(message->from_stage, message->to_stage)];

	if (shaped->ask)
		shaped->ask(shaped->ask_context, message, &shape);
	return (struct shape){
		.hold_ns = message->was_held ? 0 : link_later_ns(shape.hold_ns, 0),
		.transmit_ns = link_later_ns(shape.transmit_ns, 0),
		.latency_ns = link_later_ns(shape.latency_ns, 0),
		.return_ns = link_later_ns(shape.return_ns, 0),
	};
}

static bool has_window(const struct shaped *shaped, const struct message *message)
{
	return shaped->plane == PLANE_STREAM && shaped->window_bytes > 0 && message->n_bytes > 0;
}

/* Fill in the message's moments; what changes of its lane once it is sent goes to *link and
 * *n_past_out. */
static void compute(struct shaped *shaped, const struct lane *lane, struct message *message,
                    struct link_lane *link, size_t *n_past_out)
{
	const struct shape shape = shape_of(shaped, message);
	struct link_crossing crossing;
	struct link_times times;
	int64_t ack_ns = 0;

	*n_past_out = 0;
	if (has_window(shaped, message) && !message->was_held)
		ack_ns = earlier_ack_ns(shaped, lane, message->n_bytes, message->sent_ns,
		                        n_past_out);
	crossing = shaped->plane == PLANE_DELEGATE
	                   ? link_from_queue(&shape, message->sent_ns)
	                   : link_from_channel(&shape, message->n_bytes, shaped->window_bytes,
	                                       message->sent_ns, ack_ns);
	times = link_cross(link, &shape, &crossing);
	if (!message->was_held || message->done_ns == 0)
		message->done_ns = times.done_ns;
	message->due_ns = times.arrive_ns;
	message->acked_ns = times.acked_ns;
}

/* A message that is refused leaves no trace: its link is as free and its window as empty as before.
 */
static int shaped_send(struct transport *transport, const struct message *message,
                       const void *payload, struct err *err)
{
	struct shaped *shaped = (struct shaped *)transport;
	int rc = transport_check_message(&shaped->config, message, payload, err);
	struct message timed = *message;
	struct link_lane link;
	struct lane *lane;
	size_t n_past;

	if (rc)
		return rc;
	lane = lane_of(shaped, &timed);
	if (timed.sent_ns == 0)
		timed.sent_ns = transport_now_ns(&shaped->config);
	if (has_window(shaped, &timed))
		rc = make_room(lane, err);
	if (rc)
		return rc;
	link = lane->link;
	compute(shaped, lane, &timed, &link, &n_past);
	rc = transport_send(shaped->inner, &timed, payload, err);
	if (rc == 0)
		lane->link = link;
	if (rc == 0 && has_window(shaped, &timed))
		remember(lane, n_past, timed.n_bytes, timed.acked_ns);
	transport->next_ns = transport_next_ns(shaped->inner);
	return rc;
}

/* What was under way on a lost rail is gone, and so is what it kept others waiting for. */
static void forget(struct lane *lane)
{
	lane->link = (struct link_lane){0};
	lane->n_sent = 0;
}

static int shaped_poll(struct transport *transport, struct transport_event *events, size_t n,
                       size_t *n_out, struct err *err)
{
	struct shaped *shaped = (struct shaped *)transport;
	int rc = transport_poll(shaped->inner, events, n, n_out, err);

	for (size_t i = 0; rc == 0 && i < *n_out; i++)
		if (events[i].kind == TRANSPORT_LOST)
			forget(lane_of(shaped, &events[i].message));
	transport->next_ns = transport_next_ns(shaped->inner);
	return rc;
}

static void shaped_release(struct transport *transport, void *payload)
{
	transport_release(((struct shaped *)transport)->inner, payload);
}

static int shaped_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                           struct err *err)
{
	struct shaped *shaped = (struct shaped *)transport;
	int rc = shaped->inner->ops->set_rail(shaped->inner, stage, rail, is_up, err);

	transport->next_ns = transport_next_ns(shaped->inner);
	return rc;
}

static void shaped_set_known(struct transport *transport, const void *memory, size_t n_bytes,
                             bool is_known)
{
	struct shaped *shaped = (struct shaped *)transport;

	transport_set_known(shaped->inner, memory, n_bytes, is_known);
	transport->next_ns = transport_next_ns(shaped->inner);
}

static int64_t shaped_count_resent(struct transport *transport, int stage, int peer)
{
	return transport_count_resent(((struct shaped *)transport)->inner, stage, peer);
}

static const struct transport_ops shaped_ops = {
	.name = "shaped",
	.open = shaped_open,
	.connect = shaped_connect,
	.send = shaped_send,
	.poll = shaped_poll,
	.release = shaped_release,
	.set_rail = shaped_set_rail,
	.set_known = shaped_set_known,
	.count_resent = shaped_count_resent,
	.close = shaped_close,
};

int shaped_wrap(struct transport *inner, const struct transport_config *config,
                struct transport **out, struct err *err)
{
	struct shaped *shaped = array_new(1, sizeof(*shaped));
	int rc;

	if (!shaped)
		return err_set(err, -ENOMEM, "no memory for transport shaped");
	rc = transport_copy_config(config, &shaped->config, err);
	if (rc == 0) {
		shaped->shapes =
			array_new((size_t)config->n_stages * TOWARDS, sizeof(*shaped->shapes));
		shaped->lanes = array_new(n_lanes(shaped), sizeof(*shaped->lanes));
		if (!shaped->shapes || !shaped->lanes)
			rc = err_set(err, -ENOMEM, "no memory for transport shaped");
	}
	if (rc) {
		shaped_free(shaped);
		return rc;
	}
	shaped->base.ops = &shaped_ops;
	shaped->base.next_ns = transport_next_ns(inner);
	shaped->inner = inner;
	*out = &shaped->base;
	return 0;
}

int shaped_set(struct transport *transport, int from_stage, int to_stage, const struct shape *shape,
               struct err *err)
{
	struct shaped *shaped = (struct shaped *)transport;
	int n_stages = shaped->config.n_stages;

	if (from_stage < 0 || from_stage >= n_stages || to_stage < 0 || to_stage >= n_stages ||
	    (to_stage != from_stage + 1 && to_stage != from_stage - 1))
		return err_set(err, -EINVAL, "no link from stage %d to stage %d among %d stages",
		               from_stage, to_stage, n_stages);
	if (shape->hold_ns < 0 || shape->transmit_ns < 0 || shape->latency_ns < 0 ||
	    shape->return_ns < 0)
		return err_set(err, -EINVAL, "a link from stage %d to stage %d that gains time",
		               from_stage, to_stage);
	shaped->shapes[direction_of(from_stage, to_stage)] = *shape;
	return 0;
}

void shaped_set_hook(struct transport *transport,
                     void (*ask)(void *context, const struct message *message, struct shape *shape),
                     void *context)
{
	struct shaped *shaped = (struct shaped *)transport;

	shaped->ask = ask;
	shaped->ask_context = context;
}

int64_t shaped_hold_ns(void *transport, const struct message *message)
{
	return shape_of(transport, message).hold_ns;
}

void shaped_set_plane(struct transport *transport, enum plane_kind kind, int64_t window_bytes)
{
	struct shaped *shaped = (struct shaped *)transport;

	shaped->plane = kind;
	shaped->window_bytes = window_bytes;
}
