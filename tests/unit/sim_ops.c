/* sim_ops.c - tests faults that start and end at an op: every kind, several in one iteration, after
 * a restart, and what no validation can see. */
#include <errno.h>
#include <string.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

/* The iteration that most faults here are about. */
enum { HERE = 3, MESSAGE_BYTES = 1000000 };

static const char *const schedules[] = {"1f1b", "zb", "zb-cpu", "adaptra"};
enum { N_SCHEDULES = 4 };

/* S = 4, N = 8, ops of 10 ms, links of 1 ms; no detector, so that plans stay. */
static void fill(struct scenario *scenario)
{
	scenario_fixture(scenario, 4, 8, 10 * NS_PER_MS);
	scenario->topology.link_delay_ns = NS_PER_MS;
	scenario->profile.message_bytes = MESSAGE_BYTES;
	scenario->n_iterations = 6;
	scenario->detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	scenario->recovery = (struct recovery){.checkpoint_every = 2,
	                                       .restart_ns = 7 * (int64_t)NS_PER_S,
	                                       .failover_ns = 500 * NS_PER_MS};
}

static struct moment op_at(int iteration, int stage, enum op_kind op, int microbatch)
{
	return (struct moment){.kind = MOMENT_OP,
	                       .value = iteration,
	                       .stage = stage,
	                       .op = op,
	                       .microbatch = microbatch};
}

static struct moment edge(int iteration)
{
	return (struct moment){.kind = MOMENT_ITERATION, .value = iteration};
}

static struct moment after(int64_t ns)
{
	return (struct moment){.kind = MOMENT_TIME, .value = ns};
}

static const struct moment never = {.kind = MOMENT_NEVER};

/* One fault of each kind around stage 1. */
static struct fault fault_of(enum fault_kind kind, struct moment start, struct moment end)
{
	bool is_on_link = kind == FAULT_DELAY || kind == FAULT_RATE;

	return (struct fault){.kind = kind,
	                      .start = start,
	                      .end = end,
	                      .from_stage = 1,
	                      .to_stage = is_on_link ? 2 : 1,
	                      .model = DELAY_OCCUPANCY,
	                      .delay_ns = 30 * NS_PER_MS,
	                      .rate_bits_per_s = (int64_t)MESSAGE_BYTES * 8 * 1000 / 25,
	                      .slowdown = 2};
}

static void run(struct capture *capture, const struct scenario *scenario, const char *schedule)
{
	tap_ok(scenario_fixture_is_valid(scenario), "%s: the scenario is valid", schedule);
	tap_is_int(capture_run(capture, scenario, schedule), 0, "%s ends well: %s", schedule,
	           capture->err.text);
	capture_check(capture, scenario);
}

static int64_t start_of(const struct capture *capture, struct moment op)
{
	const struct record_op *row =
		capture_op(capture, (size_t)op.value, op.stage, op.op, op.microbatch);

	return row ? row->start_ns : -1;
}

/* Ops whose times are others. */
static int count_different(const struct capture *a, const struct capture *b)
{
	int n = a->n_ops != b->n_ops;

	for (size_t i = 0; i < a->n_ops && i < b->n_ops; i++)
		n += a->ops[i].start_ns != b->ops[i].start_ns ||
		     a->ops[i].end_ns != b->ops[i].end_ns ||
		     a->ops[i].message_arrive_ns != b->ops[i].message_arrive_ns;
	return n;
}

/* From an op on is the same as from its moment on: for messages a nanosecond later, since what was
 * sent till then belongs to before. */
static void test_start(enum fault_kind kind, const char *schedule, struct moment op)
{
	bool is_slow_stage = kind == FAULT_SLOW_STAGE;
	const char *name = fault_kind_name(kind);
	struct capture healthy, at_op, by_time;
	struct scenario scenario;
	int64_t start_ns, end_ns;

	fill(&scenario);
	run(&healthy, &scenario, schedule);
	start_ns = start_of(&healthy, op);
	(void)scenario_fixture_fault(&scenario, fault_of(kind, op, edge(HERE + 1)));
	run(&at_op, &scenario, schedule);
	end_ns = at_op.iterations[HERE + 1].start_ns;
	scenario.faults[0].start = after(start_ns + !is_slow_stage);
	scenario.faults[0].end = after(end_ns);
	run(&by_time, &scenario, schedule);
	tap_is_int(start_of(&at_op, op), start_ns, "%s under %s: the op starts when it would", name,
	           schedule);
	tap_is_int(count_different(&at_op, &by_time), 0, "%s under %s: as by time from then on",
	           name, schedule);
	tap_ok(at_op.iterations[HERE].duration_ns > healthy.iterations[HERE].duration_ns,
	       "%s under %s: its iteration takes longer", name, schedule);
	tap_is_int((int64_t)at_op.n_faults, 1, "it is in the record");
	if (at_op.n_faults == 1 && by_time.n_faults == 1) {
		const struct record_fault *row = &at_op.faults[0];

		tap_is_int(row->asked_ns, start_ns, "asked for at the start of the op");
		tap_is_int(row->applied_ns, start_ns, "in force from there");
		tap_is_int(row->cleared_ns, end_ns, "to the end of the iteration");
		tap_is_int(row->n_messages, by_time.faults[0].n_messages, "with its messages");
		tap_is_int(row->measured_ns, by_time.faults[0].measured_ns,
		           "and what they measured");
	}
	capture_fini(&healthy);
	capture_fini(&at_op);
	capture_fini(&by_time);
	scenario_fini(&scenario);
}

static void test_starts(void)
{
	static const enum fault_kind kinds[] = {FAULT_DELAY, FAULT_RATE, FAULT_SLOW_STAGE};

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < N_SCHEDULES; k++) {
			test_start(kinds[i], schedules[k], op_at(HERE, 1, OP_F, 4));
			/* Elsewhere most messages have left before the first W. */
			test_start(kinds[i], schedules[k],
			           k == 0 ? op_at(HERE, 1, OP_W, 0) : op_at(HERE, 0, OP_B, 0));
			test_start(kinds[i], schedules[k], op_at(HERE, 3, OP_F, 1));
		}
}

/* F4 of stage 1 starts when F3 ends, under every schedule before the first backward: what F3 sends
 * has left, what F4 sends has not. And a slow stage is slow from the op on, not before. */
static void test_at_the_moment(void)
{
	const struct moment f2 = op_at(HERE, 1, OP_F, 2);
	const struct record_op *before, *first;
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DELAY, f2, never));
	run(&capture, &scenario, "zb-cpu");
	before = capture_op(&capture, HERE, 1, OP_F, 1);
	first = capture_op(&capture, HERE, 1, OP_F, 2);
	tap_is_int(before->end_ns, first->start_ns, "F2 follows F1 at once");
	tap_is_int(before->message_arrive_ns - before->message_start_ns, NS_PER_MS,
	           "what F1 sends at that moment has left before");
	tap_is_int(first->message_arrive_ns - first->message_start_ns, 31 * NS_PER_MS,
	           "what F2 sends has not");
	capture_fini(&capture);
	scenario.faults[0] = fault_of(FAULT_SLOW_STAGE, f2, op_at(HERE, 1, OP_F, 3));
	run(&capture, &scenario, "zb-cpu");
	for (int mb = 1; mb <= 3; mb++) {
		const struct record_op *op = capture_op(&capture, HERE, 1, OP_F, mb);

		tap_is_int(op->end_ns - op->start_ns, (mb == 2 ? 20 : 10) * NS_PER_MS,
		           "slow from F2 to F3: F%d", mb);
	}
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Every kind of end, beside the same by time. */
static void test_end(struct moment start, struct moment end, const char *name)
{
	for (int k = 0; k < N_SCHEDULES; k++) {
		struct capture at_op, by_time;
		struct scenario scenario;
		int64_t start_ns, end_ns;

		fill(&scenario);
		(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DELAY, start, end));
		run(&at_op, &scenario, schedules[k]);
		start_ns = start.kind == MOMENT_OP ? start_of(&at_op, start) + 1
		                                   : at_op.iterations[start.value].start_ns;
		end_ns = end.kind == MOMENT_OP ? start_of(&at_op, end) + 1
		                               : start_of(&at_op, start) + end.value;
		scenario.faults[0].start = after(start_ns);
		scenario.faults[0].end = after(end_ns);
		run(&by_time, &scenario, schedules[k]);
		tap_is_int(count_different(&at_op, &by_time), 0, "%s under %s: as by time", name,
		           schedules[k]);
		tap_is_int((int64_t)at_op.n_faults, 1, "it is in the record");
		if (at_op.n_faults == 1) {
			tap_is_int(at_op.faults[0].cleared_ns, end_ns - (end.kind == MOMENT_OP),
			           "%s under %s: cleared then", name, schedules[k]);
			tap_ok(at_op.faults[0].n_messages > 0, "it met messages");
		}
		capture_fini(&at_op);
		capture_fini(&by_time);
		scenario_fini(&scenario);
	}
}

static void test_ends(void)
{
	const struct moment f4 = op_at(HERE, 1, OP_F, 4);

	test_end(f4, op_at(HERE, 2, OP_B, 5), "to an op of the iteration");
	test_end(f4, op_at(HERE + 1, 1, OP_F, 2), "to an op of the next");
	test_end(f4, op_at(HERE + 2, 0, OP_F, 3), "to an op of a later one");
	test_end(f4, after(60 * NS_PER_MS), "for a time");
	test_end(f4, after(700 * NS_PER_MS), "for a time that ends in a later iteration");
	test_end(edge(HERE), f4, "from an iteration to an op in it");
	test_end(edge(HERE - 1), f4, "from an iteration to an op of the next");
}

/* Faults on several targets at several ops of one iteration, in either order of the list. */
static void test_several(const char *schedule)
{
	struct capture forth, back;
	struct scenario scenario;
	struct fault faults[4];
	int64_t starts_ns[4];
	int n_wrong = 0;

	fill(&scenario);
	faults[0] = fault_of(FAULT_DELAY, op_at(HERE, 2, OP_B, 1), op_at(HERE, 2, OP_B, 6));
	faults[1] = fault_of(FAULT_SLOW_STAGE, op_at(HERE, 1, OP_F, 3), edge(HERE + 1));
	faults[2] = fault_of(FAULT_RATE, op_at(HERE, 1, OP_F, 3), op_at(HERE + 1, 1, OP_F, 3));
	faults[3] = fault_of(FAULT_DELAY, op_at(HERE, 3, OP_F, 5), op_at(HERE, 2, OP_B, 5));
	faults[3].from_stage = 2;
	faults[3].to_stage = 3;
	for (int i = 0; i < 4; i++)
		(void)scenario_fixture_fault(&scenario, faults[i]);
	run(&forth, &scenario, schedule);
	for (int i = 0; i < 4; i++)
		starts_ns[i] = start_of(&forth, faults[i].start);
	for (size_t i = 0; i < forth.n_faults; i++)
		n_wrong += forth.faults[i].asked_ns != starts_ns[forth.faults[i].fault];
	tap_is_int((int64_t)forth.n_faults, 4, "%s: all four began", schedule);
	tap_is_int(n_wrong, 0, "%s: each when its op started", schedule);
	for (int i = 0; i < 4; i++) {
		scenario.faults[i] = faults[3 - i];
		scenario.faults[i].event = i;
	}
	run(&back, &scenario, schedule);
	tap_is_int(count_different(&forth, &back), 0, "%s: their order in the list is nothing",
	           schedule);
	capture_fini(&forth);
	capture_fini(&back);
	scenario_fini(&scenario);
}

/* Iteration 3 is repeated after the restart, with its fault; the RNIC does not die again. */
static void test_repeated(void)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	scenario.recovery.checkpoint_every = 3;
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DELAY, op_at(HERE, 1, OP_F, 4),
	                                                 edge(HERE + 1)));
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DOWN, op_at(HERE + 1, 2, OP_F, 4), never));
	run(&capture, &scenario, "zb");
	tap_is_int((int64_t)capture.n_iterations, 6 + 2, "one is cut short, one repeated");
	tap_is_int(capture.iterations[5].iteration, HERE, "from the checkpoint on");
	tap_is_int(capture.iterations[5].duration_ns, capture.iterations[3].duration_ns,
	           "the repeated iteration meets its fault again, at its op");
	tap_ok(capture.iterations[5].duration_ns > capture.iterations[2].duration_ns,
	       "which made it slow");
	tap_is_int((int64_t)capture.n_faults, 3, "the delay is recorded twice, the RNIC once");
	tap_is_int(capture.totals.n_restarts, 1, "an RNIC dies once a run");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* The op at which a fault ends was reached once; the next attempt dies before it comes there, and
 * what the first one noted of it says nothing of the second. */
static void test_cut_short_before_end(void)
{
	struct capture once, twice;
	struct scenario scenario;
	struct fault down;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DELAY, edge(2), op_at(HERE, 1, OP_F, 1)));
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DOWN, op_at(HERE, 1, OP_F, 6), never));
	run(&once, &scenario, "1f1b");
	tap_is_int(once.iterations[4].iteration, 2, "iteration 2 is repeated");
	down = fault_of(FAULT_DOWN, after(once.iterations[4].start_ns + 50 * NS_PER_MS), never);
	down.from_stage = down.to_stage = 2;
	(void)scenario_fixture_fault(&scenario, down);
	run(&twice, &scenario, "1f1b");
	tap_is_int(twice.totals.n_restarts, 2, "and cut short");
	for (size_t i = 0; i < twice.n_faults; i++)
		if (twice.faults[i].fault == 0 && twice.faults[i].attempt == 1)
			tap_is_int(twice.faults[i].cleared_ns, down.start.value,
			           "the fault is over when the attempt is");
	tap_is_int((int64_t)twice.n_faults, 5, "it is in force in each of three attempts");
	capture_fini(&once);
	capture_fini(&twice);
	scenario_fini(&scenario);
}

/* The job dies in iteration 3 before the op, so that the fault begins when that is repeated. */
static void test_not_reached(void)
{
	const struct moment b7 = op_at(HERE, 1, OP_B, 7);
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DELAY, b7, edge(HERE + 1)));
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DOWN, op_at(HERE, 1, OP_F, 4), never));
	run(&capture, &scenario, "1f1b");
	tap_is_int(capture.totals.n_restarts, 1, "the job dies before the op");
	tap_is_int((int64_t)capture.n_faults, 2, "the fault begins once");
	for (size_t i = 0; i < capture.n_faults; i++)
		if (capture.faults[i].fault == 0)
			tap_is_int(capture.faults[i].attempt, 1, "when the iteration is repeated");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_down_restarts(void)
{
	const struct moment b2 = op_at(HERE, 1, OP_B, 2);
	struct capture healthy, capture;
	struct scenario scenario;
	int64_t died_ns;

	fill(&scenario);
	run(&healthy, &scenario, "1f1b");
	died_ns = start_of(&healthy, b2);
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DOWN, b2, never));
	run(&capture, &scenario, "1f1b");
	tap_is_int(capture.iterations[HERE].start_ns + capture.iterations[HERE].duration_ns,
	           died_ns, "the job dies when the op starts");
	tap_ok(capture_op(&capture, HERE, 1, OP_B, 2) == NULL, "which it does not, then");
	tap_is_int(capture.faults[0].asked_ns, died_ns, "the record says so");
	tap_is_int(capture.totals.n_restarts, 1, "it restarts once");
	capture_fini(&healthy);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* The same as by time, on the plane that goes on and on the one that switches; n_failovers 0: the
 * rail is back before. */
static void test_down_goes_on(const char *schedule, struct moment end, int n_failovers)
{
	const struct moment b2 = op_at(HERE, 1, OP_B, 2);
	const struct captured_decision *decision;
	struct capture at_op, by_time;
	struct scenario scenario;
	int64_t died_ns;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DOWN, b2, end));
	run(&at_op, &scenario, schedule);
	died_ns = at_op.n_faults == 1 ? at_op.faults[0].asked_ns : -1;
	tap_is_int(died_ns, start_of(&at_op, b2), "%s: an RNIC dies when the op starts", schedule);
	tap_is_int(at_op.totals.n_restarts, 0, "%s: without a restart", schedule);
	tap_is_int(capture_count(&at_op, DECISION_FAILOVER, &decision), n_failovers,
	           "%s: so many fail-overs", schedule);
	if (end.kind == MOMENT_OP)
		tap_is_int(at_op.faults[0].cleared_ns, start_of(&at_op, end),
		           "%s: it is back when the other op starts", schedule);
	scenario.faults[0].start = after(died_ns);
	if (end.kind == MOMENT_TIME)
		scenario.faults[0].end = after(died_ns + end.value);
	else if (end.kind == MOMENT_OP)
		scenario.faults[0].end = after(died_ns + NS_PER_S);
	run(&by_time, &scenario, schedule);
	tap_is_int(count_different(&at_op, &by_time), 0, "%s: as by time", schedule);
	capture_fini(&at_op);
	capture_fini(&by_time);
	scenario_fini(&scenario);
}

static void test_downs(void)
{
	static const char *const names[] = {"zb-cpu", "adaptra"};

	test_down_restarts();
	for (int i = 0; i < 2; i++) {
		test_down_goes_on(names[i], never, 1);
		test_down_goes_on(names[i], after(600 * NS_PER_MS), 1);
		test_down_goes_on(names[i], after(100 * NS_PER_MS), 0);
		test_down_goes_on(names[i], op_at(HERE, 1, OP_B, 6), 1);
	}
}

/* Whether B0 or F7 comes first on the last stage, the schedule says; the fault would last for less
 * than no time. */
static void test_backwards(struct moment start, const char *want)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DELAY, start, op_at(HERE, 3, OP_B, 0)));
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_run(&capture, &scenario, "zb"), -EINVAL,
	           "an end that comes before its start ends the run");
	tap_contains(capture.err.text, want, "with a sentence");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* An imported order that runs microbatch 1 before microbatch 0. */
static void test_unordered(void)
{
	struct scenario scenario;
	struct capture capture;
	struct err err = {0};
	enum plane_kind plane;
	struct plan plan;

	fill(&scenario);
	if (tap_is_int(sim_plan_at(&(struct sim_request){.scenario = &scenario,
	                                                 .schedule = schedule_find("zb", &err)},
	                           0, &plan, &plane, &err),
	               0, "there is a plan"))
		for (int i = 0; i < 4 * OP_KINDS * 8; i++)
			if (plan.ops[i].microbatch < 2)
				plan.ops[i].microbatch = 1 - plan.ops[i].microbatch;
	(void)scenario_fixture_fault(&scenario, fault_of(FAULT_DELAY, op_at(HERE, 1, OP_F, 4),
	                                                 edge(HERE + 1)));
	tap_is_int(capture_request(&capture, (struct sim_request){.order = &plan}, &scenario,
	                           "csv:x.csv"),
	           -EINVAL, "an order that mixes microbatches has no faults at ops");
	tap_contains(capture.err.text, "does not keep microbatches in order", "with a sentence");
	capture_fini(&capture);
	scenario.n_faults = 0;
	tap_is_int(capture_request(&capture, (struct sim_request){.order = &plan}, &scenario,
	                           "csv:x.csv"),
	           0, "without them it runs: %s", capture.err.text);
	capture_fini(&capture);
	plan_fini(&plan);
	scenario_fini(&scenario);
}

/* The oracle sees a fault at the first iteration that begins with it. */
static void test_oracle(void)
{
	const struct captured_decision *decision;
	struct scenario scenario;
	struct capture capture;

	fill(&scenario);
	(void)scenario_fixture_fault(&scenario,
	                             fault_of(FAULT_DELAY, op_at(HERE, 1, OP_F, 4), never));
	tap_is_int(capture_request(&capture, (struct sim_request){.is_oracle = true}, &scenario,
	                           "adaptra"),
	           0, "adaptra runs with the oracle");
	tap_is_int(capture_count(&capture, DECISION_REPLAN, &decision), 1, "it replans");
	tap_is_int(decision ? decision->row.iteration : -1, HERE + 1,
	           "at the edge after the op's iteration");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

int main(void)
{
	test_starts();
	test_at_the_moment();
	test_ends();
	for (int k = 0; k < N_SCHEDULES; k++)
		test_several(schedules[k]);
	test_repeated();
	test_cut_short_before_end();
	test_not_reached();
	test_downs();
	test_backwards(op_at(HERE, 3, OP_F, 7),
	               "in iteration 3 B0 of stage 3, at which the delay fault of stages 1->2 "
	               "ends, does not start after F7 of stage 3, at which it starts");
	test_unordered();
	test_oracle();
	return tap_done();
}
