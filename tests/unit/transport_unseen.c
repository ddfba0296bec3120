/* transport_unseen.c - tests that a message says since when nobody had polled when it was seen. */
#include "engine/base/units.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_TRIES = 20 };

static const struct transport_variant variant = {"tcp", true, 2, false};

static void send_one(struct transport_case *c, int microbatch)
{
	struct message message = case_message(c, 0, 1, microbatch, 100);
	char payload[100];

	case_payload(&message, payload);
	c->n_log = 0;
	(void)case_send(c, &message, payload);
}

/* Poll until it is there. */
static struct transport_event receive(struct transport_case *c)
{
	(void)case_wait(c, TRANSPORT_RECEIVED, 1, 1);
	for (size_t i = 0; i < c->n_log; i++)
		if (c->log[i].event.kind == TRANSPORT_RECEIVED)
			return c->log[i].event;
	return (struct transport_event){0};
}

static void test_polled(struct transport_case *c)
{
	struct transport_event event;

	case_settle(c);
	send_one(c, 0);
	event = receive(c);
	tap_ok(event.looked_ns == c->now_ns && event.arrived_ns == c->now_ns,
	       "who polls all the time misses nothing");
}

/* Bytes that come a moment after the first look were missed by nobody; so it may take another
 * message. */
static void test_missed(struct transport_case *c)
{
	struct transport_event event = {0};

	for (int i = 0; i < N_TRIES && event.looked_ns == event.arrived_ns; i++) {
		case_settle(c);
		send_one(c, i % 4);
		c->now_ns += 9 * NS_PER_MS;
		event = receive(c);
	}
	tap_is_int(event.arrived_ns, c->now_ns, "a message has arrived when it is seen");
	tap_is_int(event.looked_ns, c->now_ns - 9 * NS_PER_MS,
	           "or since its receiver polled the last time");
}

static void test_held(struct transport_case *c)
{
	const struct shape held = {.latency_ns = 20 * NS_PER_MS};
	struct transport_event event;

	(void)shaped_set(case_worker(c, 0), 0, 1, &held, NULL);
	case_settle(c);
	send_one(c, 0);
	case_settle(c);
	tap_is_int(case_count(c, TRANSPORT_RECEIVED, 1), 0, "a message that is held is not shown");
	c->now_ns += 30 * NS_PER_MS;
	event = receive(c);
	tap_is_int(event.at_ns, c->now_ns - 10 * NS_PER_MS, "however late that is seen");
	tap_is_int(event.looked_ns, c->now_ns - 30 * NS_PER_MS, "it says when it came");
}

int main(void)
{
	struct transport_case c;

	case_init(&c, &variant, 2);
	case_use_virtual_clock(&c);
	if (case_open(&c)) {
		test_polled(&c);
		test_missed(&c);
		test_held(&c);
	}
	case_fini(&c);
	return tap_done();
}
