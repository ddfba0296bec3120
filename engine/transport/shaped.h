/* shaped.h - a transport around another one that holds messages as a scenario's faults ask.
 *
 * It needs no privilege. What a message meets is what the simulator computes for it: it occupies
 * its channel or queue, crosses a link that carries one message at a time and direction, and
 * arrives after a latency (link_model.h). The sender computes the moments and the transport inside
 * shows nothing before them: SENT when its sender is rid of it, RECEIVED when it is due, and ACKED
 * only after that. A message that its rail takes along before it was due was neither received nor
 * ACKED, so it is sent again. */
#ifndef ENGINE_TRANSPORT_SHAPED_H
#define ENGINE_TRANSPORT_SHAPED_H

#include "engine/scenario/plane.h"
#include "engine/transport/link_model.h"
#include "engine/transport/transport.h"

/* Take over inner, which was opened with config; closing the wrapper closes it. Failure leaves
 * inner the caller's. The wrapper has inner's contract. */
int shaped_wrap(struct transport *inner, const struct transport_config *config,
                struct transport **out, struct err *err);

/* In force for messages sent from now on; messages under way keep what they met. Stages must be
 * neighbours, moments not negative: -EINVAL. */
int shaped_set(struct transport *shaped, int from_stage, int to_stage, const struct shape *shape,
               struct err *err);

/* Asked for every message when not NULL (jitter, faults by time): may change *shape; what it
 * makes negative counts as 0. The message's sent_ns is filled in. */
void shaped_set_hook(struct transport *shaped,
                     void (*ask)(void *context, const struct message *message, struct shape *shape),
                     void *context);

/* How long a message is held that enters its channel or queue at sent_ns. */
int64_t shaped_hold_ns(void *shaped, const struct message *message);

/* How messages sent from now on meet their link. The caller brings a channel's order: it sends the
 * next message of a channel, or of a queue, when the one before it is SENT, or RECEIVED where that
 * came from the other end. window_bytes, stream plane only: SENT waits until at most this much of
 * its direction is unacknowledged; 0: no window. At first: stream, no window. */
void shaped_set_plane(struct transport *shaped, enum plane_kind kind, int64_t window_bytes);

#endif
