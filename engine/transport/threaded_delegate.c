/* threaded_delegate.c - the thread that owns the transport inside: obeys the worker's commands,
 * polls, and tells the worker of what has come. */
#include <errno.h>
#include <sched.h>

#include "engine/transport/threaded_internal.h"

enum { EVENTS_PER_POLL = 32 };

static void fail(struct threaded *threaded)
{
	__atomic_store_n(&threaded->has_failed, 1, __ATOMIC_RELEASE);
}

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Poll, and put what has come into the ring, at most n events; returns how many there were. */
static size_t tell(struct threaded *threaded, size_t n)
{
	struct transport_event events[EVENTS_PER_POLL];
	size_t n_told = 0;

	if (threaded_has_failed(threaded))
		return 0;
	if (transport_poll(threaded->inner, events, n, &n_told, &threaded->err)) {
		fail(threaded);
		return 0;
	}
	for (size_t i = 0; i < n_told; i++)
		(void)ring_put(&threaded->events, &events[i]);
	return n_told;
}

static size_t n_to_tell(const struct threaded *threaded)
{
	return smaller_of(ring_room(&threaded->events), EVENTS_PER_POLL);
}

/* The worker waits, and takes off the ring what is put into it. */
static void tell_all(struct threaded *threaded)
{
	size_t n, n_told;

	do {
		n = n_to_tell(threaded);
		n_told = tell(threaded, n);
		if (n == 0)
			(void)sched_yield();
	} while (n_told == n && !threaded_has_failed(threaded));
}

static void run_call(struct threaded *threaded, struct call *call)
{
	call->rc = call->run(threaded->inner, call, &call->err);
	tell_all(threaded);
	__atomic_store_n(&call->is_over, 1, __ATOMIC_RELEASE);
}

static void send_on(struct threaded *threaded, const struct command *command)
{
	struct err err = {0};
	int rc;

	if (threaded_has_failed(threaded))
		return;
	rc = transport_send(threaded->inner, &command->message, command->payload, &err);
	if (rc == 0 || rc == -ENETDOWN)
		return;
	threaded->err = err;
	fail(threaded);
}

/* Returns how many commands there were; *goes_on: none of them was to stop. */
static size_t obey(struct threaded *threaded, bool *goes_on)
{
	struct command command;
	size_t n = 0;

	while (*goes_on && ring_take(&threaded->commands, &command)) {
		n++;
		switch (command.kind) {
		case COMMAND_SEND:
			send_on(threaded, &command);
			break;
		case COMMAND_RELEASE:
			transport_release(threaded->inner, command.released);
			break;
		case COMMAND_CALL:
			run_call(threaded, command.call);
			break;
		case COMMAND_STOP:
			*goes_on = false;
			break;
		}
	}
	return n;
}

void *threaded_delegate(void *argument)
{
	struct threaded *threaded = argument;
	bool goes_on = true;

	while (goes_on) {
		size_t n_obeyed = obey(threaded, &goes_on);
		size_t n_told = tell(threaded, n_to_tell(threaded));

		__atomic_store_n(&threaded->next_ns, transport_next_ns(threaded->inner),
		                 __ATOMIC_RELAXED);
		__atomic_store_n(&threaded->n_obeyed, threaded->n_obeyed + n_obeyed,
		                 __ATOMIC_RELEASE);
		if (n_obeyed == 0 && n_told == 0)
			(void)sched_yield();
	}
	return NULL;
}
