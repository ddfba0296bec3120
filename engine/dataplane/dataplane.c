/* dataplane.c - a stage's messages: buffers, device work around ops, transport events. */
#include "engine/dataplane/dataplane.h"

#include <errno.h>
#include <string.h>

#include "engine/dataplane/links_internal.h"
#include "engine/dataplane/staging_internal.h"

/* The transport has its memory back, or the staging its buffer. */
static int take_copied(struct dataplane *plane, struct err *err)
{
	struct arrival *arrival;
	int rc = 0;

	while (rc == 0 && (arrival = notes_take(&plane->copied))) {
		transport_release(plane->config.transport, arrival->payload);
		arrival->payload = NULL;
		if (plane->staging)
			rc = staging_copied(plane->staging, arrival, err);
	}
	return rc;
}

static int reset_slots(struct dataplane *plane, struct err *err)
{
	for (enum op_kind kind = OP_F; kind <= OP_B; kind++)
		for (int mb = 0; mb < plane->config.n_microbatches; mb++) {
			struct sending *sending = plane_sending(plane, kind, mb);
			struct arrival *arrival = plane_arrival(plane, kind, mb);

			if (!sending->is_acked)
				return err_set(err, -EBUSY,
				               "stage %d: the message of %c%d of the iteration "
				               "before was never acknowledged",
				               plane->config.stage, op_kind_letter(kind), mb);
			sending->state = SENDING_IDLE;
			sending->n_sent = 0;
			sending->left_late_ns = 0;
			sending->at = (struct dataplane_moments){-1, -1, -1, -1};
			sending->again_ns = sending->rid_ns = INT64_MAX;
			if (sending->done)
				device_flag_clear(sending->done);
			arrival->has_come = false;
			arrival->at_ns = -1;
			arrival->unseen_ns = 0;
			if (arrival->flag)
				device_flag_clear(arrival->flag);
		}
	return 0;
}

static void reset_peers(struct dataplane *plane)
{
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		struct channel *channel = &plane->channels[peer];
		struct queues *queues = &plane->queues[peer];

		channel->n_passed = 0;
		channel->free_ns = 0;
		channel->has_outage = false;
		queues->first = queues->n_waiting = 0;
		for (int i = 0; i < plane->config.n_queues; i++) {
			queues->busy[i] = NULL;
			queues->free_ns[i] = 0;
		}
		plane->rails[peer].back_ns = plane->rails[peer].free_ns = 0;
	}
}

static int order_channels(struct dataplane *plane, const struct plan *unit_copy, struct err *err)
{
	int rc = 0;

	for (int peer = 0; rc == 0 && peer < PLANE_PEERS; peer++)
		if (plane_has_peer(plane, peer))
			rc = plan_channel_order(unit_copy, plane->config.stage - (peer == 0),
			                        plane->channels[peer].order, err);
	return rc;
}

static const struct plane_ops *choose_ops(const struct dataplane *plane, enum plane_kind kind)
{
	if (kind == PLANE_DELEGATE)
		return &delegate_plane_ops;
	return links_are_usable(plane) ? &exchange_plane_ops : &stream_plane_ops;
}

void dataplane_set_exchange(struct dataplane *plane, int peer_stage, struct exchange *exchange)
{
	plane->links->peers[peer_stage > plane->config.stage].exchange = exchange;
}

void dataplane_abort_exchanges(struct dataplane *plane)
{
	if (plane->links)
		links_abort(plane);
}

void dataplane_end_exchanges(struct dataplane *plane)
{
	if (plane->links)
		links_end(plane, plane_now_ns(plane));
}

int dataplane_begin(struct dataplane *plane, const struct plane_rules *rules,
                    const struct plan *unit_copy, int attempt, int iteration, struct err *err)
{
	int rc;

	plane->rules = *rules;
	plane->ops = choose_ops(plane, rules->kind);
	plane->attempt = attempt;
	plane->iteration = iteration;
	plane->next_ns = plane->again_ns = INT64_MAX;
	plane->n_requested = 0;
	plane->switched_ns = INT64_MIN;
	rc = take_copied(plane, err);
	notes_clear(&plane->produced);
	notes_clear(&plane->copied);
	rc = rc ? rc : reset_slots(plane, err);
	reset_peers(plane);
	if (rc == 0 && unit_copy)
		rc = order_channels(plane, unit_copy, err);
	if (rc || !plane->links)
		return rc;
	if (unit_copy)
		links_order(plane, unit_copy);
	links_reset(plane);
	return 0;
}

void *dataplane_input(struct dataplane *plane, enum op_kind kind, int microbatch)
{
	return plane_arrival(plane, kind, microbatch)->input;
}

void *dataplane_output(struct dataplane *plane, enum op_kind kind, int microbatch)
{
	return plane_sending(plane, kind, microbatch)->output;
}

int dataplane_receive(struct dataplane *plane, struct device_stream *stream, enum op_kind kind,
                      int microbatch, struct err *err)
{
	return device_hold(stream, plane_arrival(plane, kind, microbatch)->flag, err);
}

/* In stream order, once the producer has ended and its output was copied. */
static void on_produced(void *argument)
{
	struct sending *sending = argument;

	notes_put(&sending->plane->produced, sending);
}

static int64_t later_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static void request(struct dataplane *plane, struct sending *sending)
{
	int64_t scheduled_ns = 0;

	if (device_query(sending->produced, &scheduled_ns, NULL, NULL) != 1)
		scheduled_ns = plane_now_ns(plane);
	sending->at.requested_ns =
		later_ns(later_ns(scheduled_ns, sending->room_ns), plane->switched_ns);
	sending->state = SENDING_REQUESTED;
	plane->requested[plane->n_requested++] = sending;
	plane->next_ns = 0;
}

/* See what has happened in stream order since the last look. */
static int take_notes(struct dataplane *plane, struct err *err)
{
	struct sending *sending;
	int rc = take_copied(plane, err);

	while (rc == 0 && (sending = notes_take(&plane->produced)))
		request(plane, sending);
	return rc;
}

int plane_call_produced(struct device_stream *stream, struct sending *sending, struct err *err)
{
	return device_call(stream, on_produced, sending, err);
}

int dataplane_send(struct dataplane *plane, struct device_stream *stream,
                   struct device_event *produced, enum op_kind kind, int microbatch,
                   struct err *err)
{
	struct sending *sending = plane_sending(plane, kind, microbatch);

	sending->produced = produced;
	sending->is_acked = false;
	return plane->ops->issue(plane, stream, sending, err);
}

/* In stream order on the stream of copies from the host. */
static void on_copied(void *argument)
{
	struct arrival *arrival = argument;

	notes_put(&arrival->plane->copied, arrival);
	device_flag_set(arrival->flag, arrival->at_ns);
}

int plane_call_copied(struct device_stream *stream, struct arrival *arrival, struct err *err)
{
	return device_call(stream, on_copied, arrival, err);
}

static bool is_of_now(const struct dataplane *plane, const struct message *message)
{
	return message->iteration == plane->iteration && message->attempt == plane->attempt;
}

/* Where nobody had polled for a while, it may have been there since then, but not before it was
 * due.
 */
static int64_t unseen_ns(const struct transport_event *event)
{
	int64_t due_ns = event->message.due_ns;

	return event->at_ns - (due_ns > event->looked_ns ? due_ns : event->looked_ns);
}

static int take_arrival(struct dataplane *plane, const struct transport_event *event,
                        struct err *err)
{
	const struct message *message = &event->message;
	struct arrival *arrival = plane_arrival(plane, message->kind, message->microbatch);
	int rc;

	/* Sent again after a rail died, and both came. */
	if (!is_of_now(plane, message) || arrival->has_come) {
		transport_release(plane->config.transport, event->payload);
		return 0;
	}
	arrival->has_come = true;
	arrival->sent_ns = message->sent_ns;
	arrival->at_ns = event->at_ns;
	arrival->unseen_ns = unseen_ns(event);
	rc = plane->ops->came(plane, message->from_stage > message->to_stage, message->kind,
	                      message->microbatch, err);
	if (rc) {
		transport_release(plane->config.transport, event->payload);
		return rc;
	}
	arrival->payload = event->payload;
	if (plane->staging)
		return staging_receive(plane->staging, arrival, err);
	rc = device_copy(plane->in, arrival->input, arrival->payload, plane->config.tensor_bytes,
	                 err);
	return rc ? rc : plane_call_copied(plane->in, arrival, err);
}

int plane_finish(struct dataplane *plane, struct sending *sending, int64_t done_ns, struct err *err)
{
	sending->state = SENDING_DONE;
	sending->at.done_ns = done_ns;
	device_flag_set(sending->done, done_ns);
	return plane->ops->sent(plane, sending, err);
}

static int take_sent(struct dataplane *plane, const struct transport_event *event, struct err *err)
{
	const struct message *message = &event->message;
	struct sending *sending = plane_sending(plane, message->kind, message->microbatch);

	/* One that was sent again stays done. */
	if (!is_of_now(plane, message) || sending->state != SENDING_UNDER_WAY)
		return 0;
	return plane_finish(plane, sending, message->done_ns > 0 ? message->done_ns : event->at_ns,
	                    err);
}

static int take_acked(struct dataplane *plane, const struct transport_event *event, struct err *err)
{
	const struct message *message = &event->message;
	struct sending *sending = plane_sending(plane, message->kind, message->microbatch);

	if (!is_of_now(plane, message))
		return 0;
	sending->is_acked = true;
	sending->again_ns = INT64_MAX;
	return plane->staging ? staging_acked(plane->staging, sending, event->at_ns, err) : 0;
}

static int check_message(const struct dataplane *plane, const struct message *message,
                         struct err *err)
{
	if (message->kind <= OP_B && message->microbatch >= 0 &&
	    message->microbatch < plane->config.n_microbatches)
		return 0;
	return err_set(err, -EBADMSG, "stage %d was told of a message of microbatch %d, has %d",
	               plane->config.stage, message->microbatch, plane->config.n_microbatches);
}

int dataplane_event(struct dataplane *plane, const struct transport_event *event, struct err *err)
{
	int rc = event->kind == TRANSPORT_LOST ? 0 : check_message(plane, &event->message, err);

	rc = rc ? rc : take_notes(plane, err);
	if (rc)
		return rc;
	switch (event->kind) {
	case TRANSPORT_RECEIVED:
		return take_arrival(plane, event, err);
	case TRANSPORT_SENT:
		return take_sent(plane, event, err);
	case TRANSPORT_ACKED:
		return take_acked(plane, event, err);
	case TRANSPORT_LOST:
		return plane_lose(plane, event->message.to_stage > plane->config.stage,
		                  event->message.rail, event->at_ns, err);
	}
	return 0;
}

/* Messages whose producers ended since the last call, in the order in which they did. */
static int take_requests(struct dataplane *plane, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plane->n_requested; i++)
		rc = plane->ops->request(plane, plane->requested[i], err);
	plane->n_requested = 0;
	return rc;
}

int dataplane_progress(struct dataplane *plane, int64_t now_ns, struct err *err)
{
	int rc = take_notes(plane, err);

	/* An exchange may have failed whenever it likes. */
	if (rc || (now_ns < plane->next_ns && plane->ops != &exchange_plane_ops))
		return rc;
	rc = take_requests(plane, err);
	/* What this starts may be put off, or be done at once. */
	plane->next_ns = INT64_MAX;
	if (rc == 0 && plane->again_ns <= now_ns)
		rc = plane_send_again(plane, now_ns, err);
	if (rc == 0)
		rc = plane->ops->pump(plane, now_ns, &plane->next_ns, err);
	if (plane->again_ns < plane->next_ns)
		plane->next_ns = plane->again_ns;
	return rc;
}

int64_t dataplane_next_ns(const struct dataplane *plane)
{
	bool has_news = notes_are_there(&plane->produced) ||
	                (plane->ops == &exchange_plane_ops && links_have_news(plane));

	return has_news ? 0 : plane->next_ns;
}

/* From now on nothing stands still for it, and if it waited for its channel it may go. */
static int hand_over(struct dataplane *plane, struct sending *sending, int64_t now_ns,
                     struct err *err)
{
	if (sending->done)
		device_flag_set(sending->done, now_ns);
	if (sending->state != SENDING_REQUESTED)
		return 0;
	if (sending->at.requested_ns < now_ns)
		sending->at.requested_ns = now_ns;
	return plane->ops->request(plane, sending, err);
}

int dataplane_switch(struct dataplane *plane, const struct plane_rules *rules, int64_t now_ns,
                     struct err *err)
{
	const struct plane_ops *before = plane->ops;
	int rc;

	if (before == &delegate_plane_ops)
		return 0;
	rc = take_notes(plane, err);
	/* They are requested below, with everything else that waits. */
	plane->n_requested = 0;
	plane->rules = *rules;
	plane->ops = &delegate_plane_ops;
	plane->switched_ns = now_ns;
	plane->next_ns = 0;
	if (before == &exchange_plane_ops)
		return links_hand_over(plane, now_ns, err);
	for (enum op_kind kind = OP_F; kind <= OP_B; kind++)
		for (int mb = 0; rc == 0 && mb < plane->config.n_microbatches; mb++)
			rc = hand_over(plane, plane_sending(plane, kind, mb), now_ns, err);
	return rc;
}

struct dataplane_moments dataplane_sent(const struct dataplane *plane, enum op_kind kind,
                                        int microbatch)
{
	return plane_sending(plane, kind, microbatch)->at;
}

struct dataplane_path dataplane_path(const struct dataplane *plane, enum op_kind kind,
                                     int microbatch)
{
	const struct sending *sending = plane_sending(plane, kind, microbatch);

	bool has_entered = sending->at.started_ns >= 0;

	/* What else is in sending is of the iteration before. */
	return (struct dataplane_path){
		.rail = sending->n_sent > 0 ? sending->rail : -1,
		.queue = has_entered && !sending->is_of_channel ? sending->queue : -1,
		.n_resends = sending->n_sent > 0 ? sending->n_sent - 1 : 0,
	};
}

int64_t dataplane_arrived_ns(struct dataplane *plane, enum op_kind kind, int microbatch)
{
	if (plane->links)
		links_look(plane);
	return plane_arrival(plane, kind, microbatch)->at_ns;
}

int64_t dataplane_left_late_ns(const struct dataplane *plane, enum op_kind kind, int microbatch)
{
	return plane_sending(plane, kind, microbatch)->left_late_ns;
}

int64_t dataplane_unseen_ns(const struct dataplane *plane, enum op_kind kind, int microbatch)
{
	return plane_arrival(plane, kind, microbatch)->unseen_ns;
}

bool dataplane_is_quiet(const struct dataplane *plane)
{
	for (enum op_kind kind = OP_F; kind <= OP_B; kind++)
		for (int mb = 0; mb < plane->config.n_microbatches; mb++)
			if (!plane_sending(plane, kind, mb)->is_acked)
				return false;
	return true;
}
