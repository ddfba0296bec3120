/* transport_calls.h - the one-line callers of transport_ops; the end of transport.h. */
#ifndef ENGINE_TRANSPORT_TRANSPORT_CALLS_H
#define ENGINE_TRANSPORT_TRANSPORT_CALLS_H

#include "engine/transport/transport.h"

static inline int transport_send(struct transport *transport, const struct message *message,
                                 const void *payload, struct err *err)
{
	return transport->ops->send(transport, message, payload, err);
}

static inline int transport_poll(struct transport *transport, struct transport_event *events,
                                 size_t n, size_t *n_out, struct err *err)
{
	return transport->ops->poll(transport, events, n, n_out, err);
}

/* Before this moment of the transport's clock poll() hands out nothing unless something arrives;
 * in the past: poll now. INT64_MAX: nothing waits for time. */
static inline int64_t transport_next_ns(const struct transport *transport)
{
	return transport->next_ns;
}

static inline void transport_release(struct transport *transport, void *payload)
{
	transport->ops->release(transport, payload);
}

static inline int transport_connect(struct transport *transport,
                                    const struct transport_address *addresses, int64_t timeout_ns,
                                    struct err *err)
{
	return transport->ops->connect(transport, addresses, timeout_ns, err);
}

static inline int transport_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                                     struct err *err)
{
	return transport->ops->set_rail(transport, stage, rail, is_up, err);
}

static inline void transport_set_known(struct transport *transport, const void *memory,
                                       size_t n_bytes, bool is_known)
{
	if (transport->ops->set_known)
		transport->ops->set_known(transport, memory, n_bytes, is_known);
}

static inline int64_t transport_count_resent(struct transport *transport, int stage, int peer)
{
	return transport->ops->count_resent ? transport->ops->count_resent(transport, stage, peer)
	                                    : -1;
}

static inline void transport_close(struct transport *transport)
{
	if (transport)
		transport->ops->close(transport);
}

#endif
