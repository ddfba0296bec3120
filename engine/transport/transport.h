/* transport.h - moves tensors between stages. An instance belongs to one worker and to one thread,
 * and never blocks after connect().
 *
 * A worker may run several stages; stages of one worker exchange messages like any others. Between
 * two neighbouring stages there are n_rails × n_queues connections, each carrying both directions.
 * A message is acknowledged by who received it. poll() alone makes progress and hands out what
 * happened, so one thread can run four stages in real time. The contract test holds all to this:
 *
 * Messages of one rail and queue are handed out in the order they were sent, unless due_ns says
 * otherwise. Each is SENT once and then ACKED once, or its rail is LOST; after LOST nothing more
 * comes for what was sent on that rail before. What was ACKED has been handed out as RECEIVED or
 * will be by the receiver's next calls of poll(), so a sender that repeats what is not ACKED loses
 * nothing; the receiver may see a repeated message twice and has to know it by its name. */
#ifndef ENGINE_TRANSPORT_TRANSPORT_H
#define ENGINE_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/transport/message.h"

enum { TRANSPORT_RAILS_MAX = 16, TRANSPORT_QUEUES_MAX = 64, TRANSPORT_ADDRESS_BYTES = 64 };

/* Where a stage can be reached, per rail; filled by open(), spread by whoever coordinates, given to
 * connect(). */
struct transport_address {
	char text[TRANSPORT_RAILS_MAX][TRANSPORT_ADDRESS_BYTES];
};

/* All of it is copied by open(). */
struct transport_config {
	uint64_t run; /* differs between runs and between the attempts of one run */
	int n_stages;
	const bool *is_local; /* [n_stages]: this worker runs it */
	int replica;
	int n_rails;
	int n_queues;
	int64_t max_bytes;  /* of a payload */
	int64_t silence_ns; /* LOST: a message all taken by the system, due, and not acknowledged
	                       for this long, or a frame of which nothing more comes; 0: never */
	const struct payload_area *payloads; /* payload.h: where received ones lie; NULL */
	/* [n_stages]: where local stages listen: "ADDRESS:PORT", port 0 for any; "": a free port of
	 * 127.0.0.1. A stage's connections leave from the same address. NULL: all "". */
	const struct transport_address *listen;
	const struct verbs_settings *verbs; /* verbs.h, of that backend; NULL: as it likes */
	/* Of transport mixed, and not read by others: who carries rail 0, rail 1, …: "verbs,tcp";
	 * the last one has all that follow, and who has none is not opened. */
	const char *parts;
	uint32_t other_rails; /* bit r: rail r is carried by another transport, which is mixed's
	                         to say: nobody listens there, and nothing is connected */
	int64_t (*clock_ns)(void *context); /* NULL: CLOCK_MONOTONIC */
	void *clock_context;
};

struct transport;

struct transport_ops {
	const char *name;

	/* Make *out and listen for every local stage on every rail; addresses_out[stage] is filled
	 * for local ones, of n_stages. */
	int (*open)(const struct transport_config *config, struct transport_address *addresses_out,
	            struct transport **out, struct err *err);

	/* Connect every local stage with its neighbours, in the one global order (link, rail,
	 * queue), before iteration 0; again: make those that are missing where both rails are up.
	 * Nothing is made before the workers at both ends call it. Blocks up to timeout_ns of real
	 * time, -ETIMEDOUT: err names stage, rail and queue; what was connected stays. */
	int (*connect)(struct transport *transport, const struct transport_address *addresses,
	               int64_t timeout_ns, struct err *err);

	/* Queue a message and return at once. payload stays the caller's and must not change until
	 * ACKED or LOST. -ENETDOWN: that rail is gone; -EMSGSIZE: more than max_bytes; -EINVAL: no
	 * such neighbour, rail or queue. */
	int (*send)(struct transport *transport, const struct message *message, const void *payload,
	            struct err *err);

	/* Make progress without blocking and report at most n events. An error is the end of the
	 * transport; a lost rail is an event. */
	int (*poll)(struct transport *transport, struct transport_event *events, size_t n,
	            size_t *n_out, struct err *err);

	/* Give a received payload back, any time before close(). NULL: nothing. */
	void (*release)(struct transport *transport, void *payload);

	/* The RNIC of stage, local or not, on rail dies: local ends of its connections are closed
	 * for good, both sides get LOST where they were connected, here with -ENETDOWN. Or it comes
	 * back: the next connect() makes its connections again. */
	int (*set_rail)(struct transport *transport, int stage, int rail, bool is_up,
	                struct err *err);

	/* Many payloads will be sent from these bytes, so they may be registered with what sends
	 * them; or, false, no more will be, and when that returns the memory may go. Nothing sent
	 * from it is without its ACKED or LOST then; a device that still reads it is waited for,
	 * half a second at most, and its rail is LOST if that is not enough. A payload that lies
	 * wholly in known memory may be sent from where it is; any other, and one of memory that
	 * cannot be registered, costs a copy and is sent all the same. What is known does not
	 * overlap; what is known twice has to be unknown twice; and with close() nothing is any
	 * more. Memory that never was known: nothing. NULL: it is all one to this transport. */
	void (*set_known)(struct transport *transport, const void *memory, size_t n_bytes,
	                  bool is_known);

	/* How many segments from stage, a local one, to its neighbour peer the system has sent
	 * again, on all rails, since open(). -1: it does not say. NULL: it never does. */
	int64_t (*count_resent)(struct transport *transport, int stage, int peer);

	/* Free everything, payloads not yet released as well; peers see their rails LOST. */
	void (*close)(struct transport *transport);
};

/* Backends embed it first. */
struct transport {
	const struct transport_ops *ops;
	int64_t next_ns; /* set by send() and poll() */
};

/* NULL-terminated; registry.c. shaped and threaded are not in it: they need one to wrap; nor is
 * mixed, which is found by a list of others. */
const struct transport_ops *const *transport_list(void);

/* name: of a backend, or a list of them, with commas between, which finds mixed: config.parts has
 * to be the same. -ENOENT: no such backend, err names the nearest; -ENOTSUP: left out of this
 * build, err says what to install; -EINVAL: an empty name in a list. */
int transport_find(const char *name, const struct transport_ops **out, struct err *err);

#include "engine/transport/transport_calls.h"

#endif
