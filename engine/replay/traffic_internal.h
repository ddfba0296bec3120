/* traffic_internal.h - what the system says of packets that go the ways of faults of links. */
#ifndef ENGINE_REPLAY_TRAFFIC_INTERNAL_H
#define ENGINE_REPLAY_TRAFFIC_INTERNAL_H

#include "engine/replay/live_internal.h"

/* Set live->base.packets, if any fault is of a link; else all that follows does nothing.
 * traffic_close() in any case. */
int traffic_open(struct live *live, struct err *err);
void traffic_close(struct live *live);

/* An iteration is about to begin, and its faults are in force. */
int traffic_begin(struct live *live, struct err *err);

/* It has ended, one way or another; faults are still as they were. */
int traffic_end(struct live *live, struct err *err);

/* New workers are about to start, and count from 0. */
void traffic_restart(struct live *live);

#endif
