/* replay_ops.c - tests faults that start and end at an op while workers run: when they begin, whom
 * they meet, and that losses stay what they are. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

/* HERE: the iteration that the faults are about. */
enum { N_STAGES = 4, N_MICROBATCHES = 6, N_ITERATIONS = 5, EVERY = 2, HERE = 2, N_TRIES = 15 };

static const struct moment never = {.kind = MOMENT_NEVER};

static struct moment op_at(int iteration, int stage, enum op_kind op, int microbatch)
{
	return (struct moment){.kind = MOMENT_OP,
	                       .value = iteration,
	                       .stage = stage,
	                       .op = op,
	                       .microbatch = microbatch};
}

static struct moment after_ms(int64_t ms)
{
	return (struct moment){.kind = MOMENT_TIME, .value = ms * NS_PER_MS};
}

static void init(struct live_case *c, int n_hosts, int n_rails)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, n_hosts, 1);
	live_case_pace(c, 10);
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.topology.n_rails = n_rails;
	/* No detector: on a busy machine it may see a slow link, and be right. */
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->scenario.recovery = (struct recovery){.checkpoint_every = EVERY,
	                                         .restart_ns = 200 * NS_PER_MS,
	                                         .failover_ns = 40 * NS_PER_MS};
}

static void add(struct live_case *c, enum fault_kind kind, int stage, struct moment start,
                struct moment end)
{
	(void)scenario_fixture_fault(&c->scenario,
	                             (struct fault){.kind = kind,
	                                            .start = start,
	                                            .end = end,
	                                            .from_stage = stage,
	                                            .to_stage = stage + (kind == FAULT_DELAY),
	                                            .model = DELAY_OCCUPANCY,
	                                            .delay_ns = 30 * NS_PER_MS,
	                                            .slowdown = 2});
}

static void make_reference(double *losses)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, 1);
	c.scenario.n_iterations = N_ITERATIONS;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(c.losses));
	live_case_fini(&c);
}

static bool run(struct live_case *c, const char *schedule, const double *losses, const char *name)
{
	tap_ok(scenario_fixture_is_valid(&c->scenario), "%s: the scenario is valid", name);
	(void)live_case_run(c, schedule);
	return live_case_has_losses(c, losses, "%s (%s): losses are equal", name, schedule);
}

static int64_t start_of(const struct capture *capture, size_t i, struct moment op)
{
	const struct record_op *row = capture_op(capture, i, op.stage, op.op, op.microbatch);

	return row ? row->start_ns : -1;
}

/* How long a message held its channel or queue, which is what its fault asked for, however late it
 * was sent and seen. */
static double held_ms(const struct capture *capture, size_t i, int stage, int microbatch)
{
	const struct record_op *op = capture_op(capture, i, stage, OP_F, microbatch);

	return op ? (double)(op->message_end_ns - op->message_start_ns) / NS_PER_MS : NAN;
}

/* The delay begins at F2 of the stage that sends: nothing before has it, everything after has. */
static void test_delay(const char *schedule, int n_hosts, const double *losses)
{
	const struct moment f2 = op_at(HERE, 1, OP_F, 2);
	struct live_case c;
	struct capture sim;

	init(&c, n_hosts, 2);
	add(&c, FAULT_DELAY, 1, f2, (struct moment){.value = HERE + 1});
	if (run(&c, schedule, losses, "a delay") &&
	    tap_is_int((int64_t)c.capture.n_faults, 1, "the delay is recorded")) {
		const struct record_fault *row = &c.capture.faults[0];

		tap_is_int(row->asked_ns, start_of(&c.capture, HERE, f2),
		           "asked for when the device started the op");
		tap_is_int(row->applied_ns, row->asked_ns, "in force from there");
		tap_is_int(row->cleared_ns, c.capture.iterations[HERE + 1].start_ns,
		           "to the end of the iteration");
		for (int mb = 0; mb < N_MICROBATCHES; mb++) {
			tap_is_number(held_ms(&c.capture, HERE, 1, mb), mb < 2 ? 0 : 30, 1,
			              "what F%d sends", mb);
		}
		tap_is_int(live_case_simulate(&c, schedule, &sim), 0, "sim can do it");
		tap_is_int(row->n_messages, sim.faults[0].n_messages,
		           "as many messages meet it as in sim");
		capture_fini(&sim);
	}
	live_case_fini(&c);
}

static void test_delays(const double *losses)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu", "adaptra"};

	for (int i = 0; i < 4; i++)
		for (int n_hosts = 2; n_hosts <= (i < 2 ? 2 : N_STAGES); n_hosts += 2)
			test_delay(schedules[i], n_hosts, losses);
}

/* Messages of link 0-1 that met the delay and should not have, or the other way round. What another
 * worker notes it notes as late as it sees ops. */
static int count_wrong(const struct live_case *c, int *n_hit)
{
	const struct record_fault *row = &c->capture.faults[0];
	int64_t blind_ns = 4 * NS_PER_MS + (int64_t)((double)c->facts.late_ns_max * c->speed);
	int n_wrong = 0;

	*n_hit = 0;
	for (size_t i = HERE; i <= HERE + 1; i++)
		for (int mb = 0; mb < N_MICROBATCHES; mb++) {
			int64_t at_ns = capture_op(&c->capture, i, 0, OP_F, mb)->message_start_ns;
			bool is_hit = live_case_transfer_ms(&c->capture, i, 0, 1, mb) >= 30;

			*n_hit += is_hit;
			if (is_hit)
				n_wrong += at_ns <= row->asked_ns ||
				           at_ns > row->cleared_ns + blind_ns;
			else
				n_wrong += at_ns > row->asked_ns + blind_ns &&
				           at_ns <= row->cleared_ns;
		}
	return n_wrong;
}

/* The stage of the op is another worker's than the senders'. A worker that others kept from its
 * core just then sees the op's start too late, or a message too late: such a run is repeated. */
static void test_elsewhere(const char *schedule, const double *losses)
{
	const struct moment b1 = op_at(HERE, 3, OP_B, 1);
	int n_wrong = -1, n_hit = 0;
	struct live_case c;

	init(&c, 2, 2);
	add(&c, FAULT_DELAY, 0, b1, op_at(HERE + 1, 3, OP_B, 1));
	for (int i = 0; i < N_TRIES && n_wrong != 0; i++) {
		if (!run(&c, schedule, losses, "a delay from another worker's op to it again") ||
		    !tap_is_int((int64_t)c.capture.n_faults, 1, "the delay is recorded"))
			break;
		tap_is_int(c.capture.faults[0].asked_ns, start_of(&c.capture, HERE, b1),
		           "from the op");
		tap_is_int(c.capture.faults[0].cleared_ns, start_of(&c.capture, HERE + 1, b1),
		           "to the op");
		n_wrong = count_wrong(&c, &n_hit);
	}
	tap_ok(n_hit > 0, "%d messages meet it", n_hit);
	tap_is_int(n_wrong, 0, "those between the two, and no others");
	live_case_fini(&c);
}

/* How many ops of a run took another time than they should: twice the usual one on stage 1 between
 * two moments. On null devices ops take what they are told to, to the nanosecond of real time. */
static int count_odd(const struct live_case *c, int64_t from_ns, int64_t to_ns, int *n_slow_out)
{
	int n_odd = 0;

	*n_slow_out = 0;
	for (size_t i = 0; i < c->capture.n_ops; i++) {
		const struct record_op *op = &c->capture.ops[i];
		bool is_slow = op->stage == 1 && op->start_ns >= from_ns && op->start_ns < to_ns;
		double error_ns = (double)(op->end_ns - op->start_ns) -
		                  (is_slow ? 20 : 10) * (double)NS_PER_MS;

		*n_slow_out += is_slow;
		n_odd += fabs(error_ns) > 2 * c->speed;
	}
	return n_odd;
}

/* How long an op takes is asked for when it starts. The moments are another worker's, so an op that
 * starts right at one of them on a busy machine may not have heard of it: then it is tried again.
 */
static void test_slow_stage(const char *schedule)
{
	const struct moment f2 = op_at(HERE, 1, OP_F, 2), b1 = op_at(HERE, 1, OP_B, 1);
	int n_odd = -1, n_slow = 0;
	struct live_case c;

	init(&c, 2, 2);
	c.device = "null";
	add(&c, FAULT_SLOW_STAGE, 1, f2, b1);
	for (int i = 0; i < N_TRIES && n_odd != 0; i++) {
		if (!tap_is_int(live_case_run(&c, schedule), 0, "%s: a slow stage: %s", schedule,
		                c.err.text))
			break;
		n_odd = count_odd(&c, start_of(&c.capture, HERE, f2),
		                  start_of(&c.capture, HERE, b1), &n_slow);
	}
	tap_ok(n_slow >= 2, "%s: %d ops are in between", schedule, n_slow);
	tap_is_int(n_odd, 0, "%s: they take twice as long, and no others", schedule);
	live_case_fini(&c);
}

/* The RNIC of stage dies at op, for as long as end says. */
static void test_outage(const char *schedule, int n_hosts, int n_rails, int stage, struct moment op,
                        struct moment end, const double *losses)
{
	struct live_case c;

	init(&c, n_hosts, n_rails);
	add(&c, FAULT_DOWN, stage, op, end);
	if (run(&c, schedule, losses, "an outage at an op")) {
		live_case_check_like_sim(&c, schedule, "an outage at an op");
		if (c.capture.n_faults == 1 && c.capture.totals.n_restarts == 0)
			tap_is_int(c.capture.faults[0].asked_ns, start_of(&c.capture, HERE, op),
			           "it died when the op started");
	}
	live_case_fini(&c);
}

static void test_outages(const double *losses)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu", "adaptra"};
	const struct moment ops[] = {op_at(HERE, 2, OP_F, 1), op_at(HERE, 1, OP_B, 3),
	                             op_at(HERE, 0, OP_W, 2)};

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 3; k++)
			test_outage(schedules[i], 1 << k, 2, 1 + i % 2, ops[k], never, losses);
	for (int i = 2; i < 4; i++) {
		test_outage(schedules[i], 2, 1, 2, ops[0], after_ms(30), losses);
		test_outage(schedules[i], 2, 1, 1, ops[1], after_ms(1), losses);
		test_outage(schedules[i], 2, 2, 2, ops[1], after_ms(100), losses);
		test_outage(schedules[i], 2, 2, 2, ops[0], op_at(HERE, 2, OP_B, 5), losses);
	}
}

/* Over before anybody has seen it: a worker finds the beginning and the end in one look, while
 * messages are under way on every link of the stage. */
static void test_blink(const char *schedule, const double *losses)
{
	struct live_case c;

	init(&c, 2, 1);
	c.scenario.topology.link_delay_ns = 15 * NS_PER_MS;
	for (int i = 0; i < 3; i++)
		add(&c, FAULT_DOWN, 1 + i % 2, op_at(i + 1, 1 + i, OP_B, 1 + i),
		    (struct moment){.kind = MOMENT_TIME, .value = 1});
	run(&c, schedule, losses, "outages of a nanosecond");
	live_case_fini(&c);
}

/* The iteration is repeated with its delay; the outage is not. */
static void test_repeated(const double *losses)
{
	struct live_case c;

	init(&c, 2, 2);
	add(&c, FAULT_DELAY, 1, op_at(HERE, 1, OP_F, 2), (struct moment){.value = HERE + 1});
	add(&c, FAULT_DOWN, 2, op_at(HERE + 1, 3, OP_F, 4), never);
	if (run(&c, "1f1b", losses, "a delay and an outage")) {
		live_case_check_like_sim(&c, "1f1b", "a delay and an outage");
		tap_is_int((int64_t)c.capture.n_faults, 3, "the delay was in force twice");
		for (size_t i = 0; i < c.capture.n_iterations; i++)
			if (c.capture.iterations[i].iteration == HERE)
				tap_ok(held_ms(&c.capture, i, 1, 2) > 29 &&
				               held_ms(&c.capture, i, 1, 1) < 1,
				       "from F2 on in attempt %d", c.capture.iterations[i].attempt);
	}
	live_case_fini(&c);
}

/* One replica's op says when; both meet the outage. */
static void test_replicas(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];
	struct live_case c;

	init(&c, 1, 2);
	c.scenario.topology.n_replicas = 2;
	tap_is_int(live_case_run(&c, "zb-cpu"), 0, "two replicas run: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(losses));
	add(&c, FAULT_DOWN, 2, op_at(HERE, 1, OP_F, 3), never);
	if (run(&c, "zb-cpu", losses, "two replicas"))
		live_case_check_like_sim(&c, "zb-cpu", "two replicas");
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	make_reference(losses);
	test_delays(losses);
	test_elsewhere("zb-cpu", losses);
	test_elsewhere("zb", losses);
	test_slow_stage("1f1b");
	test_slow_stage("zb");
	test_slow_stage("zb-cpu");
	test_outages(losses);
	test_blink("zb-cpu", losses);
	test_blink("adaptra", losses);
	test_repeated(losses);
	test_replicas();
	return tap_done();
}
