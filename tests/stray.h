/* stray.h - a socket of the test's own that talks to a worker of transport tcp. */
#ifndef TESTS_STRAY_H
#define TESTS_STRAY_H

#include "engine/transport/frame_internal.h"
#include "tests/transport_case.h"

/* Connect to an address as transport_open() gives it. */
int stray_dial(const char *text);

void stray_say(int fd, const void *bytes, size_t n_bytes);

/* The other side has closed, within a second of polling. */
bool stray_is_closed(struct transport_case *c, int fd);

/* What stage 0 says to stage 1 on rail 0, queue 0. */
struct frame stray_hello(const struct transport_case *c);

#endif
