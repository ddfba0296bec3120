/* loopback.c - messages between stages of one worker, by copying. Tests start with it.
 *
 * What send() takes lies on the wire until the next poll(), so a rail can die with messages under
 * way. Time is the configured clock's alone: with a virtual one every moment is exact. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/transport_internal.h"

/* Payloads borrowed from send() until delivered. */
struct wire {
	struct message message;
	const void *payload;
};

struct loopback {
	struct transport base;
	struct transport_config config;
	bool *is_rail_up; /* [stage * n_rails + rail] */
	bool *is_linked;  /* [link * n_rails + rail] */
	struct inbox inbox;
	struct pool pool;
	struct wire *wires;
	size_t wires_capacity, n_wires;
};

static void loopback_close(struct transport *transport)
{
	struct loopback *loopback = (struct loopback *)transport;

	free((void *)loopback->config.is_local);
	free(loopback->is_rail_up);
	free(loopback->is_linked);
	free(loopback->wires);
	inbox_fini(&loopback->inbox);
	pool_fini(&loopback->pool);
	free(loopback);
}

static int check_all_local(const struct transport_config *config, struct err *err)
{
	for (int stage = 0; stage < config->n_stages; stage++)
		if (!config->is_local[stage])
			return err_set(err, -EINVAL,
			               "transport loopback serves stages of one worker, but stage "
			               "%d runs elsewhere; use tcp",
			               stage);
	return 0;
}

static int allocate(struct loopback *loopback, const struct transport_config *config,
                    struct err *err)
{
	size_t n = (size_t)config->n_stages * (size_t)config->n_rails;
	int rc = transport_copy_config(config, &loopback->config, err);

	if (rc)
		return rc;
	loopback->pool = pool_of(config);
	loopback->is_rail_up = array_new(n, sizeof(*loopback->is_rail_up));
	loopback->is_linked = array_new(n, sizeof(*loopback->is_linked));
	if (!loopback->is_rail_up || !loopback->is_linked)
		return err_set(err, -ENOMEM, "no memory for transport loopback");
	for (size_t i = 0; i < n; i++)
		loopback->is_rail_up[i] = transport_has_rail(config, (int)i % config->n_rails);
	return 0;
}

static int loopback_open(const struct transport_config *config,
                         struct transport_address *addresses_out, struct transport **out,
                         struct err *err)
{
	struct loopback *loopback;
	int rc = transport_check_config(config, err);

	if (rc == 0)
		rc = check_all_local(config, err);
	if (rc)
		return rc;
	loopback = array_new(1, sizeof(*loopback));
	if (!loopback)
		return err_set(err, -ENOMEM, "no memory for transport loopback");
	loopback->base.ops = &loopback_ops;
	loopback->base.next_ns = INT64_MAX;
	rc = allocate(loopback, config, err);
	if (rc) {
		loopback_close(&loopback->base);
		return rc;
	}
	for (int stage = 0; stage < config->n_stages; stage++)
		for (int rail = 0; rail < config->n_rails; rail++)
			if (transport_has_rail(config, rail))
				(void)snprintf(addresses_out[stage].text[rail],
				               TRANSPORT_ADDRESS_BYTES, "loopback:%d.%d", stage,
				               rail);
	*out = &loopback->base;
	return 0;
}

static int loopback_connect(struct transport *transport, const struct transport_address *addresses,
                            int64_t timeout_ns, struct err *err)
{
	struct loopback *loopback = (struct loopback *)transport;
	int n_rails = loopback->config.n_rails;

	(void)addresses;
	(void)timeout_ns;
	(void)err;
	for (int i = 0; i < (loopback->config.n_stages - 1) * n_rails; i++)
		loopback->is_linked[i] =
			loopback->is_rail_up[i] && loopback->is_rail_up[i + n_rails];
	return 0;
}

static int link_of(int a, int b)
{
	return a < b ? a : b;
}

static int loopback_send(struct transport *transport, const struct message *message,
                         const void *payload, struct err *err)
{
	struct loopback *loopback = (struct loopback *)transport;
	int rc = transport_check_message(&loopback->config, message, payload, err);
	int link = link_of(message->from_stage, message->to_stage);
	struct wire *wires;

	if (rc)
		return rc;
	if (!loopback->is_linked[link * loopback->config.n_rails + message->rail])
		return err_set(err, -ENETDOWN, "stage %d has no rail %d to stage %d",
		               message->from_stage, message->rail, message->to_stage);
	wires = array_grow(loopback->wires, &loopback->wires_capacity, loopback->n_wires + 1,
	                   sizeof(*wires));
	if (!wires)
		return err_set(err, -ENOMEM, "no memory for a message");
	loopback->wires = wires;
	wires[loopback->n_wires] = (struct wire){*message, payload};
	if (message->sent_ns == 0)
		wires[loopback->n_wires].message.sent_ns = transport_now_ns(&loopback->config);
	loopback->n_wires++;
	loopback->base.next_ns = 0;
	return 0;
}

static void add_acked(struct loopback *loopback, const struct message *message, int64_t now_ns)
{
	struct transport_event event = {
		.kind = TRANSPORT_ACKED,
		.message = *message,
		.arrived_ns = now_ns,
	};

	(void)inbox_add(&loopback->inbox, &event,
	                message->acked_ns > message->done_ns ? message->acked_ns : message->done_ns,
	                0);
}

static int deliver(struct loopback *loopback, const struct wire *wire, int64_t now_ns)
{
	const struct message *message = &wire->message;
	struct transport_event event = {
		.kind = TRANSPORT_SENT,
		.message = *message,
		.arrived_ns = now_ns,
		.looked_ns = now_ns,
	};

	(void)inbox_add(&loopback->inbox, &event, message->done_ns, 0);
	event.kind = TRANSPORT_RECEIVED;
	event.payload = pool_take(&loopback->pool, message->n_bytes);
	if (!event.payload)
		return -ENOMEM;
	if (message->n_bytes > 0)
		memcpy(event.payload, wire->payload, (size_t)message->n_bytes);
	if (inbox_add(&loopback->inbox, &event, message->due_ns, 0))
		add_acked(loopback, message, now_ns);
	return 0;
}

static void show_due(struct loopback *loopback, int64_t now_ns)
{
	struct inbox_item item;

	while (inbox_pop_due(&loopback->inbox, now_ns, &item))
		if (item.event.kind == TRANSPORT_RECEIVED)
			add_acked(loopback, &item.event.message, now_ns);
}

static int loopback_poll(struct transport *transport, struct transport_event *events, size_t n,
                         size_t *n_out, struct err *err)
{
	struct loopback *loopback = (struct loopback *)transport;
	int64_t now_ns = transport_now_ns(&loopback->config);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < loopback->n_wires; i++)
		rc = deliver(loopback, &loopback->wires[i], now_ns);
	loopback->n_wires = 0;
	show_due(loopback, now_ns);
	if (rc || loopback->inbox.is_failed)
		return err_set(err, -ENOMEM, "no memory for messages under way");
	*n_out = inbox_take(&loopback->inbox, events, n);
	loopback->base.next_ns = inbox_next_ns(&loopback->inbox);
	return 0;
}

static void loopback_release(struct transport *transport, void *payload)
{
	pool_give(&((struct loopback *)transport)->pool, payload);
}

static void add_lost(struct loopback *loopback, int stage, int peer, int rail, int reason)
{
	struct transport_event event = {
		.kind = TRANSPORT_LOST,
		.reason = reason,
		.message = {.from_stage = stage, .to_stage = peer, .rail = rail},
		.arrived_ns = transport_now_ns(&loopback->config),
		.sentence = reason == -ENETDOWN ? "the RNIC of this stage went down"
	                                        : "the RNIC of the other stage went down",
	};

	inbox_lose(&loopback->inbox, &loopback->pool, stage, peer, rail);
	(void)inbox_add(&loopback->inbox, &event, 0, 0);
}

/* The rail between stage, whose RNIC died, and peer. */
static void cut(struct loopback *loopback, int stage, int peer, int rail)
{
	int link = link_of(stage, peer);
	bool *is_linked = &loopback->is_linked[link * loopback->config.n_rails + rail];
	size_t n_kept = 0;

	if (!*is_linked)
		return;
	*is_linked = false;
	for (size_t i = 0; i < loopback->n_wires; i++) {
		const struct message *message = &loopback->wires[i].message;

		if (message->rail != rail ||
		    link_of(message->from_stage, message->to_stage) != link)
			loopback->wires[n_kept++] = loopback->wires[i];
	}
	loopback->n_wires = n_kept;
	add_lost(loopback, stage, peer, rail, -ENETDOWN);
	add_lost(loopback, peer, stage, rail, -ECONNRESET);
	loopback->base.next_ns = 0;
}

static int loopback_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                             struct err *err)
{
	struct loopback *loopback = (struct loopback *)transport;
	const struct transport_config *config = &loopback->config;
	int rc = transport_check_rail(config, stage, rail, err);

	if (rc)
		return rc;
	loopback->is_rail_up[stage * config->n_rails + rail] = is_up;
	if (is_up)
		return 0;
	show_due(loopback, transport_now_ns(config));
	if (stage > 0)
		cut(loopback, stage, stage - 1, rail);
	if (stage < config->n_stages - 1)
		cut(loopback, stage, stage + 1, rail);
	return 0;
}

const struct transport_ops loopback_ops = {
	.name = "loopback",
	.open = loopback_open,
	.connect = loopback_connect,
	.send = loopback_send,
	.poll = loopback_poll,
	.release = loopback_release,
	.set_rail = loopback_set_rail,
	.close = loopback_close,
};
