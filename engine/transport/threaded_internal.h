/* threaded_internal.h - what the worker's side (threaded.c) and the delegate's
 * (threaded_delegate.c) share. */
#ifndef ENGINE_TRANSPORT_THREADED_INTERNAL_H
#define ENGINE_TRANSPORT_THREADED_INTERNAL_H

#include <pthread.h>

#include "engine/transport/ring_internal.h"
#include "engine/transport/transport_internal.h"

/* What the delegate does for a worker that waits; on the worker's stack. */
struct call {
	int (*run)(struct transport *inner, const struct call *call, struct err *err);
	const struct transport_address *addresses;
	int64_t timeout_ns;
	const struct message *message;
	const void *payload;
	int stage, peer, rail;
	bool is_up;
	const void *memory;
	size_t n_bytes;
	bool is_known;
	int64_t *n_resent_out;
	int rc;
	struct err err;
	uint32_t is_over;
};

enum command_kind { COMMAND_SEND, COMMAND_RELEASE, COMMAND_CALL, COMMAND_STOP };

struct command {
	enum command_kind kind;
	struct message message;
	const void *payload;
	void *released;
	struct call *call;
};

struct threaded {
	struct transport base;
	struct transport *inner; /* the delegate's, while there is one */
	struct transport_config config;
	pthread_t thread;
	struct ring commands, events;

	/* The worker's. */
	bool *is_open; /* of each connection: it took a message, and was not lost since */
	struct transport_event *early; /* events taken off the ring while a call was waited for */
	size_t early_capacity, n_early, n_early_shown;
	bool is_short_of_memory;

	/* The delegate's; the worker reads err once has_failed is set. */
	struct err err;
	uint32_t has_failed;

	/* What the delegate says when it has looked at everything. */
	size_t n_obeyed; /* commands, ever */
	int64_t next_ns; /* of the transport inside, after those */
};

static inline bool threaded_has_failed(const struct threaded *threaded)
{
	return __atomic_load_n(&threaded->has_failed, __ATOMIC_ACQUIRE);
}

/* threaded_delegate.c: the thread; ends with COMMAND_STOP. */
void *threaded_delegate(void *threaded);

#endif
