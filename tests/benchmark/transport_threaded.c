/* transport_threaded.c - measures what a message costs the worker's own thread, with and without a
 * thread for the transport: send(), and a poll() that finds nothing. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/transport/threaded.h"

enum { N_SENDS = 400, N_POLLS = 4000, BATCH = 16, LARGEST = 512 << 10 };

struct pair {
	struct transport *transport; /* both stages */
	char *payload;
};

static void fail(const char *what, const struct err *err)
{
	fprintf(stderr, "transport_threaded: %s: %s\n", what, err->text);
	exit(1);
}

static void pair_open(struct pair *pair, bool is_threaded)
{
	static const bool is_local[] = {true, true};
	const struct transport_config config = {.run = 1,
	                                        .n_stages = 2,
	                                        .is_local = is_local,
	                                        .n_rails = 1,
	                                        .n_queues = 1,
	                                        .max_bytes = LARGEST};
	struct transport_address addresses[2];
	const struct transport_ops *ops;
	struct transport *inner;
	struct err err = {0};

	pair->payload = calloc(1, LARGEST);
	if (!pair->payload || transport_find("tcp", &ops, &err) ||
	    ops->open(&config, addresses, &inner, &err))
		fail("open", &err);
	pair->transport = inner;
	if (is_threaded && threaded_wrap(inner, &config, &pair->transport, &err))
		fail("a thread", &err);
	if (transport_connect(pair->transport, addresses, 10000000000, &err))
		fail("connect", &err);
}

static void pair_close(struct pair *pair)
{
	transport_close(pair->transport);
	free(pair->payload);
}

static void await_ack(const struct pair *pair)
{
	struct transport_event events[BATCH];
	struct err err = {0};
	bool is_acked = false;
	size_t n;

	while (!is_acked) {
		if (transport_poll(pair->transport, events, BATCH, &n, &err))
			fail("poll", &err);
		for (size_t i = 0; i < n; i++) {
			is_acked |= events[i].kind == TRANSPORT_ACKED;
			if (events[i].kind == TRANSPORT_RECEIVED)
				transport_release(pair->transport, events[i].payload);
		}
		if (n == 0)
			(void)sched_yield();
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static int64_t send_ns(const struct pair *pair, int64_t n_bytes)
{
	int64_t ns[N_SENDS];

	for (int i = 0; i < N_SENDS; i++) {
		const struct message message = {
			.run = 1, .to_stage = 1, .microbatch = i, .n_bytes = n_bytes};
		int64_t start_ns = clock_monotonic_ns();
		struct err err = {0};

		if (transport_send(pair->transport, &message, pair->payload, &err))
			fail("send", &err);
		ns[i] = clock_monotonic_ns() - start_ns;
		await_ack(pair);
	}
	return median(ns, N_SENDS);
}

static int64_t poll_ns(const struct pair *pair)
{
	struct transport_event events[BATCH];
	int64_t ns[N_POLLS];
	struct err err = {0};
	size_t n;

	for (int i = 0; i < N_POLLS; i++) {
		int64_t start_ns = clock_monotonic_ns();

		if (transport_poll(pair->transport, events, BATCH, &n, &err))
			fail("poll", &err);
		ns[i] = clock_monotonic_ns() - start_ns;
	}
	return median(ns, N_POLLS);
}

int main(void)
{
	for (int is_threaded = 0; is_threaded <= 1; is_threaded++) {
		const char *name = is_threaded ? "threaded(tcp)" : "tcp";
		struct pair pair;

		pair_open(&pair, is_threaded);
		for (int64_t n_bytes = 8 << 10; n_bytes <= LARGEST; n_bytes *= 8)
			printf("%-14s send() of %3lld KiB       %8lld ns of the worker's thread\n",
			       name, (long long)(n_bytes >> 10),
			       (long long)send_ns(&pair, n_bytes));
		printf("%-14s poll() that finds nothing %6lld ns\n", name,
		       (long long)poll_ns(&pair));
		pair_close(&pair);
	}
	return 0;
}
