/* transport_inbox.c - events are shown at their moments, in order, and not at all once lost. */
#include "engine/base/rng.h"
#include "engine/transport/transport_internal.h"
#include "tests/tap.h"

static bool add(struct inbox *inbox, int mb, int64_t now_ns, int64_t moment_ns)
{
	struct transport_event event = {
		.kind = TRANSPORT_RECEIVED,
		.message = {.microbatch = mb, .from_stage = 0, .to_stage = 1},
		.arrived_ns = now_ns,
	};

	return inbox_add(inbox, &event, moment_ns, (uint64_t)mb);
}

static int take(struct inbox *inbox, int64_t *at_ns)
{
	struct transport_event event;

	if (inbox_take(inbox, &event, 1) == 0)
		return -1;
	*at_ns = event.at_ns;
	return event.message.microbatch;
}

static void test_order(void)
{
	struct inbox inbox = {0};
	struct inbox_item item;
	int64_t at_ns;

	tap_ok(!add(&inbox, 1, 5, 10), "what is not due is held");
	tap_is_int(inbox_next_ns(&inbox), 10, "until its moment");
	tap_ok(!inbox_pop_due(&inbox, 9, &item), "and not shown before");
	tap_ok(!add(&inbox, 2, 20, 15), "what comes later and is due waits for what is due before");
	tap_ok(inbox_pop_due(&inbox, 20, &item) && item.token == 1, "the first is popped first");
	tap_ok(inbox_pop_due(&inbox, 20, &item) && item.token == 2, "then the second");
	tap_ok(add(&inbox, 3, 21, 0), "with nothing held it is ready at once");
	tap_is_int(inbox_next_ns(&inbox), 0, "something is ready");
	tap_ok(take(&inbox, &at_ns) == 1 && at_ns == 10, "the first, at its moment");
	tap_ok(take(&inbox, &at_ns) == 2 && at_ns == 20, "the second, when it came");
	tap_ok(take(&inbox, &at_ns) == 3 && at_ns == 21, "the third");
	tap_is_int(inbox_next_ns(&inbox), INT64_MAX, "then nothing is left");
	inbox_fini(&inbox);
}

/* Random moments; popped in their order, ties in the order of arrival. */
static void test_many(void)
{
	enum { N = 2000 };
	struct inbox inbox = {0};
	struct inbox_item item;
	int64_t last_ns = 0;
	uint64_t last_token = 0;
	int n = 0, n_wrong = 0;

	for (int i = 0; i < N; i++)
		(void)add(&inbox, i, 0, 1 + (int64_t)(rng_mix(3, (uint64_t)i) % 300));
	for (; inbox_pop_due(&inbox, 1000, &item); n++) {
		n_wrong += item.moment_ns < last_ns ||
		           (item.moment_ns == last_ns && item.token < last_token);
		last_ns = item.moment_ns;
		last_token = item.token;
	}
	tap_ok(n == N && n_wrong == 0, "many are popped in order (%d of %d, %d wrong)", n, N,
	       n_wrong);
	inbox_fini(&inbox);
}

static void test_loss(void)
{
	struct inbox inbox = {0};
	struct pool pool = {0};
	struct transport_event other = {
		.kind = TRANSPORT_ACKED,
		.message = {.from_stage = 0, .to_stage = 1},
	};
	struct inbox_item item;
	int n = 0;

	for (int i = 0; i < 9; i++)
		(void)add(&inbox, i, 0, 50 - i);
	(void)inbox_add(&inbox, &other, 60, 100);
	inbox_lose(&inbox, &pool, 1, 2, 0);
	inbox_lose(&inbox, &pool, 1, 0, 1);
	tap_is_int((int64_t)inbox.n_held, 10, "another neighbour or rail is not touched");
	inbox_lose(&inbox, &pool, 1, 0, 0);
	while (inbox_pop_due(&inbox, 100, &item))
		n += item.token == 100 ? 1 : 10;
	tap_is_int(n, 1, "a stage loses what it was to receive, not what its neighbour is told");
	inbox_fini(&inbox);
	pool_fini(&pool);
}

static void test_pool(void)
{
	struct pool pool = {0};
	void *a = pool_take(&pool, 5000), *b = pool_take(&pool, 5000), *c;

	tap_ok(a && b && a != b && (uintptr_t)a % 64 == 0, "buffers are apart and aligned");
	pool_give(&pool, a);
	c = pool_take(&pool, 8192);
	tap_ok(c == a, "a buffer is used again for what fits it");
	pool_give(&pool, NULL);
	pool_fini(&pool);
}

int main(void)
{
	test_order();
	test_many();
	test_loss();
	test_pool();
	return tap_done();
}
