/* replay_replicas.c - tests that the record of a live run is of all its replicas. */
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 2, N_MICROBATCHES = 3, N_REPLICAS = 2, DELAY_MS = 20 };

/* What one replica says of its i-th op; NULL: it has no such op. */
static const struct record_op *op_of(const struct capture *capture, size_t iteration, int replica,
                                     int stage, enum op_kind kind, int microbatch)
{
	size_t end = iteration + 1 < capture->n_iterations ? capture->first_op[iteration + 1]
	                                                   : capture->n_ops;

	for (size_t i = capture->first_op[iteration]; i < end; i++) {
		const struct record_op *op = &capture->ops[i];

		if (op->replica == replica && op->stage == stage && op->kind == kind &&
		    op->microbatch == microbatch)
			return op;
	}
	return NULL;
}

/* Has every replica each op once, with moments of its own? */
static void check_ops(const struct capture *capture, size_t iteration, int *n_missing_out,
                      int *n_alike_out)
{
	for (int stage = 0; stage < N_STAGES; stage++)
		for (enum op_kind kind = OP_F; kind <= OP_W; kind++)
			for (int mb = 0; mb < N_MICROBATCHES; mb++) {
				const struct record_op *a =
					op_of(capture, iteration, 0, stage, kind, mb);
				const struct record_op *b =
					op_of(capture, iteration, 1, stage, kind, mb);

				*n_missing_out += !a || !b;
				*n_alike_out += a && b && a->end_ns == b->end_ns &&
				                a->late_ns == b->late_ns;
			}
}

static void test_ops(void)
{
	int n_missing = 0, n_alike = 0;
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, N_REPLICAS);
	live_case_pace(&c, 2);
	tap_is_int(live_case_run(&c, "zb"), 0, "two replicas run: %s", c.err.text);
	tap_is_int((int64_t)c.capture.n_iterations, 4, "all iterations");
	tap_is_int((int64_t)c.capture.n_ops,
	           (int64_t)c.capture.n_iterations * N_REPLICAS * N_STAGES * OP_KINDS *
	                   N_MICROBATCHES,
	           "and are recorded with the ops of both");
	tap_is_int(c.capture.totals.n_ops, (int64_t)c.capture.n_ops, "which are counted");
	for (size_t i = 0; i < c.capture.n_iterations; i++)
		check_ops(&c.capture, i, &n_missing, &n_alike);
	tap_is_int(n_missing, 0, "each has every op");
	tap_ok(n_alike < (int)c.capture.n_ops / N_REPLICAS, "as it was measured there, not copied");
	capture_check(&c.capture, &c.scenario);
	live_case_fini(&c);
}

/* A fault hits a message in every replica, in virtual as in real time. */
static void test_faults(void)
{
	struct capture simulated;
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, N_REPLICAS);
	live_case_pace(&c, 2);
	c.scenario.n_iterations = 2;
	scenario_fixture_delay(&c.scenario, 0, 1, DELAY_LATENCY, DELAY_MS * NS_PER_MS);
	scenario_fixture_iterations(&c.scenario, 1, 1, 1);
	tap_is_int(live_case_run(&c, "zb-cpu"), 0, "two replicas with a slow link run: %s",
	           c.err.text);
	tap_is_int(live_case_simulate(&c, "zb-cpu", &simulated), 0, "and are simulated");
	tap_ok(c.capture.n_faults == 1 && simulated.n_faults == 1, "with one fault in the record");
	if (c.capture.n_faults == 1 && simulated.n_faults == 1) {
		tap_is_int(c.capture.faults[0].n_messages, N_REPLICAS * N_MICROBATCHES,
		           "it hit the messages of both");
		tap_is_int(simulated.faults[0].n_messages, N_REPLICAS * N_MICROBATCHES,
		           "in virtual time, too");
		/* Never less; how much more depends on who else uses the machine. */
		tap_ok(c.capture.faults[0].measured_ns >= DELAY_MS * NS_PER_MS,
		       "a message took that long or more: %lld ns",
		       (long long)c.capture.faults[0].measured_ns);
	}
	capture_fini(&simulated);
	live_case_fini(&c);
}

int main(void)
{
	test_ops();
	test_faults();
	return tap_done();
}
