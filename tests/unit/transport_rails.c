/* transport_rails.c - rails that die, peers that close, are killed or fall silent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { BYTES = 3000 };

static char payload[BYTES];

static int send_mb(struct transport_case *c, int from, int to, int rail, int mb)
{
	struct message message = case_message(c, from, to, mb, BYTES);

	message.rail = rail;
	message.queue = mb % c->config.n_queues;
	return case_send(c, &message, payload);
}

static int set_rail(struct transport_case *c, int stage, int rail, bool is_up)
{
	struct transport *transport = case_worker(c, stage);

	return transport->ops->set_rail(transport, stage, rail, is_up, NULL);
}

static const struct transport_event *lost_of(const struct transport_case *c, int stage, int peer)
{
	for (size_t i = 0; i < c->n_log; i++) {
		const struct transport_event *event = &c->log[i].event;

		if (event->kind == TRANSPORT_LOST && event->message.from_stage == stage &&
		    event->message.to_stage == peer)
			return event;
	}
	return NULL;
}

/* What came for a lost rail after it was lost. */
static int n_after_loss(const struct transport_case *c, int stage, int peer, int rail)
{
	bool is_lost = false;
	int n = 0;

	for (size_t i = 0; i < c->n_log; i++) {
		const struct transport_event *event = &c->log[i].event;
		const struct message *m = &event->message;

		if (m->rail != rail)
			continue;
		if (event->kind == TRANSPORT_LOST && m->from_stage == stage && m->to_stage == peer)
			is_lost = true;
		else if (is_lost && event->kind != TRANSPORT_RECEIVED && m->from_stage == stage &&
		         m->to_stage == peer)
			n++;
	}
	return n;
}

/* Rail 0 of stage 1 dies while messages are under way to and from it. */
static void test_rail_dies(const struct transport_variant *variant)
{
	struct transport_case c;
	const char *text = transport_variant_text(variant);
	int n_acked, n_received;

	case_init(&c, variant, 4);
	c.config.n_rails = 2;
	c.config.n_queues = 3;
	if (!case_open(&c)) {
		case_fini(&c);
		return;
	}
	for (int mb = 0; mb < 6; mb++) {
		(void)send_mb(&c, 0, 1, 0, mb);
		(void)send_mb(&c, 2, 1, 0, mb);
		(void)send_mb(&c, 1, 2, 0, mb);
		(void)send_mb(&c, 2, 3, 0, mb);
	}
	tap_is_int(set_rail(&c, 1, 0, false), 0, "%s: a rail goes down", text);
	tap_ok(case_wait(&c, TRANSPORT_LOST, -1, 4), "both sides of both links lose it");
	case_settle(&c);
	tap_is_int(case_count(&c, TRANSPORT_LOST, -1), 4, "each once, whatever the queues");
	tap_ok(lost_of(&c, 1, 0) && lost_of(&c, 1, 2) && lost_of(&c, 0, 1) && lost_of(&c, 2, 1),
	       "the events name stage, neighbour and rail");
	tap_ok(lost_of(&c, 1, 0) && lost_of(&c, 1, 0)->reason == -ENETDOWN &&
	               lost_of(&c, 0, 1)->reason != 0 && lost_of(&c, 0, 1)->sentence,
	       "and say why");
	tap_is_int(n_after_loss(&c, 1, 0, 0) + n_after_loss(&c, 0, 1, 0) +
	                   n_after_loss(&c, 1, 2, 0) + n_after_loss(&c, 2, 1, 0),
	           0, "nothing comes for a rail after its loss");
	n_acked = case_count(&c, TRANSPORT_ACKED, 0);
	n_received = case_count(&c, TRANSPORT_RECEIVED, 1);
	tap_ok(n_acked <= n_received, "no message is acknowledged (%d) that was not received (%d)",
	       n_acked, n_received);
	tap_is_int(send_mb(&c, 0, 1, 0, 9), -ENETDOWN, "the dead rail takes nothing from here");
	tap_is_int(send_mb(&c, 1, 0, 0, 9), -ENETDOWN, "nor from there");
	c.n_log = 0;
	(void)send_mb(&c, 0, 1, 1, 7);
	(void)send_mb(&c, 1, 2, 1, 7);
	(void)send_mb(&c, 2, 3, 0, 7);
	tap_ok(case_wait(&c, TRANSPORT_ACKED, 0, 1) && case_wait(&c, TRANSPORT_ACKED, 1, 1) &&
	               case_wait(&c, TRANSPORT_ACKED, 2, 1),
	       "other rails and other links still work");

	/* Down twice is down once; it comes back with the next connect(). */
	c.n_log = 0;
	(void)set_rail(&c, 1, 0, false);
	(void)set_rail(&c, 1, 0, true);
	tap_is_int(send_mb(&c, 0, 1, 0, 9), -ENETDOWN, "up alone does not connect");
	tap_ok(case_connect(&c), "it is connected again");
	(void)send_mb(&c, 0, 1, 0, 10);
	(void)send_mb(&c, 2, 1, 0, 10);
	tap_ok(case_wait(&c, TRANSPORT_ACKED, 0, 1) && case_wait(&c, TRANSPORT_ACKED, 2, 1) &&
	               case_count(&c, TRANSPORT_LOST, -1) == 0,
	       "and carries messages as before");
	case_fini(&c);
}

static void test_both_ends(const struct transport_variant *variant)
{
	struct transport_case c;

	case_init(&c, variant, 2);
	c.config.n_rails = 2;
	if (case_open(&c)) {
		(void)send_mb(&c, 0, 1, 0, 0);
		(void)set_rail(&c, 0, 0, false);
		(void)set_rail(&c, 1, 0, false);
		(void)set_rail(&c, 0, 1, false);
		(void)case_wait(&c, TRANSPORT_LOST, -1, 4);
		case_settle(&c);
		tap_is_int(case_count(&c, TRANSPORT_LOST, -1), 4,
		           "%s: both RNICs and then the last rail: every end is lost once",
		           transport_variant_text(variant));
		tap_is_int(send_mb(&c, 0, 1, 1, 1), -ENETDOWN, "no rail is left");
	}
	case_fini(&c);
}

/* Ten times down and up with messages on it: what is not ACKED is sent again, and all arrive. */
static void test_flaps(const struct transport_variant *variant)
{
	enum { FLAPS = 10, EACH = 5 };
	bool has_arrived[FLAPS * EACH] = {false};
	struct transport_case c;
	int n_arrived = 0, n_stale = 0;

	case_init(&c, variant, 2);
	if (!case_open(&c)) {
		case_fini(&c);
		return;
	}
	for (int flap = 0; flap < FLAPS; flap++) {
		bool is_acked[FLAPS * EACH] = {false};

		c.n_log = 0;
		for (int i = 0; i < EACH; i++)
			(void)send_mb(&c, 0, 1, 0, flap * EACH + i);
		for (int i = 0; i < flap; i++)
			case_poll(&c);
		(void)set_rail(&c, flap % 2, 0, false);
		(void)case_wait(&c, TRANSPORT_LOST, -1, 2);
		(void)set_rail(&c, flap % 2, 0, true);
		if (!case_connect(&c))
			break;
		for (size_t i = 0; i < c.n_log; i++)
			if (c.log[i].event.kind == TRANSPORT_ACKED)
				is_acked[c.log[i].event.message.microbatch] = true;
		for (int i = flap * EACH; i < (flap + 1) * EACH; i++)
			if (!is_acked[i])
				(void)send_mb(&c, 0, 1, 0, i);
		(void)case_wait(&c, TRANSPORT_ACKED, 0, EACH);
		for (size_t i = 0; i < c.n_log; i++)
			if (c.log[i].event.kind == TRANSPORT_RECEIVED)
				has_arrived[c.log[i].event.message.microbatch] = true;
		n_stale += case_count(&c, TRANSPORT_ACKED, 0) != EACH;
	}
	for (int i = 0; i < FLAPS * EACH; i++)
		n_arrived += has_arrived[i];
	tap_is_int(n_arrived, FLAPS * EACH,
	           "%s: over ten flaps, what was not acknowledged is sent again and all arrives",
	           transport_variant_text(variant));
	tap_is_int(n_stale, 0, "and every message is acknowledged once");
	case_fini(&c);
}

/* Told that a stage of another worker has lost its RNIC. */
static void test_told_of_another(void)
{
	static const struct transport_variant variant = {"tcp", false, 2, false};
	struct transport_case c;

	case_init(&c, &variant, 2);
	if (case_open(&c)) {
		(void)c.workers[0]->ops->set_rail(c.workers[0], 1, 0, false, NULL);
		tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1) && case_wait(&c, TRANSPORT_LOST, 1, 1),
		       "a worker told of its neighbour's RNIC closes its own ends");
		tap_is_int(lost_of(&c, 0, 1) ? lost_of(&c, 0, 1)->reason : 0, -ENETDOWN,
		           "and says so");
	}
	case_fini(&c);
}

static void test_peer_closes(bool is_shaped)
{
	struct transport_variant variant = {"tcp", is_shaped, 2, false};
	struct transport_case c;

	case_init(&c, &variant, 2);
	if (case_open(&c)) {
		(void)send_mb(&c, 1, 0, 0, 0);
		(void)case_wait(&c, TRANSPORT_SENT, 1, 1);
		transport_close(c.workers[1]);
		c.workers[1] = NULL;
		c.variant.n_workers = 1;
		/* Written to a socket that nobody reads: no signal may come of it. */
		(void)send_mb(&c, 0, 1, 0, 1);
		(void)send_mb(&c, 0, 1, 0, 2);
		tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1), "a worker that closes is lost");
		tap_is_int(case_count(&c, TRANSPORT_RECEIVED, 0), 1,
		           "what it sent before is received");
		tap_contains(lost_of(&c, 0, 1)->sentence, "stage 0 lost rail 0 to stage 1",
		             "the sentence names both stages and the rail");
	}
	case_fini(&c);
}

/* A worker in a process of its own that neither reads nor answers once it is connected. It tells
 * where it listens, and when it is connected. */
static _Noreturn void be_mute(struct transport_case *c, int out)
{
	bool has_held =
		case_open_worker(c, 1) &&
		write(out, &c->addresses[1], sizeof(c->addresses[1])) == sizeof(c->addresses[1]) &&
		c->workers[1]->ops->connect(c->workers[1], c->addresses, 10LL * NS_PER_S, NULL) ==
			0;

	if (!has_held || write(out, "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* Worker 1 is mute, worker 0 connected with it. */
static pid_t open_with_mute(struct transport_case *c, bool is_shaped, int64_t silence_ns)
{
	struct transport_variant variant = {"tcp", is_shaped, 2, false};
	char byte;
	int ready[2];
	pid_t child;

	case_init(c, &variant, 2);
	if (pipe(ready))
		abort();
	c->config.silence_ns = silence_ns;
	c->config.max_bytes = 64 << 20;
	child = child_start();
	if (child == 0)
		be_mute(c, ready[1]);
	(void)close(ready[1]);
	if (!case_open_worker(c, 0) ||
	    !child_read(ready[0], &c->addresses[1], sizeof(c->addresses[1])))
		tap_ok(false, "a worker in another process opens");
	c->variant.n_workers = 1;
	if (!case_connect(c) || !child_read(ready[0], &byte, 1))
		tap_ok(false, "a worker in another process connects");
	(void)close(ready[0]);
	return child;
}

static void test_peer_killed(void)
{
	struct transport_case c;
	int64_t killed_ns;
	pid_t child;

	child = open_with_mute(&c, false, 0);
	(void)send_mb(&c, 0, 1, 0, 0);
	case_poll(&c);
	killed_ns = clock_monotonic_ns();
	child_kill(child);
	tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1) &&
	               clock_monotonic_ns() - killed_ns < 2LL * NS_PER_S,
	       "a worker that is killed is lost soon");
	case_fini(&c);
}

/* large: the socket fills up and half of the message never leaves. */
static void test_silence(bool is_shaped, bool is_large)
{
	const int64_t silence_ns = 200 * NS_PER_MS;
	char *large = calloc(1, 64 << 20);
	struct transport_case c;
	int64_t start_ns, ns;
	pid_t child;

	child = open_with_mute(&c, is_shaped, silence_ns);
	start_ns = clock_monotonic_ns();
	if (is_large) {
		struct message message = case_message(&c, 0, 1, 0, 64 << 20);

		(void)case_send(&c, &message, large);
	} else {
		(void)send_mb(&c, 0, 1, 0, 0);
	}
	case_settle(&c);
	tap_ok(transport_next_ns(c.workers[0]) < start_ns + 2 * silence_ns,
	       "who waits for the next moment looks in time");
	tap_ok(case_wait(&c, TRANSPORT_LOST, 0, 1), "%ssilence of a %s message ends in a loss",
	       is_shaped ? "shaped: " : "", is_large ? "large" : "small");
	ns = clock_monotonic_ns() - start_ns;
	tap_ok(ns >= silence_ns && ns < 5LL * NS_PER_S,
	       "after the time allowed (%lld ms), not before", (long long)(ns / NS_PER_MS));
	tap_is_int(lost_of(&c, 0, 1) ? lost_of(&c, 0, 1)->reason : 0, -ETIMEDOUT, "as silence");
	child_kill(child);
	free(large);
	case_fini(&c);
}

/* Idle is not silent, nor is a message that is held longer than the time allowed. */
static void test_no_false_silence(void)
{
	static const struct transport_variant variant = {"tcp", true, 2, false};
	const struct shape slow = {.latency_ns = 2000};
	struct transport_case c;

	case_init(&c, &variant, 2);
	c.config.silence_ns = 500;
	case_use_virtual_clock(&c);
	if (case_open(&c)) {
		(void)shaped_set(c.workers[0], 0, 1, &slow, NULL);
		for (c.now_ns = 1; c.now_ns < 2000; c.now_ns += 100)
			case_poll(&c);
		(void)send_mb(&c, 0, 1, 0, 0);
		case_settle(&c);
		for (; c.now_ns < 4300; c.now_ns += 100) {
			case_poll(&c);
			case_poll(&c);
		}
		tap_ok(case_count(&c, TRANSPORT_ACKED, 0) == 1 &&
		               case_count(&c, TRANSPORT_LOST, -1) == 0,
		       "neither an idle rail nor a held message is silence");
	}
	case_fini(&c);
}

/* A message that is held when its rail dies never arrives, so it is not acknowledged either: with a
 * wrapper, and without one, where the sender would show an acknowledgement at once. */
static void test_held_is_lost(const struct transport_variant *variant)
{
	const struct shape slow = {.latency_ns = 500};
	struct transport_case c;
	struct message message;

	case_init(&c, variant, 2);
	c.config.n_rails = 2;
	case_use_virtual_clock(&c);
	if (case_open(&c)) {
		message = case_message(&c, 0, 1, 0, BYTES);
		if (variant->is_shaped)
			(void)shaped_set(case_worker(&c, 0), 0, 1, &slow, NULL);
		else
			message.due_ns = 500;
		(void)case_send(&c, &message, payload);
		case_settle(&c);
		c.now_ns = 499;
		case_settle(&c);
		(void)set_rail(&c, 1, 0, false);
		(void)case_wait(&c, TRANSPORT_LOST, -1, 2);
		c.now_ns = 2000;
		case_settle(&c);
		tap_is_int(case_count(&c, TRANSPORT_RECEIVED, 1), 0,
		           "%s: a message that was held is lost with its rail",
		           transport_variant_text(variant));
		tap_is_int(case_count(&c, TRANSPORT_ACKED, 0), 0, "and was not acknowledged");
		message.rail = 1;
		message.due_ns = 0;
		(void)case_send(&c, &message, payload);
		c.now_ns = 5000;
		tap_ok(case_wait(&c, TRANSPORT_ACKED, 0, 1) &&
		               case_count(&c, TRANSPORT_RECEIVED, 1) == 1,
		       "sent again on the other rail it arrives");
	}
	case_fini(&c);
}

int main(void)
{
	for (const struct transport_variant *v = transport_variants(); v->name; v++) {
		test_rail_dies(v);
		test_both_ends(v);
		test_flaps(v);
		test_held_is_lost(v);
	}
	test_told_of_another();
	test_peer_closes(false);
	test_peer_closes(true);
	test_peer_killed();
	test_silence(false, false);
	test_silence(false, true);
	test_silence(true, false);
	test_no_false_silence();
	return tap_done();
}
