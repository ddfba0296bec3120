/* transport_contract.c - what every transport promises while nothing fails. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

static void test_list(void)
{
	const struct transport_ops *found;
	struct err err = {0};

	for (const struct transport_ops *const *ops = transport_list(); *ops; ops++) {
		const struct transport_ops *t = *ops;

		tap_ok(t->open && t->connect && t->send && t->poll && t->release && t->set_rail &&
		               t->close,
		       "%s has every function", t->name);
		tap_ok(transport_find(t->name, &found, &err) == 0 && found == t,
		       "%s is found by its name", t->name);
	}
	tap_is_int(transport_find("tpc", &found, &err), -ENOENT, "an unknown name is refused");
	tap_contains(err.text, "did you mean 'tcp'", "the nearest name is offered");
}

static void check_shaped_is_whole(void)
{
	struct transport_variant variant = {"loopback", true, 1, false};
	struct transport_case c;

	case_init(&c, &variant, 2);
	if (case_open(&c)) {
		const struct transport_ops *t = c.workers[0]->ops;
		struct err err = {0};

		tap_ok(t->open && t->connect && t->send && t->poll && t->release && t->set_rail &&
		               t->close,
		       "shaped has every function");
		tap_is_int(t->open(&c.config, c.addresses, &c.workers[1], &err), -EINVAL,
		           "shaped cannot be opened by itself");
	}
	case_fini(&c);
}

/* One message there and one back, of a size. */
static void exchange(struct transport_case *c, int64_t n_bytes)
{
	struct message there = case_message(c, 0, 1, 3, n_bytes);
	struct message back = case_message(c, 1, 0, 3, n_bytes);
	void *payloads[] = {malloc((size_t)n_bytes + 1), malloc((size_t)n_bytes + 1)};
	const struct case_event *got = NULL;
	bool is_whole;

	case_payload(&there, payloads[0]);
	case_payload(&back, payloads[1]);
	c->n_log = 0;
	is_whole = case_send(c, &there, payloads[0]) == 0 &&
	           case_send(c, &back, n_bytes > 0 ? payloads[1] : NULL) == 0 &&
	           case_wait(c, TRANSPORT_ACKED, 0, 1) && case_wait(c, TRANSPORT_ACKED, 1, 1) &&
	           case_wait(c, TRANSPORT_RECEIVED, -1, 2) &&
	           case_count(c, TRANSPORT_SENT, -1) == 2 && c->n_log == 6;
	for (size_t i = 0; i < c->n_log; i++) {
		is_whole = is_whole && c->log[i].is_intact;
		if (c->log[i].event.kind == TRANSPORT_RECEIVED &&
		    c->log[i].event.message.to_stage == 1)
			got = &c->log[i];
	}
	is_whole = is_whole && got && got->event.message.n_bytes == n_bytes &&
	           got->event.message.microbatch == 3 && got->event.message.iteration == 5 &&
	           got->event.message.attempt == 1 && got->event.message.kind == OP_F &&
	           got->event.message.sent_ns <= got->event.at_ns;
	tap_ok(is_whole, "%s: %lld bytes arrive as they were sent, there and back",
	       transport_variant_text(&c->variant), (long long)n_bytes);
	free(payloads[0]);
	free(payloads[1]);
}

static void test_sizes(const struct transport_variant *variant)
{
	static const int64_t sizes[] = {0,     1,     17,     4095,   4096,
	                                65535, 65536, 131073, 262144, 1 << 20};
	/* Once will do where the network is a slow one. */
	bool is_large = !variant->is_shaped &&
	                (variant->n_workers == 2 || strcmp(case_network(), "tcp") == 0);
	struct transport_case c;

	case_init(&c, variant, 2);
	c.config.max_bytes = 64 << 20;
	if (case_open(&c)) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			exchange(&c, sizes[i]);
		if (is_large)
			exchange(&c, 64 << 20);
		/* On a network that loses nothing it may be 0. */
		tap_is_int(transport_count_resent(c.workers[0], 0, 1) >= 0,
		           strncmp(variant->name, "tcp", 3) == 0 &&
		                   strcmp(case_network(), "tcp") == 0,
		           "%s: what TCP sent again is counted, where it is TCP",
		           transport_variant_text(&c.variant));
	}
	case_fini(&c);
}

enum { N_MESSAGES = 600, N_SLOTS = 8, SLOT_BYTES = 90000, N_QUEUES = 3, N_RAILS = 2, N_STAGES = 4 };

/* A sender's buffer; free again when ACKED, and then overwritten by the next message. */
struct slot {
	bool is_used;
	struct message message;
	uint8_t *payload;
};

struct traffic {
	struct transport_case *c;
	struct slot slots[N_SLOTS];
	int n_sent;
	size_t n_read;                                   /* of the log */
	int next[N_STAGES][N_STAGES][N_RAILS][N_QUEUES]; /* index of the last sent plus one */
	int expected[N_STAGES][N_STAGES][N_RAILS][N_QUEUES];
	int n_wrong;
};

static void send_one(struct traffic *t, struct slot *slot)
{
	uint64_t bits = rng_mix(11, (uint64_t)t->n_sent);
	int from = (int)(bits % N_STAGES), to = (bits >> 8) % 2 ? from + 1 : from - 1;
	int rail = (int)((bits >> 16) % N_RAILS), queue = (int)((bits >> 24) % N_QUEUES);
	int64_t n_bytes = (bits >> 32) % 8 == 0 ? SLOT_BYTES : (int64_t)((bits >> 40) % 5000);

	if (to < 0 || to >= N_STAGES)
		to = from == 0 ? 1 : from - 1;
	slot->message = case_message(t->c, from, to, t->next[from][to][rail][queue]++, n_bytes);
	slot->message.rail = rail;
	slot->message.queue = queue;
	case_payload(&slot->message, slot->payload);
	slot->is_used = true;
	t->n_sent++;
	t->n_wrong += case_send(t->c, &slot->message, slot->payload) != 0;
}

static bool is_same(const struct message *a, const struct message *b)
{
	return a->from_stage == b->from_stage && a->to_stage == b->to_stage &&
	       a->microbatch == b->microbatch && a->rail == b->rail && a->queue == b->queue;
}

static void free_slot(struct traffic *t, const struct message *message)
{
	for (int i = 0; i < N_SLOTS; i++)
		if (t->slots[i].is_used && is_same(&t->slots[i].message, message)) {
			t->slots[i].is_used = false;
			memset(t->slots[i].payload, 0xee, SLOT_BYTES);
			return;
		}
	t->n_wrong++;
}

static void read_log(struct traffic *t)
{
	for (; t->n_read < t->c->n_log; t->n_read++) {
		const struct case_event *logged = &t->c->log[t->n_read];
		const struct message *m = &logged->event.message;

		t->n_wrong += !logged->is_intact;
		if (logged->event.kind == TRANSPORT_ACKED)
			free_slot(t, m);
		if (logged->event.kind == TRANSPORT_RECEIVED)
			t->n_wrong +=
				t->expected[m->from_stage][m->to_stage][m->rail][m->queue]++ !=
				m->microbatch;
	}
}

static void test_traffic(const struct transport_variant *variant)
{
	struct transport_case c;
	struct traffic t = {.c = &c};

	case_init(&c, variant, N_STAGES);
	c.config.n_queues = N_QUEUES;
	c.config.n_rails = N_RAILS;
	for (int i = 0; i < N_SLOTS; i++)
		t.slots[i].payload = malloc(SLOT_BYTES);
	if (case_open(&c)) {
		while (t.n_sent < N_MESSAGES) {
			for (int i = 0; i < N_SLOTS && t.n_sent < N_MESSAGES; i++)
				if (!t.slots[i].is_used)
					send_one(&t, &t.slots[i]);
			if (!case_wait(&c, TRANSPORT_ACKED, -1,
			               case_count(&c, TRANSPORT_ACKED, -1) + 1))
				break;
			read_log(&t);
		}
		(void)case_wait(&c, TRANSPORT_ACKED, -1, N_MESSAGES);
		(void)case_wait(&c, TRANSPORT_RECEIVED, -1, N_MESSAGES);
		read_log(&t);
		tap_is_int(t.n_wrong, 0, "%s: every message intact and in the order of its queue",
		           transport_variant_text(variant));
		tap_ok(case_count(&c, TRANSPORT_SENT, -1) == N_MESSAGES &&
		               case_count(&c, TRANSPORT_RECEIVED, -1) == N_MESSAGES &&
		               case_count(&c, TRANSPORT_ACKED, -1) == N_MESSAGES &&
		               c.n_log == 3 * N_MESSAGES,
		       "%s: each of %d messages is sent, received and acknowledged once",
		       transport_variant_text(variant), N_MESSAGES);
	}
	for (int i = 0; i < N_SLOTS; i++)
		free(t.slots[i].payload);
	case_fini(&c);
}

static void check_refusal(struct transport_case *c, struct message message, const void *payload,
                          int code, const char *text, const char *what)
{
	struct err err = {0};

	tap_is_int(transport_send(c->workers[0], &message, payload, &err), code,
	           "%s: %s is refused", transport_variant_text(&c->variant), what);
	tap_contains(err.text, text, "and told so");
}

static void test_refusals(const struct transport_variant *variant)
{
	struct transport_case c;
	struct message message;
	char payload[16] = {0};

	case_init(&c, variant, 4);
	c.config.max_bytes = 10;
	if (case_open_workers(&c)) {
		message = case_message(&c, 0, 1, 0, 10);
		check_refusal(&c, message, payload, -ENETDOWN, "stage 1", "a send before connect");
		(void)case_connect(&c);
		message.n_bytes = 11;
		check_refusal(&c, message, payload, -EMSGSIZE, "11 bytes", "too large a message");
		message.n_bytes = 1;
		check_refusal(&c, message, NULL, -EINVAL, "payload", "a missing payload");
		message.to_stage = 2;
		check_refusal(&c, message, payload, -EINVAL, "neighbour", "a stage further away");
		message.to_stage = -1;
		check_refusal(&c, message, payload, -EINVAL, "neighbour",
		              "a stage before the first");
		message = case_message(&c, 0, 1, 0, 1);
		message.rail = 1;
		check_refusal(&c, message, payload, -EINVAL, "rail 1", "a rail that is not there");
		message.rail = 0;
		message.queue = -1;
		check_refusal(&c, message, payload, -EINVAL, "queue -1",
		              "a queue that is not there");
		message.queue = 0;
		message.run = 1;
		check_refusal(&c, message, payload, -EINVAL, "run 1", "a message of another run");
		transport_release(c.workers[0], NULL);
		case_poll(&c);
		tap_is_int((int64_t)c.n_log, 0, "nothing came of all that");
		tap_ok(case_await_next(&c, 0, INT64_MAX), "nothing waits for time");
	}
	case_fini(&c);
}

static void check_config(struct transport_config config, const char *text)
{
	for (const struct transport_ops *const *ops = transport_list(); *ops; ops++) {
		struct transport_address addresses[4];
		struct transport *transport;
		struct err err = {0};

		tap_is_int((*ops)->open(&config, addresses, &transport, &err), -EINVAL,
		           "%s refuses %s", (*ops)->name, text);
		tap_contains(err.text, text, "and tells what it was");
	}
}

static void test_configs(void)
{
	static const bool is_local[4] = {true, true, true, true};
	const struct transport_config good = {
		.n_stages = 4, .is_local = is_local, .n_rails = 1, .n_queues = 1, .max_bytes = 1};
	struct transport_config config = good;

	config.n_stages = 0;
	check_config(config, "0 stages");
	config = good;
	config.n_rails = TRANSPORT_RAILS_MAX + 1;
	check_config(config, "17 rails");
	config = good;
	config.n_queues = 0;
	check_config(config, "0 queues");
	config = good;
	config.max_bytes = -1;
	check_config(config, "-1 bytes");
	config = good;
	config.silence_ns = -5;
	check_config(config, "-5 ns of silence");
}

/* Polled out one by one, messages lose nothing; a payload lives until it is released. */
static void test_small_polls(const struct transport_variant *variant)
{
	enum { N = 20, BYTES = 32 };
	char payloads[N][BYTES]; /* not to be changed before they are acknowledged */
	struct transport_case c;
	const int64_t end_ns = clock_monotonic_ns() + 20LL * NS_PER_S;
	int n_received = 0, n_wrong = 0;

	case_init(&c, variant, 2);
	if (!case_open(&c)) {
		case_fini(&c);
		return;
	}
	for (int mb = 0; mb < N; mb++) {
		struct message message = case_message(&c, 0, 1, mb, BYTES);
		char *payload = payloads[mb];

		case_payload(&message, payload);
		n_wrong += case_send(&c, &message, payload) != 0;
		while (n_received <= mb && clock_monotonic_ns() < end_ns) {
			struct transport_event event;
			struct err err = {0};
			size_t n = 0;

			n_wrong += transport_poll(c.workers[c.variant.n_workers - 1], &event, 1, &n,
			                          &err) != 0;
			if (n == 1 && event.kind == TRANSPORT_RECEIVED) {
				n_wrong += memcmp(event.payload, payload, BYTES) != 0;
				n_received++;
				/* Every other one is left to close(). */
				if (mb % 2)
					transport_release(c.workers[c.variant.n_workers - 1],
					                  event.payload);
			}
			if (c.variant.n_workers > 1)
				case_poll_worker(&c, 0);
		}
	}
	tap_is_int(n_received, 20, "%s: all messages come", transport_variant_text(variant));
	tap_is_int(n_wrong, 0, "%s: events can be taken one by one",
	           transport_variant_text(variant));
	case_fini(&c);
}

/* The only thing to be told between now and the moment is one event of the kind, at the moment. */
static void check_next(struct transport_case *c, int64_t moment_ns, enum transport_event_kind kind)
{
	c->n_log = 0;
	c->now_ns = moment_ns - 1;
	case_settle(c);
	tap_is_int((int64_t)c->n_log, 0, "nothing comes a moment too early");
	c->now_ns = moment_ns;
	(void)case_wait(c, kind, -1, 1);
	case_settle(c);
	tap_ok(c->n_log == 1 && c->log[0].event.kind == kind &&
	               c->log[0].event.at_ns == moment_ns &&
	               c->log[0].event.arrived_ns <= moment_ns,
	       "what is held is shown once, at its moment");
}

/* SENT, RECEIVED and ACKED wait for their moments, and say when they are due and really were. */
static void test_moments(const struct transport_variant *variant)
{
	struct transport_case c;
	struct message message;
	char payload[64];

	case_init(&c, variant, 2);
	case_use_virtual_clock(&c);
	if (variant->is_shaped || !case_open(&c)) {
		case_fini(&c);
		return;
	}
	message = case_message(&c, 0, 1, 0, sizeof(payload));
	message.done_ns = 20;
	message.due_ns = 30;
	message.acked_ns = 40;
	case_payload(&message, payload);
	(void)case_send(&c, &message, payload);
	case_settle(&c);
	tap_ok(c.n_log == 0, "%s: nothing is shown before its moment",
	       transport_variant_text(variant));
	tap_ok(case_await_next(&c, 0, 20), "the sender knows when something will be");
	if (c.variant.n_workers > 1)
		tap_ok(case_await_next(&c, 1, 30), "the receiver as well");
	check_next(&c, 20, TRANSPORT_SENT);
	check_next(&c, 30, TRANSPORT_RECEIVED);
	check_next(&c, 40, TRANSPORT_ACKED);
	case_fini(&c);
}

static void run_batch(struct transport_case *c, char *payload, int64_t n_bytes)
{
	for (int i = 0; i < 8; i++) {
		struct message message = case_message(c, i % 2, 1 - i % 2, 1, n_bytes);

		case_payload(&message, payload + i * n_bytes);
		if (case_send(c, &message, payload + i * n_bytes))
			tap_ok(false, "a message is taken");
	}
	if (!case_wait(c, TRANSPORT_ACKED, -1, 8))
		tap_ok(false, "messages are acknowledged");
	c->n_log = 0;
}

/* In a steady state nothing is allocated: the heap is the same after many messages. A burst may be
 * deeper than any before it, so a few buffers more are allowed; something a message is not. Where
 * threads have to wait for a core, there are fewer of them. */
static void test_steady(const struct transport_variant *variant)
{
	enum { BYTES = 100, ALLOWED = 32768 };
	int n_batches = variant->is_threaded ? 100 : 1000;
	char *payload = malloc((size_t)8 * BYTES);
	struct transport_case c;
	size_t before;

	case_init(&c, variant, 2);
	if (case_open(&c)) {
		for (int i = 0; i < n_batches / 10; i++)
			run_batch(&c, payload, BYTES);
		before = mallinfo2().uordblks;
		for (int i = 0; i < n_batches; i++)
			run_batch(&c, payload, BYTES);
		tap_ok(mallinfo2().uordblks <= before + ALLOWED,
		       "%s: a steady stream of messages needs no more memory",
		       transport_variant_text(variant));
	}
	free(payload);
	case_fini(&c);
}

/* Acknowledgements of small messages go out while a large one is half written, between messages and
 * not into the middle of one. */
static void test_acks_between(const struct transport_variant *variant)
{
	enum { LARGE = 16 << 20, N_SMALL = 20 };
	uint8_t *large = malloc(LARGE);
	struct transport_case c;
	char small[50];
	struct message message;
	bool is_intact = true;

	case_init(&c, variant, 2);
	c.config.max_bytes = LARGE;
	if (case_open(&c)) {
		message = case_message(&c, 1, 0, 0, LARGE);
		case_payload(&message, large);
		(void)case_send(&c, &message, large);
		for (int mb = 0; mb < N_SMALL; mb++) {
			message = case_message(&c, 0, 1, mb, sizeof(small));
			case_payload(&message, small);
			(void)case_send(&c, &message, small);
			(void)case_wait(&c, TRANSPORT_ACKED, 0, mb + 1);
		}
		(void)case_wait(&c, TRANSPORT_ACKED, 1, 1);
		for (size_t i = 0; i < c.n_log; i++)
			is_intact &= c.log[i].is_intact;
		tap_ok(is_intact && case_count(&c, TRANSPORT_RECEIVED, -1) == N_SMALL + 1,
		       "%s: small messages are acknowledged beside a large one",
		       transport_variant_text(variant));
	}
	free(large);
	case_fini(&c);
}

/* A pipeline of one stage has nobody to talk to, one of sixteen has many. */
static void test_ends_of_range(const struct transport_variant *variant)
{
	struct transport_case c;
	struct message message;
	char payload[8] = {0};

	case_init(&c, variant, 1);
	if (case_open(&c)) {
		case_poll(&c);
		tap_is_int((int64_t)c.n_log, 0, "%s: one stage has nobody to talk to",
		           transport_variant_text(&c.variant));
	}
	case_fini(&c);
	case_init(&c, variant, CASE_STAGES_MAX);
	c.config.n_rails = 2;
	c.config.n_queues = 6;
	if (case_open(&c)) {
		message = case_message(&c, CASE_STAGES_MAX - 1, CASE_STAGES_MAX - 2, 0, 8);
		message.rail = 1;
		message.queue = 5;
		(void)case_send(&c, &message, payload);
		tap_ok(case_wait(&c, TRANSPORT_ACKED, CASE_STAGES_MAX - 1, 1),
		       "%s: sixteen stages, two rails, six queues: the last connection works",
		       transport_variant_text(variant));
	}
	case_fini(&c);
}

int main(void)
{
	test_list();
	check_shaped_is_whole();
	test_configs();
	for (const struct transport_variant *v = transport_variants(); v->name; v++) {
		test_sizes(v);
		test_traffic(v);
		test_refusals(v);
		test_small_polls(v);
		test_steady(v);
		test_moments(v);
		test_acks_between(v);
		test_ends_of_range(v);
	}
	return tap_done();
}
