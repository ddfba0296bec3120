/* verbs.c - transport over RDMA queue pairs; one instance serves all stages of a worker.
 *
 * Completions are asked for at every poll(), which is no system call. What the control connections
 * and the devices have to tell is, so they are asked twice in a millisecond. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/transport/verbs.h"
#include "engine/transport/verbs_memory_internal.h"

enum { COMPLETIONS_PER_POLL = 64, EVENTS_PER_WATCH = 32 };

static const int64_t WATCH_NS = 500 * NS_PER_US, LINGER_NS = 500 * NS_PER_MS;

void verbs_mark_dirty(struct verbs *verbs, struct verbs_queue *queue)
{
	if (queue->is_dirty)
		return;
	queue->is_dirty = true;
	verbs->dirty[verbs->n_dirty++] = (int)(queue - verbs->queues);
}

/* Make ready what is due, and acknowledge what is thereby received. */
static void show_due(struct verbs *verbs)
{
	struct inbox_item item;

	while (inbox_pop_due(&verbs->host.inbox, verbs->host.now_ns, &item)) {
		const struct message *m = &item.event.message;
		struct verbs_queue *queue;

		if (item.event.kind != TRANSPORT_RECEIVED)
			continue;
		queue = verbs_find(verbs, m->to_stage, m->from_stage, m->rail, m->queue);
		framing_queue_control(&verbs->host, &queue->framing, FRAME_ACK, item.token);
		verbs_mark_dirty(verbs, queue);
	}
}

/* All but the control connection, which may be the reason. */
static void lose_queues(struct verbs *verbs, struct verbs_end *end, int reason,
                        const char *sentence)
{
	struct verbs_queue *queues = verbs_first_queue(verbs, end);

	if (end->state == VERBS_UP)
		show_due(verbs);
	for (int i = 0; end->state != VERBS_CLOSED && i < verbs->host.config.n_queues; i++)
		verbs_queue_stop(verbs, &queues[i]);
	end->state = VERBS_CLOSED;
	end->has_theirs = end->are_they_ready = false;
	framing_lose(&verbs->host, &end->lost, &queues->framing, reason, sentence);
}

void verbs_lose(struct verbs *verbs, struct verbs_end *end, int reason, const char *sentence)
{
	const struct framing *framing = &verbs_first_queue(verbs, end)->framing;

	lose_queues(verbs, end, reason, sentence);
	tcp_drop(verbs->control, framing->stage, framing->peer, framing->rail);
}

/* The end that an event of the control connections is for. */
static struct verbs_end *end_at(const struct verbs *verbs, int stage, int peer, int rail)
{
	return &verbs->ends[framing_end_of(&verbs->host, stage, peer, rail)];
}

/* What the other side sent before it went is here already. */
static void lose_control(struct verbs *verbs, const struct transport_event *event)
{
	const struct message *lost = &event->message;
	struct verbs_end *end = end_at(verbs, lost->from_stage, lost->to_stage, lost->rail);
	const char *why = strstr(event->sentence, ": ");

	if (end->state == VERBS_UP)
		(void)verbs_take_completions(verbs, end->port, INT32_MAX);
	lose_queues(verbs, end, event->reason, why ? why + 2 : event->sentence);
}

static void take_control_event(struct verbs *verbs, const struct transport_event *event)
{
	const struct message *m = &event->message;

	switch (event->kind) {
	case TRANSPORT_RECEIVED:
		verbs_hear(verbs, end_at(verbs, m->to_stage, m->from_stage, m->rail), m,
		           event->payload);
		transport_release(verbs->control, event->payload);
		break;
	case TRANSPORT_LOST:
		lose_control(verbs, event);
		break;
	case TRANSPORT_SENT:
	case TRANSPORT_ACKED:
		break;
	}
}

static void take_port_events(struct verbs *verbs, struct verbs_port *port)
{
	const char *sentence;

	while (verbs_port_event(port, &sentence))
		for (int i = 0; sentence && i < verbs->n_queues / verbs->host.config.n_queues; i++)
			if (verbs->ends[i].port == port && verbs->ends[i].state != VERBS_CLOSED)
				verbs_lose(verbs, &verbs->ends[i], -ENETDOWN, sentence);
}

void verbs_watch(struct verbs *verbs)
{
	struct transport_event events[EVENTS_PER_WATCH];
	size_t n = 1;

	verbs->next_watch_ns = clock_monotonic_ns() + WATCH_NS;
	while (n > 0) {
		if (transport_poll(verbs->control, events, EVENTS_PER_WATCH, &n, NULL)) {
			verbs->host.inbox.is_failed = true;
			return;
		}
		for (size_t i = 0; i < n; i++)
			take_control_event(verbs, &events[i]);
	}
	for (struct verbs_port *port = verbs->ports; port; port = port->next)
		take_port_events(verbs, port);
	verbs_check_device(verbs);
}

static void flush_dirty(struct verbs *verbs)
{
	while (verbs->n_dirty > 0) {
		struct verbs_queue *queue = &verbs->queues[verbs->dirty[--verbs->n_dirty]];

		queue->is_dirty = false;
		verbs_queue_flush(verbs, queue);
	}
}

void verbs_progress(struct verbs *verbs)
{
	framing_begin_poll(&verbs->host);
	verbs->host.now_ns = transport_now_ns(&verbs->host.config);
	for (struct verbs_port *port = verbs->ports; port; port = port->next)
		(void)verbs_take_completions(verbs, port, COMPLETIONS_PER_POLL);
	if (clock_monotonic_ns() >= verbs->next_watch_ns)
		verbs_watch(verbs);
	verbs_check_silence(verbs);
	show_due(verbs);
	flush_dirty(verbs);
}

/* Silence ends in a LOST without anything that arrives. */
static void set_next(struct verbs *verbs)
{
	int64_t next_ns = verbs->n_dirty > 0 ? 0 : inbox_next_ns(&verbs->host.inbox);

	if (verbs->host.config.silence_ns > 0 && verbs->next_check_ns < next_ns)
		next_ns = verbs->next_check_ns;
	verbs->base.next_ns = next_ns;
}

static int verbs_poll(struct transport *transport, struct transport_event *events, size_t n,
                      size_t *n_out, struct err *err)
{
	struct verbs *verbs = (struct verbs *)transport;

	if (verbs->host.inbox.n_ready < n || n == 0)
		verbs_progress(verbs);
	if (verbs->host.inbox.is_failed)
		return err_set(err, -ENOMEM, "no memory for messages under way");
	*n_out = inbox_take(&verbs->host.inbox, events, n);
	set_next(verbs);
	return 0;
}

static int verbs_send(struct transport *transport, const struct message *message,
                      const void *payload, struct err *err)
{
	struct verbs *verbs = (struct verbs *)transport;
	int rc = transport_check_message(&verbs->host.config, message, payload, err);
	struct verbs_queue *queue;

	if (rc)
		return rc;
	queue = verbs_find(verbs, message->from_stage, message->to_stage, message->rail,
	                   message->queue);
	if (queue->end->state != VERBS_UP)
		return err_set(err, -ENETDOWN,
		               "stage %d has no connection to stage %d on rail %d, queue %d",
		               message->from_stage, message->to_stage, message->rail,
		               message->queue);
	verbs->host.now_ns = transport_now_ns(&verbs->host.config);
	rc = framing_queue_message(&verbs->host, &queue->framing, message, payload, err);
	if (rc == 0)
		verbs_queue_flush(verbs, queue);
	set_next(verbs);
	return rc;
}

static void verbs_release(struct transport *transport, void *payload)
{
	pool_give(&((struct verbs *)transport)->host.pool, payload);
}

static void lose_local(struct verbs *verbs, int stage, int peer, int rail, int down)
{
	char sentence[FRAMING_SENTENCE_BYTES];

	(void)snprintf(sentence, sizeof(sentence), "the RNIC of stage %d went down", down);
	verbs_lose(verbs, end_at(verbs, stage, peer, rail), -ENETDOWN, sentence);
}

static int verbs_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                          struct err *err)
{
	struct verbs *verbs = (struct verbs *)transport;
	const struct transport_config *config = &verbs->host.config;
	int rc = transport_check_rail(config, stage, rail, err);

	if (rc)
		return rc;
	verbs->is_rail_up[stage * config->n_rails + rail] = is_up;
	verbs->host.now_ns = transport_now_ns(config);
	for (int peer = stage - 1; !is_up && peer <= stage + 1; peer += 2) {
		if (peer < 0 || peer >= config->n_stages)
			continue;
		/* A neighbour in this worker finds out as any other does. */
		if (config->is_local[stage])
			lose_local(verbs, stage, peer, rail, stage);
		else if (config->is_local[peer])
			lose_local(verbs, peer, stage, rail, stage);
	}
	rc = transport_set_rail(verbs->control, stage, rail, is_up, err);
	set_next(verbs);
	return rc;
}

static void verbs_set_known(struct transport *transport, const void *memory, size_t n_bytes,
                            bool is_known)
{
	struct verbs *verbs = (struct verbs *)transport;

	/* Without memory to know it, it is copied. */
	if (is_known)
		(void)regions_add(&verbs->known, memory, n_bytes);
	else
		verbs_memory_forget(verbs, memory, n_bytes);
	set_next(verbs);
}

static bool is_up(const struct verbs_queue *queue)
{
	return queue->end->state == VERBS_UP;
}

/* A piece is on its way that the other side has not got. */
static bool is_sending(const struct verbs_queue *queue)
{
	return is_up(queue) && queue->n_sent != queue->n_sent_done;
}

static bool has_any(const struct verbs *verbs, bool (*is_so)(const struct verbs_queue *queue))
{
	for (int i = 0; i < verbs->n_queues; i++)
		if (is_so(&verbs->queues[i]))
			return true;
	return false;
}

/* The last acknowledgements still have to arrive, and what ends with its queue pair does not. */
static void linger(struct verbs *verbs)
{
	int64_t end_ns = clock_monotonic_ns() + LINGER_NS;

	if (has_any(verbs, is_up))
		verbs_progress(verbs);
	while (has_any(verbs, is_sending) && clock_monotonic_ns() < end_ns)
		verbs_progress(verbs);
}

static void verbs_close(struct transport *transport)
{
	struct verbs *verbs = (struct verbs *)transport;

	if (verbs->queues)
		linger(verbs);
	for (int i = 0; verbs->queues && i < verbs->n_queues; i++)
		verbs_queue_free(&verbs->queues[i]);
	verbs_memory_free(verbs);
	while (verbs->ports) {
		struct verbs_port *port = verbs->ports;

		verbs->ports = port->next;
		verbs_port_close(port);
	}
	transport_close(verbs->control);
	framing_fini_host(&verbs->host);
	free(verbs->devices);
	free(verbs->is_rail_up);
	free(verbs->ends);
	free(verbs->queues);
	free(verbs->dirty);
	free(verbs);
}

static int allocate(struct verbs *verbs, const struct transport_config *config, struct err *err)
{
	size_t n = (size_t)config->n_stages * (size_t)config->n_rails;
	const char *devices = config->verbs ? config->verbs->devices : NULL;
	int rc = framing_init_host(&verbs->host, config, err);

	if (rc)
		return rc;
	verbs->host.has_digests = false;
	verbs->n_queues = (int)n * 2 * config->n_queues;
	verbs->retry = config->verbs ? config->verbs->retry : rdma_retry_default;
	verbs->devices = devices ? strdup(devices) : NULL;
	verbs->is_rail_up = array_new(n, sizeof(*verbs->is_rail_up));
	verbs->ends = array_new(n * 2, sizeof(*verbs->ends));
	verbs->queues = array_new((size_t)verbs->n_queues, sizeof(*verbs->queues));
	verbs->dirty = array_new((size_t)verbs->n_queues, sizeof(*verbs->dirty));
	if (!verbs->is_rail_up || !verbs->ends || !verbs->queues || !verbs->dirty ||
	    (devices && !verbs->devices))
		return err_set(err, -ENOMEM, "no memory for transport verbs");
	memset(verbs->is_rail_up, true, n);
	for (int i = 0; i < verbs->n_queues; i++) {
		framing_name(&verbs->host, i, &verbs->queues[i].framing);
		verbs->queues[i].end = &verbs->ends[i / config->n_queues];
	}
	return 0;
}

/* The connections by which the two sides of each end agree. Real time is theirs. */
static int open_control(struct verbs *verbs, const struct transport_config *config,
                        struct transport_address *addresses_out, struct err *err)
{
	struct transport_config control = *config;

	control.n_queues = 1;
	control.max_bytes = VERBS_OFFER_BYTES_MAX;
	control.silence_ns = 0;
	control.clock_ns = NULL;
	return tcp_ops.open(&control, addresses_out, &verbs->control, err);
}

/* enum ibv_mtu: 1 is 256 bytes. */
enum { MTU_UNIT_BYTES = 128 };

static void tell_ports(const struct verbs *verbs, const struct verbs_settings *settings)
{
	for (int i = 0; i < verbs->n_queues; i += verbs->host.config.n_queues) {
		const struct framing *framing = &verbs->queues[i].framing;
		const struct verbs_port *port = verbs->queues[i].end->port;
		char gid[VERBS_GID_TEXT_BYTES];

		if (!port)
			continue;
		settings->tell(settings->tell_context,
		               &(struct verbs_fact){
				       .stage = framing->stage,
				       .peer = framing->peer,
				       .rail = framing->rail,
				       .device = port->name.device,
				       .port = port->name.port,
				       .gid_index = port->gid_index,
				       .gid = verbs_gid_text(port->gid, gid),
				       .mtu_bytes = MTU_UNIT_BYTES << port->mtu,
			       });
	}
}

static int open_ports(struct verbs *verbs, const struct transport_config *config, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < verbs->n_queues; i += config->n_queues) {
		const struct framing *framing = &verbs->queues[i].framing;
		struct verbs_end *end = verbs->queues[i].end;

		if (!framing_is_ours(&verbs->host, framing) ||
		    !transport_has_rail(config, framing->rail))
			continue;
		rc = verbs_port_find(
			verbs, framing->stage, framing->peer, framing->rail,
			config->listen ? config->listen[framing->stage].text[framing->rail] : "",
			&end->port, err);
		if (rc)
			return err_wrap(err, "stage %d, rail %d", framing->stage, framing->rail);
		end->port->n_connections += config->n_queues;
	}
	for (struct verbs_port *port = verbs->ports; rc == 0 && port; port = port->next)
		rc = verbs_port_prepare(verbs, port, err);
	return rc;
}

static int verbs_open(const struct transport_config *config,
                      struct transport_address *addresses_out, struct transport **out,
                      struct err *err)
{
	int rc = transport_check_config(config, err);
	struct verbs *verbs;

	if (rc)
		return rc;
	verbs = array_new(1, sizeof(*verbs));
	if (!verbs)
		return err_set(err, -ENOMEM, "no memory for transport verbs");
	verbs->base.ops = &verbs_ops;
	verbs->base.next_ns = INT64_MAX;
	rc = allocate(verbs, config, err);
	rc = rc ? rc : open_control(verbs, config, addresses_out, err);
	rc = rc ? rc : open_ports(verbs, config, err);
	if (rc == 0 && config->verbs && config->verbs->tell)
		tell_ports(verbs, config->verbs);
	if (rc) {
		verbs_close(&verbs->base);
		return rc;
	}
	*out = &verbs->base;
	return 0;
}

const struct transport_ops verbs_ops = {
	.name = "verbs",
	.open = verbs_open,
	.connect = verbs_connect,
	.send = verbs_send,
	.poll = verbs_poll,
	.release = verbs_release,
	.set_rail = verbs_set_rail,
	.set_known = verbs_set_known,
	.close = verbs_close,
};
