/* transport_internal.h - what the backends share: their checks (check.c), payload buffers (pool.c)
 * and events (inbox.c). */
#ifndef ENGINE_TRANSPORT_TRANSPORT_INTERNAL_H
#define ENGINE_TRANSPORT_TRANSPORT_INTERNAL_H

#include "engine/base/clock.h"
#include "engine/transport/transport.h"

extern const struct transport_ops loopback_ops, tcp_ops, verbs_ops, mixed_ops;

/* tcp.c: take down the end of a rail to peer. If it was live there is a LOST event. */
void tcp_drop(struct transport *tcp, int stage, int peer, int rail);

/* mixed.c: are all of a list to be had? Errors as transport_find(). */
int mixed_check(const char *list, struct err *err);

/* Is the rail this transport's? */
static inline bool transport_has_rail(const struct transport_config *config, int rail)
{
	return !(config->other_rails >> rail & 1);
}

/* check.c: -EINVAL and a sentence for what cannot be. */
int transport_check_config(const struct transport_config *config, struct err *err);
int transport_check_message(const struct transport_config *config, const struct message *message,
                            const void *payload, struct err *err);
int transport_check_rail(const struct transport_config *config, int stage, int rail,
                         struct err *err);

/* A copy with is_local of its own, which the caller frees, and without what is else pointed to. */
int transport_copy_config(const struct transport_config *config, struct transport_config *out,
                          struct err *err);

static inline int64_t transport_now_ns(const struct transport_config *config)
{
	return config->clock_ns ? config->clock_ns(config->clock_context) : clock_monotonic_ns();
}

/* Payload buffers in sizes of powers of two. What is released is kept for the next, so that a
 * steady stream of messages allocates nothing. They are cut out of the caller's area while
 * that lasts. */
enum { POOL_CLASSES = 63 };

struct pool_buffer;

struct pool {
	struct pool_buffer *spare[POOL_CLASSES];
	struct pool_buffer *all; /* not of the area */
	char *area;              /* what is left of it */
	size_t area_bytes;
};

struct pool pool_of(const struct transport_config *config);
void *pool_take(struct pool *pool, int64_t n_bytes); /* NULL: out of memory */
void pool_give(struct pool *pool, void *payload);    /* NULL: nothing */
void pool_fini(struct pool *pool);

/* Events on their way to the caller: those that may be shown, in order, and those that are held for
 * their moment. Start zeroed. When memory runs out is_failed stays set and events are missing. */
struct inbox_item {
	struct transport_event event;
	int64_t moment_ns; /* not to be shown before */
	uint64_t order;    /* of arrival, for ties */
	uint64_t token;    /* the backend's */
};

struct inbox {
	struct transport_event *ready; /* ring */
	size_t capacity, first, n_ready;
	struct inbox_item *held; /* heap, earliest moment first */
	size_t held_capacity, n_held;
	uint64_t n_ever;
	bool is_failed;
};

/* The event happened at event->arrived_ns, which is now. Returns whether it is ready: moment_ns is
 * not in the future, and nothing is due that has to be shown before it. */
bool inbox_add(struct inbox *inbox, const struct transport_event *event, int64_t moment_ns,
               uint64_t token);

/* Make the next held event whose moment has come ready, and tell of it. false: there is none. */
bool inbox_pop_due(struct inbox *inbox, int64_t now_ns, struct inbox_item *out);

/* stage loses its rail to peer: what is held for it never happened; pop what is due before.
 * Payloads go back to pool. */
void inbox_lose(struct inbox *inbox, struct pool *pool, int stage, int peer, int rail);

size_t inbox_take(struct inbox *inbox, struct transport_event *events, size_t n);
int64_t inbox_next_ns(const struct inbox *inbox);
void inbox_fini(struct inbox *inbox);

#endif
