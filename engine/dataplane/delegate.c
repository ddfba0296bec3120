/* delegate.c - queues of their own move the tensors, so that nothing blocks the device.
 *
 * Each direction has n_queues; a message takes the one that has been free for longest and holds it
 * until the transport is rid of the message. */
#include <errno.h>

#include "engine/dataplane/staging_internal.h"

static int delegate_issue(struct dataplane *plane, struct device_stream *stream,
                          struct sending *sending, struct err *err)
{
	int rc;

	(void)stream; /* goes on */
	if (plane->staging)
		return staging_send(plane->staging, sending, err);
	rc = device_wait(plane->out, sending->produced, err);
	sending->payload = sending->staged;
	if (rc == 0)
		rc = device_copy(plane->out, sending->staged, sending->output,
		                 plane->config.tensor_bytes, err);
	return rc ? rc : plane_call_produced(plane->out, sending, err);
}

static void enqueue(struct dataplane *plane, struct sending *sending)
{
	struct queues *queues = &plane->queues[sending->peer];

	sending->state = SENDING_REQUESTED;
	queues->waiting[(queues->first + queues->n_waiting++) % queues->capacity] = sending;
}

static int delegate_request(struct dataplane *plane, struct sending *sending, struct err *err)
{
	(void)err;
	enqueue(plane, sending);
	return 0;
}

/* The idle queue that has been free for longest; -1: all are busy. */
static int idle_queue(const struct dataplane *plane, const struct queues *queues)
{
	int first = -1;

	for (int i = 0; i < plane->config.n_queues; i++)
		if (!queues->busy[i] && (first < 0 || queues->free_ns[i] < queues->free_ns[first]))
			first = i;
	return first;
}

static int start_waiting(struct dataplane *plane, int peer, struct err *err)
{
	struct queues *queues = &plane->queues[peer];
	int rc = 0;

	while (rc == 0 && queues->n_waiting > 0) {
		struct sending *sending = queues->waiting[queues->first];
		int queue = idle_queue(plane, queues);
		int64_t start_ns = sending->at.requested_ns;

		if (queue < 0)
			return 0;
		if (start_ns < queues->free_ns[queue])
			start_ns = queues->free_ns[queue];
		queues->first = (queues->first + 1) % queues->capacity;
		queues->n_waiting--;
		queues->busy[queue] = sending;
		rc = plane_transmit(plane, sending, queue, start_ns, err);
	}
	return rc;
}

static int delegate_pump(struct dataplane *plane, int64_t now_ns, int64_t *next_ns_out,
                         struct err *err)
{
	int rc = 0;

	*next_ns_out = INT64_MAX;
	(void)now_ns;
	for (int peer = 0; rc == 0 && peer < PLANE_PEERS; peer++)
		rc = start_waiting(plane, peer, err);
	return rc;
}

static int delegate_sent(struct dataplane *plane, struct sending *sending, struct err *err)
{
	struct queues *queues = &plane->queues[sending->peer];

	(void)err;
	if (sending->queue >= 0 && sending->queue < plane->config.n_queues &&
	    queues->busy[sending->queue] == sending) {
		queues->busy[sending->queue] = NULL;
		queues->free_ns[sending->queue] = sending->at.done_ns;
	}
	plane->next_ns = 0;
	return 0;
}

static int delegate_came(struct dataplane *plane, int peer, enum op_kind kind, int microbatch,
                         struct err *err)
{
	(void)plane;
	(void)peer;
	(void)kind;
	(void)microbatch;
	(void)err;
	return 0; /* directions know nothing of each other */
}

static int delegate_lost(struct dataplane *plane, int peer, struct err *err)
{
	(void)plane;
	(void)peer;
	(void)err;
	return 0; /* there may be another one */
}

const struct plane_ops delegate_plane_ops = {
	.name = "delegate",
	.holds_stream = false,
	.issue = delegate_issue,
	.request = delegate_request,
	.sent = delegate_sent,
	.came = delegate_came,
	.lost = delegate_lost,
	.pump = delegate_pump,
};
