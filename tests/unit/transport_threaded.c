/* transport_threaded.c - tests the thread of a threaded transport, and the rings between it and the
 * worker: full ones, errors of the transport inside, signals, the end. What it promises as a
 * transport is held by the contract tests. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/transport/ring_internal.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_RING = 8, N_ITEMS = 200000, N_MANY = 3000 };

static const struct transport_variant threaded_tcp = {"tcp", false, 2, true};

static void test_ring_alone(void)
{
	struct ring ring;
	int item = 0, n_wrong = 0;

	if (!ring_init(&ring, N_RING, sizeof(item)))
		abort();
	for (int round = 0; round < 5; round++) {
		n_wrong += !ring_is_empty(&ring) || ring_take(&ring, &item);
		for (int i = 0; i < N_RING; i++)
			n_wrong += !ring_put(&ring, &i);
		item = -1;
		n_wrong += ring_put(&ring, &item) || ring_room(&ring) != 0;
		for (int i = 0; i < N_RING - round; i++)
			n_wrong += !ring_take(&ring, &item) || item != i;
		while (ring_take(&ring, &item))
			;
		n_wrong += item != N_RING - 1;
	}
	tap_is_int(n_wrong, 0, "a ring takes as many items as it has room for, in order");
	ring_fini(&ring);
}

static void *put_items(void *argument)
{
	for (int i = 0; i < N_ITEMS; i++)
		while (!ring_put(argument, &i))
			(void)sched_yield();
	return NULL;
}

static void test_ring_between_threads(void)
{
	int item, n_taken = 0, n_wrong = 0;
	struct ring ring;
	pthread_t thread;

	if (!ring_init(&ring, N_RING, sizeof(item)) ||
	    pthread_create(&thread, NULL, put_items, &ring))
		abort();
	while (n_taken < N_ITEMS) {
		if (!ring_take(&ring, &item))
			(void)sched_yield();
		else
			n_wrong += item != n_taken++;
	}
	(void)pthread_join(thread, NULL);
	tap_is_int(n_wrong, 0, "a ring between two threads loses and changes nothing");
	ring_fini(&ring);
}

/* Are the first n RECEIVED of the log microbatches 0 to n - 1? */
static int n_out_of_order(const struct transport_case *c, int n)
{
	int n_received = 0, n_wrong = 0;

	for (size_t i = 0; i < c->n_log && n_received < n; i++)
		if (c->log[i].event.kind == TRANSPORT_RECEIVED)
			n_wrong += c->log[i].event.message.microbatch != n_received++ ||
			           !c->log[i].is_intact;
	return n_wrong + n - n_received;
}

/* More messages than either ring holds, of which neither side takes any for a while. The sender's
 * rail dies last, with a call that waits for its end. */
static void test_full_rings(bool dies)
{
	struct transport_case c;
	char payload[16];
	int n_refused = 0;

	case_init(&c, &threaded_tcp, 2);
	if (case_open(&c)) {
		struct message message = case_message(&c, 0, 1, 0, 0);

		for (message.microbatch = 0; message.microbatch < N_MANY; message.microbatch++)
			n_refused += transport_send(c.workers[0], &message, payload, NULL) != 0;
		tap_is_int(n_refused, 0, "%d messages in a row are taken", N_MANY);
		for (int n = 0; n < N_MANY / 2; n = case_count(&c, TRANSPORT_ACKED, 0))
			case_poll_worker(&c, 0);
		if (dies)
			tap_is_int(transport_set_rail(c.workers[1], 1, 0, false, NULL), 0,
			           "a call ends although its events find no room");
		else
			(void)case_wait(&c, TRANSPORT_ACKED, 0, N_MANY);
		if (dies)
			(void)case_wait(&c, TRANSPORT_LOST, -1, 2);
		else
			(void)case_wait(&c, TRANSPORT_RECEIVED, 1, N_MANY);
		tap_is_int(n_out_of_order(&c, case_count(&c, TRANSPORT_RECEIVED, 1)), 0,
		           "what came is told in order");
		tap_ok(case_count(&c, TRANSPORT_RECEIVED, 1) >= case_count(&c, TRANSPORT_ACKED, 0),
		       "and was told if it was acknowledged");
		tap_ok(dies || case_count(&c, TRANSPORT_RECEIVED, 1) == N_MANY, "nothing is lost");
		tap_is_int(transport_send(c.workers[0], &message, payload, NULL),
		           dies ? -ENETDOWN : 0, "a dead rail takes nothing any more");
	}
	case_fini(&c);
}

/* Between a call and the next poll nothing is missing: what it caused can be polled at once. */
static void test_events_of_a_call(void)
{
	static const struct transport_variant variant = {"loopback", false, 1, true};
	struct transport_case c;
	int n_missing = 0;

	case_init(&c, &variant, 2);
	for (int i = 0; i < 50 && case_open(&c); i++) {
		(void)transport_set_rail(c.workers[0], 0, 0, false, NULL);
		case_poll(&c);
		n_missing += case_count(&c, TRANSPORT_LOST, -1) != 2;
		transport_close(c.workers[0]);
		c.n_log = 0;
	}
	c.variant.n_workers = 0;
	tap_is_int(n_missing, 0, "both ends are LOST when set_rail() returns");
	case_fini(&c);
}

/* A transport that fails when it is told to. */
static const struct transport_ops *loopback;
static int fails_send, fails_poll;

static int failing_send(struct transport *transport, const struct message *message,
                        const void *payload, struct err *err)
{
	if (__atomic_load_n(&fails_send, __ATOMIC_RELAXED))
		return err_set(err, -ENOMEM, "no memory to send");
	return loopback->send(transport, message, payload, err);
}

static int failing_poll(struct transport *transport, struct transport_event *events, size_t n,
                        size_t *n_out, struct err *err)
{
	if (__atomic_load_n(&fails_poll, __ATOMIC_RELAXED))
		return err_set(err, -ENOMEM, "no memory to poll");
	return loopback->poll(transport, events, n, n_out, err);
}

static bool open_failing(struct transport_case *c)
{
	static const struct transport_variant variant = {"loopback", false, 1, true};
	static const bool is_local[] = {true, true};
	static struct transport_ops failing;
	struct transport *inner;

	case_init(c, &variant, 2);
	c->config.is_local = is_local;
	if (transport_find("loopback", &loopback, NULL) ||
	    loopback->open(&c->config, c->addresses, &inner, NULL))
		return false;
	failing = *loopback;
	failing.send = failing_send;
	failing.poll = failing_poll;
	inner->ops = &failing;
	return threaded_wrap(inner, &c->config, &c->workers[0], NULL) == 0 && case_connect(c);
}

static int poll_until_it_fails(struct transport_case *c, int *n_events, struct err *err)
{
	struct transport_event event;
	int rc = 0;
	size_t n;

	while (rc == 0) {
		rc = transport_poll(c->workers[0], &event, 1, &n, err);
		*n_events += rc == 0 && n == 1;
		(void)sched_yield();
	}
	return rc;
}

static void test_failure(int *switched, const char *want)
{
	struct err err = {0};
	struct transport_case c;
	int n_events = 0;

	if (open_failing(&c)) {
		struct message message = case_message(&c, 0, 1, 0, 0);

		for (int i = 0; i < 10; i++)
			(void)case_send(&c, &message, NULL);
		(void)case_wait(&c, TRANSPORT_ACKED, 0, 10);
		__atomic_store_n(switched, 1, __ATOMIC_RELAXED);
		(void)case_send(&c, &message, NULL);
		tap_is_int(poll_until_it_fails(&c, &n_events, &err), -ENOMEM,
		           "what the transport inside fails with ends this one");
		tap_contains(err.text, want, "with its reason");
		tap_ok(n_events <= 3, "and nothing is told twice");
		(void)case_send(&c, &message, NULL);
		tap_is_int(poll_until_it_fails(&c, &n_events, &err), -ENOMEM, "for good");
	}
	case_fini(&c);
	*switched = 0;
}

/* A first message is refused by the transport inside itself. */
static void test_first_message(void)
{
	struct transport_case c;
	struct err err = {0};

	if (open_failing(&c)) {
		struct message message = case_message(&c, 0, 1, 0, 0);

		fails_send = 1;
		tap_is_int(transport_send(c.workers[0], &message, NULL, &err), -ENOMEM,
		           "the first message is refused by the transport inside");
		tap_contains(err.text, "no memory to send", "with its reason");
		fails_send = 0;
		tap_is_int(transport_send(c.workers[0], &message, NULL, &err), 0,
		           "and may be sent again");
		tap_ok(case_wait(&c, TRANSPORT_ACKED, 0, 1), "which arrives");
	}
	case_fini(&c);
}

/* Threads of this process; *n_deaf: of them, those named delegates that block every signal that can
 * be blocked. */
static int count_threads(int *n_deaf)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	*n_deaf = 0;
	while (dir && (entry = readdir(dir))) {
		char path[300], line[200];
		bool is_delegate = false;
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		n++;
		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			unsigned long long blocked;

			is_delegate |= strcmp(line, "Name:\tdelegates\n") == 0;
			/* The C library keeps two for itself, and two cannot be blocked. */
			if (is_delegate && sscanf(line, "SigBlk: %llx", &blocked) == 1)
				*n_deaf += (blocked | 0x180040100) == ~0ULL;
		}
		if (file)
			(void)fclose(file);
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

static void test_thread(void)
{
	struct transport_case c;
	int n_deaf, n_before = count_threads(&n_deaf);

	case_init(&c, &threaded_tcp, 2);
	if (case_open(&c)) {
		tap_is_int(count_threads(&n_deaf), n_before + 2, "each worker has one thread more");
		tap_is_int(n_deaf, 2, "which leaves signals to it");
	}
	case_fini(&c);
	tap_is_int(count_threads(&n_deaf), n_before, "and goes with it");
}

static void test_not_opened(void)
{
	static const bool is_local[] = {true, true};
	struct transport_config config = {
		.n_stages = 2, .is_local = is_local, .n_rails = 1, .n_queues = 1};
	struct transport_address addresses[2];
	struct transport *inner, *threaded, *other;
	struct err err = {0};

	(void)transport_find("loopback", &loopback, &err);
	if (loopback->open(&config, addresses, &inner, &err) ||
	    threaded_wrap(inner, &config, &threaded, &err))
		abort();
	tap_is_int(threaded->ops->open(&config, addresses, &other, &err), -EINVAL,
	           "threaded cannot be opened by itself");
	transport_close(threaded);
}

int main(void)
{
	test_ring_alone();
	test_ring_between_threads();
	test_full_rings(false);
	test_full_rings(true);
	test_events_of_a_call();
	test_failure(&fails_send, "no memory to send");
	test_failure(&fails_poll, "no memory to poll");
	test_first_message();
	test_thread();
	test_not_opened();
	return tap_done();
}
