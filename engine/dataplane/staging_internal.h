/* staging_internal.h - host memory that tensors pass through where the device has memory of its
 * own.
 *
 * To each neighbour there are two buffers a queue, and never more than messages: while a queue
 * sends one the next is copied. Such memory is pinned, so a message has none of its own; it waits
 * for a buffer, and keeps it until it is acknowledged, for it may have to be sent again. Which
 * queue will take it is not known when its copy is issued, so the copy streams belong to buffers. A
 * tensor is copied as soon as it is there, whatever others stand still for.
 *
 * What comes is copied from where the transport has put it if the device can do that, and through
 * one of two buffers a neighbour otherwise.
 *
 * An RNIC that reads and writes the device's memory itself takes staging_send() and
 * staging_receive() away: payload is the output then, and the transport is given the input. */
#ifndef ENGINE_DATAPLANE_STAGING_INTERNAL_H
#define ENGINE_DATAPLANE_STAGING_INTERNAL_H

#include "engine/dataplane/plane_internal.h"

/* Pinned memory for what goes to a neighbour and comes from it. */
double staging_peer_bytes(const struct dataplane_config *config);

/* Memory and streams are the device's and go with it. -ENOMEM says how much was wanted. */
int staging_open(struct dataplane *plane, struct staging **out, struct err *err);
void staging_close(struct staging *staging);

/* The transport is told of the buffers that it is sent from, or that they are gone. */
void staging_set_known(struct staging *staging, bool is_known);

/* Issue: its output is copied when it was produced and there is a buffer; then produced is noted,
 * and payload is in host memory. */
int staging_send(struct staging *staging, struct sending *sending, struct err *err);

/* It was acknowledged at at_ns: its buffer is another one's from then on. */
int staging_acked(struct staging *staging, struct sending *sending, int64_t at_ns, struct err *err);

/* Issue: payload is copied to the input; then that is noted, and the flag set. */
int staging_receive(struct staging *staging, struct arrival *arrival, struct err *err);

/* What comes from now on is copied behind the event. */
int staging_wait(struct staging *staging, struct device_event *event, struct err *err);

/* That was noted: its buffer, if it had one, is another one's from now on. */
int staging_copied(struct staging *staging, struct arrival *arrival, struct err *err);

#endif
