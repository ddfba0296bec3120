/* dataplane.h - how a stage's transfers relate to its device's queue.
 *
 * An instance belongs to one stage and one thread. Its host issues, in the plan's order, what comes
 * before an op (dataplane_receive) and after it (dataplane_send); transport events and time drive
 * the rest. On the stream plane a send stands in the device's queue until the transport is rid of
 * the message; on the delegate plane the output is copied to host memory and a queue takes it from
 * there, so nothing blocks the device. Where devices can exchange tensors themselves, they are the
 * stream plane's way, in the order of their streams, and the transport has no part in it.
 *
 * Where the device has memory of its own, what goes over the transport is copied to pinned memory:
 * two buffers a queue and direction. A message that finds all of them with messages that are not
 * acknowledged waits for one, and counts as requested then. */
#ifndef ENGINE_DATAPLANE_DATAPLANE_H
#define ENGINE_DATAPLANE_DATAPLANE_H

#include "engine/device/device.h"
#include "engine/scenario/plane.h"
#include "engine/schedule/plan.h"
#include "engine/transport/payload.h"
#include "engine/transport/transport.h"

struct dataplane;
struct exchange;

struct dataplane_config {
	int stage;
	int n_stages;
	int n_microbatches;
	int replica;
	int n_rails;
	int n_queues; /* of the delegate plane, a direction */
	uint64_t run;
	size_t tensor_bytes;  /* of an activation or gradient */
	size_t payload_bytes; /* of a message, at least tensor_bytes: what is added is padding */

	/* Of a device with memory of its own: copy streams, each way; and what it copies from of
	 * the transport's memory. */
	int n_copy_streams;
	struct payload_area reachable;
	int64_t failover_ns; /* real time: what a dead rail had under way is sent again this long
	                        after */
	struct device *device;
	struct transport *transport;
	bool uses_exchanges; /* on the stream plane, once there are: dataplane_set_exchange() */

	/* How long a message is held that enters its channel or queue at sent_ns. Asked of those
	 * whose rail is dead, which transport cannot be given yet, and of those in a stream that is
	 * occupied before them. NULL: not at all. */
	int64_t (*hold_ns)(void *context, const struct message *message);
	void *hold_context;
	bool occupies_streams;              /* hold_ns stands in the stream before the send */
	int64_t (*clock_ns)(void *context); /* the transport's and the device's */
	void *clock_context;
};

/* What became of a message, by this worker's clock; -1: nothing yet. */
struct dataplane_moments {
	int64_t requested_ns; /* its producer had ended, and there was memory for it */
	int64_t started_ns;   /* entered its channel or queue */
	int64_t done_ns;      /* the sender was rid of it */
	int64_t arrived_ns;   /* at its receiver; only known there */
};

/* Which way a message went, in this iteration. */
struct dataplane_path {
	int rail;      /* when it left last; -1: it has not left */
	int queue;     /* of the delegates; -1: a channel of the stream plane, or none yet */
	int n_resends; /* how often it left again, since a rail had died */
};

/* Everything is allocated here; -ENOMEM names how much. The transport knows from then on what is
 * sent from, until the plane is closed: before the transport is, and before the device. */
int dataplane_open(const struct dataplane_config *config, struct dataplane **out, struct err *err);
void dataplane_close(struct dataplane *plane);

/* The exchange with a neighbour is the plane's from here on; its device is the plane's. Once there
 * are those with all neighbours, they are what the stream plane uses. */
void dataplane_set_exchange(struct dataplane *plane, int peer_stage, struct exchange *exchange);

/* End all exchanges, at both ends of each; from the next iteration on the transport moves
 * everything. Like dataplane_switch() it waits for their end; who has several planes lets that
 * begin in all of them first, and waits only once. */
void dataplane_abort_exchanges(struct dataplane *plane);
void dataplane_end_exchanges(struct dataplane *plane);

/* Start an iteration under rules. unit_copy (plan_copy_in_units()) orders the channels of the
 * stream plane; NULL: as in the iteration before, or there are none. dataplane_is_quiet() must
 * hold: -EBUSY. */
int dataplane_begin(struct dataplane *plane, const struct plane_rules *rules,
                    const struct plan *unit_copy, int attempt, int iteration, struct err *err);

/* Device memory for the input of F or B of a microbatch, and for its output. The same for a whole
 * iteration. */
void *dataplane_input(struct dataplane *plane, enum op_kind kind, int microbatch);
void *dataplane_output(struct dataplane *plane, enum op_kind kind, int microbatch);

/* Issue: stream stands still until the input is in device memory. */
int dataplane_receive(struct dataplane *plane, struct device_stream *stream, enum op_kind kind,
                      int microbatch, struct err *err);

/* Issue: the output goes to the neighbour. produced was recorded on stream after the op that made
 * it. */
int dataplane_send(struct dataplane *plane, struct device_stream *stream,
                   struct device_event *produced, enum op_kind kind, int microbatch,
                   struct err *err);

/* Events of the transport: RECEIVED (taken over) for this stage, SENT, ACKED and LOST of what it
 * sent. -ENETDOWN: the stream plane lost its rail, or no rail is left; err names stage, peer and
 * rail. What an exchange fails with comes from dataplane_progress(), in the second call after it
 * was found, so that what it was of can be made known to the plane in between. */
int dataplane_event(struct dataplane *plane, const struct transport_event *event, struct err *err);

/* The rail to a neighbour is dead, or about to die, and will be back at back_ns, before anybody
 * gives up on it: if it is the one in use, what would go over it waits until then, on either plane.
 * Said again for the other end of the link, the later moment counts. */
void dataplane_expect_back(struct dataplane *plane, int peer_stage, int rail, int64_t back_ns);

/* What is known of a rail. One that is back is used when the one in use dies. A LOST for one that
 * is known to be dead says nothing new, unless it was said that it will be back: then it tells what
 * has to go again. */
void dataplane_set_rail(struct dataplane *plane, int peer_stage, int rail, bool is_dead);

/* Do what is due: channels that became free, messages to be sent again. */
int dataplane_progress(struct dataplane *plane, int64_t now_ns, struct err *err);

/* When dataplane_progress() has something to do without any event; INT64_MAX: never. */
int64_t dataplane_next_ns(const struct dataplane *plane);

/* Inside an iteration: from now on delegates. What waits for its channel goes at once, what was
 * under way on a dead rail again after failover_ns; the device's queue stands still for none of
 * them. */
int dataplane_switch(struct dataplane *plane, const struct plane_rules *rules, int64_t now_ns,
                     struct err *err);

/* The message that leaves after F or B of a microbatch, and the one that comes before it. */
struct dataplane_moments dataplane_sent(const struct dataplane *plane, enum op_kind kind,
                                        int microbatch);
struct dataplane_path dataplane_path(const struct dataplane *plane, enum op_kind kind,
                                     int microbatch);
int64_t dataplane_arrived_ns(struct dataplane *plane, enum op_kind kind, int microbatch);

/* By how much a transfer may look longer than it was since a worker at its ends did not look: by
 * the sender's, until the transport got the message, and by the receiver's, until it was seen. */
int64_t dataplane_left_late_ns(const struct dataplane *plane, enum op_kind kind, int microbatch);
int64_t dataplane_unseen_ns(const struct dataplane *plane, enum op_kind kind, int microbatch);

/* Has everything that was issued been sent and acknowledged? */
bool dataplane_is_quiet(const struct dataplane *plane);

#endif
