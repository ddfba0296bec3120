/* nccl_ending.c - the ends of several communicators begin side by side, and nobody stands where
 * NCCL does: not while they take their time, and not for ever. */
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/cuda_double/cuda_double.h"
#include "tests/exchange_case.h"
#include "tests/tap.h"
#include "tests/unit/device_fixture.h"

enum { N_STAGES = 3, N_ENDS = 2 * (N_STAGES - 1), TRIES_MAX = 20 };

static const struct exchange_ops *exchanges;
static const struct device_ops *devices;

static void list_ends(const struct exchange_case *c, struct exchange *ends[N_ENDS])
{
	for (int low = 0; low + 1 < N_STAGES; low++) {
		ends[2 * low] = c->stages[low].behind;
		ends[2 * low + 1] = c->stages[low + 1].before;
	}
}

static void abort_all(struct exchange *const ends[N_ENDS])
{
	for (int i = 0; i < N_ENDS; i++)
		exchange_abort(ends[i]);
}

static int count_over(struct exchange *const ends[N_ENDS])
{
	int n = 0;

	for (int i = 0; i < N_ENDS; i++)
		n += exchange_progress(ends[i], NULL) == 1;
	return n;
}

static bool see_all_over(struct exchange *const ends[N_ENDS])
{
	int64_t end_ns = exchange_case_deadline_ns();

	while (count_over(ends) < N_ENDS && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return count_over(ends) == N_ENDS;
}

/* How many of them are said to be over while none is. A machine that stands still for longer than
 * an end is waited for says that of all. */
static int try_held(void)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, N_STAGES);
	struct exchange *ends[N_ENDS];
	int n_over;

	list_ends(&c, ends);
	cuda_double_hold_aborts(true);
	abort_all(ends);
	n_over = count_over(ends);
	cuda_double_await_aborts(N_ENDS);
	cuda_double_hold_aborts(false);
	tap_ok(see_all_over(ends), "all are over in the end");
	exchange_case_close(&c);
	return n_over;
}

static void check_side_by_side(void)
{
	int n_over = N_ENDS;

	for (int i = 0; n_over > 0 && i < TRIES_MAX; i++)
		n_over = try_held();
	tap_is_int(n_over, 0, "%d ends begin, none of which waits for another one", N_ENDS);
}

/* What was posted, and nobody has received, goes by then. */
static void check_for_ever(void)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, N_STAGES);
	struct exchange *ends[N_ENDS];
	struct device_event *event;

	list_ends(&c, ends);
	exchange_case_send(c.stages[0].behind, &c.stages[0], 0, 1000);
	exchange_case_receive(c.stages[0].behind, &c.stages[0], 0, 1000);
	event = fixture_record(c.stages[0].stream);
	cuda_double_hold_aborts(true);
	abort_all(ends);
	tap_ok(see_all_over(ends), "ends that NCCL stands in are waited for no longer");
	tap_ok(exchange_case_finish(&c, event), "and what was posted has ended");
	exchange_case_close(&c);
	cuda_double_hold_aborts(false);
}

int main(void)
{
	(void)setenv("CUDA_DOUBLE_GPUS", "4", 1);
	(void)exchange_find("nccl", &exchanges, NULL);
	(void)device_find("cuda", &devices, NULL);
	check_side_by_side();
	check_for_ever();
	return tap_done();
}
