/* replay_channels.c - tests what messages of running workers do to each other: on the stream plane
 * two are never in one channel, whose receiver sends when it has them, and a slow link leaves the
 * others alone. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "engine/schedule/channel.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 6, N_ITERATIONS = 3, SLOW_MS = 25, N_TRIES = 15 };

static void init(struct live_case *c, int n_hosts, enum delay_model model)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, n_hosts, 1);
	live_case_pace(c, 8);
	c->scenario.n_iterations = N_ITERATIONS;
	scenario_fixture_slow_link(&c->scenario, 1, model, SLOW_MS * NS_PER_MS);
	/* No detector, so that the plane stays what it is. */
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
}

static int compare_starts(const void *a, const void *b)
{
	const struct record_op *x = a, *y = b;

	return (x->message_start_ns > y->message_start_ns) -
	       (x->message_start_ns < y->message_start_ns);
}

/* Both directions' messages of a link in iteration i, by their start. */
static size_t collect(const struct capture *capture, size_t i, int link, struct record_op *out)
{
	size_t n = 0;

	for (int mb = 0; mb < N_MICROBATCHES; mb++) {
		out[n++] = *capture_op(capture, i, link, OP_F, mb);
		out[n++] = *capture_op(capture, i, link + 1, OP_B, mb);
	}
	qsort(out, n, sizeof(*out), compare_starts);
	return n;
}

/* When the end of the channel that sends next is over with a message. */
static int64_t over_ns(const struct record_op *op, const struct record_op *next)
{
	bool is_turn = (op->kind == OP_F) != (next->kind == OP_F);

	return is_turn ? op->message_arrive_ns : op->message_end_ns;
}

static void test_exclusive(int n_hosts, enum delay_model model)
{
	struct record_op messages[2 * N_MICROBATCHES];
	struct live_case c;
	int64_t rounding_ns;
	int n_wrong = 0, n_held = 0;

	init(&c, n_hosts, model);
	rounding_ns = 2 + (int64_t)c.speed;
	tap_is_int(live_case_run(&c, "zb"), 0, "zb runs: %s", c.err.text);
	for (size_t i = 0; c.rc == 0 && i < c.capture.n_iterations; i++)
		for (int link = 0; link < N_STAGES - 1; link++) {
			size_t n = collect(&c.capture, i, link, messages);

			for (size_t k = 1; k < n; k++) {
				n_wrong += messages[k].message_start_ns <
				           over_ns(&messages[k - 1], &messages[k]) - rounding_ns;
				n_held += messages[k].message_start_ns >
				          messages[k].message_request_ns + rounding_ns;
			}
		}
	tap_is_int(n_wrong, 0,
	           "%s, %d workers: no message enters a channel whose end is not over with another",
	           delay_model_name(model), n_hosts);
	tap_ok(n_held > 0 || model != DELAY_OCCUPANCY, "and some wait for it (%d)", n_held);
	live_case_fini(&c);
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The first quartile of what messages took, so that a machine that is busy now and then does not
 * matter. */
static double transfer_ms(const struct live_case *c, int from_stage, int to_stage)
{
	double ms[N_ITERATIONS * N_MICROBATCHES];
	size_t n = 0;

	for (size_t i = 0; i < c->capture.n_iterations; i++)
		for (int mb = 0; mb < N_MICROBATCHES; mb++)
			ms[n++] = live_case_transfer_ms(&c->capture, i, from_stage, to_stage, mb);
	qsort(ms, n, sizeof(*ms), compare_numbers);
	return ms[n / 4];
}

/* Does any message of a healthy link take half of what the slow one's do? */
static bool spreads(const struct live_case *c)
{
	for (int link = 0; link < N_STAGES - 1; link++)
		if (link != 1 && !(transfer_ms(c, link, link + 1) < SLOW_MS / 2.0 &&
		                   transfer_ms(c, link + 1, link) < SLOW_MS / 2.0))
			return true;
	return false;
}

/* What other links take is far from what the slow one takes. A machine that is busy otherwise makes
 * them late now and then, a link that holds up others in every run. */
static void test_others(const char *schedule, enum delay_model model)
{
	struct live_case c;

	init(&c, 2, model);
	for (int i = 0; i < N_TRIES; i++)
		if (live_case_run(&c, schedule) || !spreads(&c))
			break;
	tap_is_int(c.rc, 0, "%s runs: %s", schedule, c.err.text);
	for (int link = 0; c.rc == 0 && link < N_STAGES - 1; link++) {
		double forth = transfer_ms(&c, link, link + 1),
		       back = transfer_ms(&c, link + 1, link);

		if (link == 1)
			tap_ok(forth > 0.999 * SLOW_MS && back > 0.999 * SLOW_MS,
			       "%s, %s: the slow link takes %.2f and %.2f ms", schedule,
			       delay_model_name(model), forth, back);
		else
			tap_ok(forth < SLOW_MS / 2.0 && back < SLOW_MS / 2.0,
			       "link %d takes %.2f and %.2f ms, as if that were not there", link,
			       forth, back);
	}
	live_case_fini(&c);
}

int main(void)
{
	for (enum delay_model model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++) {
		test_exclusive(1, model);
		test_exclusive(2, model);
		test_exclusive(N_STAGES, model);
		test_others("1f1b", model);
		test_others("zb", model);
		test_others("zb-cpu", model);
	}
	return tap_done();
}
