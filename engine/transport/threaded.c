/* threaded.c - a transport around another one that gives it a thread of its own.
 *
 * Two rings join the threads: the worker puts commands into one, the delegate, which alone touches
 * the transport inside, puts events into the other. Calls that block, and those whose answer only
 * the transport inside knows, are commands whose end the worker waits for; by then all events that
 * came of them are in the worker's hands, as they would be without a thread.
 *
 * Full rings: the delegate leaves events in the transport inside while theirs is full, and goes on
 * obeying; so the worker may wait for room in the commands' ring, and neither can wait for the
 * other for ever. While it waits for the end of a call, the worker takes events off their ring.
 *
 * A message for a connection that was there when the worker last heard of it may find it gone. Then
 * LOST is on its way to the worker and takes the message along, since connections are only made
 * again by a later command. */
#include "engine/transport/threaded.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/threaded_internal.h"

enum { N_COMMANDS = 1024, N_EVENTS = 1024 };

/* The connection's place in is_open. */
static bool *connection_of(const struct threaded *threaded, int stage, int peer, int rail,
                           int queue)
{
	size_t end = (size_t)(stage * 2 + (peer > stage)) * (size_t)threaded->config.n_rails;

	return &threaded->is_open[(end + (size_t)rail) * (size_t)threaded->config.n_queues +
	                          (size_t)queue];
}

static void close_end(const struct threaded *threaded, int stage, int peer, int rail)
{
	memset(connection_of(threaded, stage, peer, rail, 0), 0,
	       (size_t)threaded->config.n_queues * sizeof(*threaded->is_open));
}

static void order(struct threaded *threaded, const struct command *command)
{
	while (!ring_put(&threaded->commands, command))
		(void)sched_yield();
	threaded->base.next_ns = 0;
}

/* Take what is in the ring into early. */
static void take_early(struct threaded *threaded)
{
	struct transport_event event;

	while (ring_take(&threaded->events, &event)) {
		struct transport_event *early =
			array_grow(threaded->early, &threaded->early_capacity,
		                   threaded->n_early + 1, sizeof(*early));

		if (!early) {
			threaded->is_short_of_memory = true;
			continue;
		}
		threaded->early = early;
		early[threaded->n_early++] = event;
	}
}

/* Have the delegate do it, and wait until it is done. */
static int hand_over(struct threaded *threaded, struct call *call, struct err *err)
{
	const struct command command = {.kind = COMMAND_CALL, .call = call};

	order(threaded, &command);
	while (!__atomic_load_n(&call->is_over, __ATOMIC_ACQUIRE)) {
		take_early(threaded);
		(void)sched_yield();
	}
	if (call->rc && err)
		*err = call->err;
	return call->rc;
}

static int run_connect(struct transport *inner, const struct call *call, struct err *err)
{
	return transport_connect(inner, call->addresses, call->timeout_ns, err);
}

static int threaded_connect(struct transport *transport, const struct transport_address *addresses,
                            int64_t timeout_ns, struct err *err)
{
	struct call call = {.run = run_connect, .addresses = addresses, .timeout_ns = timeout_ns};

	return hand_over((struct threaded *)transport, &call, err);
}

static int run_send(struct transport *inner, const struct call *call, struct err *err)
{
	return transport_send(inner, call->message, call->payload, err);
}

static int threaded_send(struct transport *transport, const struct message *message,
                         const void *payload, struct err *err)
{
	struct threaded *threaded = (struct threaded *)transport;
	int rc = transport_check_message(&threaded->config, message, payload, err);
	struct command command = {.kind = COMMAND_SEND, .message = *message, .payload = payload};
	struct call call = {.run = run_send, .message = &command.message, .payload = payload};
	bool *is_open;

	if (rc)
		return rc;
	is_open = connection_of(threaded, message->from_stage, message->to_stage, message->rail,
	                        message->queue);
	if (message->sent_ns == 0)
		command.message.sent_ns = transport_now_ns(&threaded->config);
	if (!*is_open) {
		rc = hand_over(threaded, &call, err);
		*is_open = rc == 0;
		return rc;
	}
	order(threaded, &command);
	return 0;
}

static bool next_event(struct threaded *threaded, struct transport_event *out)
{
	if (threaded->n_early_shown == threaded->n_early)
		return ring_take(&threaded->events, out);
	*out = threaded->early[threaded->n_early_shown++];
	if (threaded->n_early_shown == threaded->n_early)
		threaded->n_early = threaded->n_early_shown = 0;
	return true;
}

/* What the delegate said is true as long as it has obeyed everything. */
static void set_next(struct threaded *threaded)
{
	size_t n_obeyed = __atomic_load_n(&threaded->n_obeyed, __ATOMIC_ACQUIRE);
	int64_t next_ns = __atomic_load_n(&threaded->next_ns, __ATOMIC_RELAXED);
	bool is_waiting = threaded->n_early > 0 || !ring_is_empty(&threaded->events) ||
	                  n_obeyed != threaded->commands.n_put;

	threaded->base.next_ns = is_waiting ? 0 : next_ns;
}

static int threaded_poll(struct transport *transport, struct transport_event *events, size_t n,
                         size_t *n_out, struct err *err)
{
	struct threaded *threaded = (struct threaded *)transport;
	bool is_at_its_end = threaded_has_failed(threaded);
	size_t n_shown = 0;

	while (n_shown < n && next_event(threaded, &events[n_shown])) {
		const struct message *message = &events[n_shown].message;

		if (events[n_shown].kind == TRANSPORT_LOST)
			close_end(threaded, message->from_stage, message->to_stage, message->rail);
		n_shown++;
	}
	if (threaded->is_short_of_memory)
		return err_set(err, -ENOMEM, "no memory for messages under way");
	/* After what came before it. */
	if (n_shown == 0 && is_at_its_end)
		return err_set(err, threaded->err.code, "%s", threaded->err.text);
	*n_out = n_shown;
	set_next(threaded);
	return 0;
}

static void threaded_release(struct transport *transport, void *payload)
{
	const struct command command = {.kind = COMMAND_RELEASE, .released = payload};

	if (payload)
		order((struct threaded *)transport, &command);
}

static int run_set_rail(struct transport *inner, const struct call *call, struct err *err)
{
	return transport_set_rail(inner, call->stage, call->rail, call->is_up, err);
}

static int threaded_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                             struct err *err)
{
	struct threaded *threaded = (struct threaded *)transport;
	struct call call = {.run = run_set_rail, .stage = stage, .rail = rail, .is_up = is_up};
	int rc = hand_over(threaded, &call, err);

	for (int peer = stage - 1; rc == 0 && !is_up && peer <= stage + 1; peer += 2) {
		if (peer < 0 || peer >= threaded->config.n_stages)
			continue;
		close_end(threaded, stage, peer, rail);
		close_end(threaded, peer, stage, rail);
	}
	return rc;
}

static int run_set_known(struct transport *inner, const struct call *call, struct err *err)
{
	(void)err;
	transport_set_known(inner, call->memory, call->n_bytes, call->is_known);
	return 0;
}

/* Memory that is not known any more may go when this returns, so the delegate has to be done. */
static void threaded_set_known(struct transport *transport, const void *memory, size_t n_bytes,
                               bool is_known)
{
	struct call call = {
		.run = run_set_known, .memory = memory, .n_bytes = n_bytes, .is_known = is_known};

	(void)hand_over((struct threaded *)transport, &call, NULL);
}

static int run_count_resent(struct transport *inner, const struct call *call, struct err *err)
{
	(void)err;
	*call->n_resent_out = transport_count_resent(inner, call->stage, call->peer);
	return 0;
}

static int64_t threaded_count_resent(struct transport *transport, int stage, int peer)
{
	int64_t n_resent = -1;
	struct call call = {
		.run = run_count_resent, .stage = stage, .peer = peer, .n_resent_out = &n_resent};

	(void)hand_over((struct threaded *)transport, &call, NULL);
	return n_resent;
}

static void threaded_free(struct threaded *threaded)
{
	ring_fini(&threaded->commands);
	ring_fini(&threaded->events);
	free(threaded->early);
	free(threaded->is_open);
	free((void *)threaded->config.is_local);
	free(threaded);
}

static void threaded_close(struct transport *transport)
{
	struct threaded *threaded = (struct threaded *)transport;
	const struct command stop = {.kind = COMMAND_STOP};

	order(threaded, &stop);
	(void)pthread_join(threaded->thread, NULL);
	transport_close(threaded->inner);
	threaded_free(threaded);
}

static int threaded_open(const struct transport_config *config,
                         struct transport_address *addresses_out, struct transport **out,
                         struct err *err)
{
	(void)config;
	(void)addresses_out;
	(void)out;
	return err_set(err, -EINVAL, "transport threaded wraps another one; open that first");
}

static const struct transport_ops threaded_ops = {
	.name = "threaded",
	.open = threaded_open,
	.connect = threaded_connect,
	.send = threaded_send,
	.poll = threaded_poll,
	.release = threaded_release,
	.set_rail = threaded_set_rail,
	.set_known = threaded_set_known,
	.count_resent = threaded_count_resent,
	.close = threaded_close,
};

/* Signals are the worker's to handle. */
static int start(struct threaded *threaded, struct err *err)
{
	sigset_t all, before;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&threaded->thread, NULL, threaded_delegate, threaded);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return err_set(err, -rc, "no thread for delegates: %s", strerror(rc));
	(void)pthread_setname_np(threaded->thread, "delegates");
	return 0;
}

static int allocate(struct threaded *threaded, const struct transport_config *config,
                    struct err *err)
{
	size_t n = (size_t)config->n_stages * 2 * (size_t)config->n_rails;
	int rc = transport_copy_config(config, &threaded->config, err);

	if (rc)
		return rc;
	threaded->is_open = array_new(n * (size_t)config->n_queues, sizeof(*threaded->is_open));
	if (!threaded->is_open ||
	    !ring_init(&threaded->commands, N_COMMANDS, sizeof(struct command)) ||
	    !ring_init(&threaded->events, N_EVENTS, sizeof(struct transport_event)))
		return err_set(err, -ENOMEM, "no memory for transport threaded");
	return 0;
}

int threaded_wrap(struct transport *inner, const struct transport_config *config,
                  struct transport **out, struct err *err)
{
	struct threaded *threaded = array_new(1, sizeof(*threaded));
	int rc;

	if (!threaded)
		return err_set(err, -ENOMEM, "no memory for transport threaded");
	threaded->base.ops = &threaded_ops;
	threaded->inner = inner;
	threaded->next_ns = transport_next_ns(inner);
	rc = allocate(threaded, config, err);
	rc = rc ? rc : start(threaded, err);
	if (rc) {
		threaded_free(threaded);
		return rc;
	}
	*out = &threaded->base;
	return 0;
}
