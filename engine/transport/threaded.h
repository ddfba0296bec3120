/* threaded.h - a transport around another one that gives it a thread of its own.
 *
 * Sockets, framing and checksums then cost the worker's thread nothing: it puts a message into a
 * ring and takes events out of another. The thread never sleeps, so it wants a core to itself. */
#ifndef ENGINE_TRANSPORT_THREADED_H
#define ENGINE_TRANSPORT_THREADED_H

#include "engine/transport/transport.h"

/* Take over inner, which was opened with config; closing the wrapper ends the thread and closes it.
 * Failure leaves inner the caller's. The wrapper has inner's contract; config's clock is read by
 * both threads. send() and release() cost no lock and no system call, but for the first message
 * that a connection takes: only inner knows whether that is there. */
int threaded_wrap(struct transport *inner, const struct transport_config *config,
                  struct transport **out, struct err *err);

#endif
