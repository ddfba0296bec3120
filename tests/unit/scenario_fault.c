/* scenario_fault.c - when a fault is in force, and its jitter. */
#include <math.h>

#include "engine/scenario/fault.h"
#include "tests/tap.h"

enum { N_DRAWS = 20000 };

static void check_moments(void)
{
	struct fault f = {.start = {.kind = MOMENT_ITERATION, .value = 15},
	                  .end = {.kind = MOMENT_ITERATION, .value = 85}};

	tap_ok(!fault_is_active(&f, 14, 1000) && fault_is_active(&f, 15, 0),
	       "a fault by iteration starts with its first iteration, whatever the time");
	tap_ok(fault_is_active(&f, 84, 0) && !fault_is_active(&f, 85, 0),
	       "it is no longer in force at its end");
	f.end = (struct moment){.kind = MOMENT_NEVER, .value = 0};
	tap_ok(fault_is_active(&f, 1000000, 0), "without an end it lasts");
	f = (struct fault){.start = {.kind = MOMENT_TIME, .value = 100},
	                   .end = {.kind = MOMENT_TIME, .value = 200}};
	tap_ok(!fault_is_active(&f, 5, 99) && fault_is_active(&f, 5, 100) &&
	               fault_is_active(&f, 5, 199) && !fault_is_active(&f, 5, 200),
	       "a fault by time asks the clock alone");
	f = (struct fault){.kind = FAULT_DOWN,
	                   .start = {.kind = MOMENT_ITERATION, .value = 3},
	                   .end = {.kind = MOMENT_TIME, .value = 7}};
	tap_ok(!fault_is_active(&f, 2, 0) && fault_is_active(&f, 3, 1000),
	       "a DOWN that ends after a time is in force from its start on");
}

static struct moment op_at(int stage, enum op_kind op, int microbatch)
{
	return (struct moment){
		.kind = MOMENT_OP, .value = 15, .stage = stage, .op = op, .microbatch = microbatch};
}

static bool precedes(struct moment a, struct moment b)
{
	return moment_op_precedes(&a, &b);
}

static void check_op_order(void)
{
	char text[MOMENT_TEXT_BYTES];
	struct moment f4 = op_at(3, OP_F, 4);

	tap_is_str(moment_op_text(&f4, text), "F4 of stage 3", "an op has a name");
	tap_ok(precedes(f4, f4), "an op is not after itself");
	tap_ok(precedes(f4, op_at(4, OP_F, 4)) && !precedes(f4, op_at(2, OP_F, 4)),
	       "forwards go up the stages");
	tap_ok(precedes(f4, op_at(0, OP_B, 4)) && precedes(f4, op_at(7, OP_W, 4)),
	       "every backward comes after every forward of its microbatch");
	tap_ok(precedes(op_at(3, OP_B, 4), op_at(2, OP_B, 4)) &&
	               !precedes(op_at(3, OP_B, 4), op_at(4, OP_B, 4)),
	       "backwards come down");
	tap_ok(precedes(op_at(3, OP_B, 4), op_at(1, OP_W, 4)) &&
	               !precedes(op_at(3, OP_W, 4), op_at(1, OP_W, 4)) &&
	               precedes(op_at(3, OP_W, 4), op_at(3, OP_W, 5)),
	       "a W comes after its B, and for nobody but the next W");
	tap_ok(precedes(f4, op_at(5, OP_F, 6)) && !precedes(f4, op_at(5, OP_F, 3)),
	       "microbatches come in their order");
	tap_ok(!precedes(op_at(3, OP_B, 4), op_at(3, OP_F, 5)) &&
	               !precedes(op_at(3, OP_F, 5), op_at(3, OP_B, 4)),
	       "what comes first of B4 and F5 is for the schedule to say");
}

static void check_may_be_active(void)
{
	struct fault f = {.start = op_at(3, OP_F, 4), .end = {.kind = MOMENT_NEVER}};

	tap_ok(!fault_may_be_active(&f, 14) && fault_may_be_active(&f, 15) &&
	               fault_may_be_active(&f, 99),
	       "a fault from an op on can be in force from its iteration on");
	f.end = (struct moment){.kind = MOMENT_ITERATION, .value = 16};
	tap_ok(fault_may_be_active(&f, 15) && !fault_may_be_active(&f, 16),
	       "not from the iteration on at which it ends");
	f.end = op_at(3, OP_B, 4);
	tap_ok(fault_may_be_active(&f, 15) && !fault_may_be_active(&f, 16),
	       "in the iteration in which it ends at an op, but not in the next");
	f.end = (struct moment){.kind = MOMENT_TIME, .value = 1};
	tap_ok(fault_may_be_active(&f, 99), "how long a time lasts is not known");
	f.start = (struct moment){.kind = MOMENT_TIME, .value = 5};
	tap_ok(fault_may_be_active(&f, 0), "nor in which iteration a time comes");
}

static void check_distribution(enum distribution distribution, double mean_tolerance_ns,
                               double deviation_ns)
{
	struct fault f = {
		.to_stage = 1,
		.delay_ns = 1000000,
		.jitter_ns = 100000,
		.distribution = distribution,
	};
	const char *name = distribution_name(distribution);
	double sum = 0, squares = 0, mean;

	for (int i = 0; i < N_DRAWS; i++) {
		double delay_ns = (double)fault_delay_ns(&f, 42, i / 100, i % 100);

		sum += delay_ns;
		squares += delay_ns * delay_ns;
	}
	mean = sum / N_DRAWS;
	tap_is_number(mean, 1e6, mean_tolerance_ns, "%s jitter has mean 0", name);
	/* Pareto draws of shape 3 have no fourth moment: their spread settles slowly. */
	tap_is_number(sqrt(squares / N_DRAWS - mean * mean), deviation_ns, deviation_ns * 0.12,
	              "%s jitter spreads as it says", name);
}

static void check_keys(void)
{
	struct fault f = {.to_stage = 1,
	                  .delay_ns = 1000000,
	                  .jitter_ns = 100000,
	                  .distribution = DISTRIBUTION_NORMAL};
	struct fault other = f;
	int64_t delay_ns = fault_delay_ns(&f, 42, 3, 7);

	other.event = 9;
	other.script_line = 7;
	tap_is_int(fault_delay_ns(&other, 42, 3, 7), delay_ns,
	           "a draw does not depend on the fault's place in the list");
	tap_ok(fault_delay_ns(&f, 43, 3, 7) != delay_ns, "another seed, another draw");
	tap_ok(fault_delay_ns(&f, 42, 4, 7) != delay_ns, "another iteration, another draw");
	tap_ok(fault_delay_ns(&f, 42, 3, 8) != delay_ns, "another microbatch, another draw");
	other.from_stage = 1;
	other.to_stage = 0;
	tap_ok(fault_delay_ns(&other, 42, 3, 7) != delay_ns, "another direction, another draw");
	other = f;
	other.start.value = 1;
	tap_ok(fault_delay_ns(&other, 42, 3, 7) != delay_ns, "another start, another draw");
}

static void check_bounds(void)
{
	struct fault f = {
		.delay_ns = 10, .jitter_ns = 1000000, .distribution = DISTRIBUTION_NORMAL};
	int n_negative = 0, n_zero = 0, n_long = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t delay_ns = fault_delay_ns(&f, 1, i, 0);

		n_negative += delay_ns < 0;
		n_zero += delay_ns == 0;
	}
	tap_is_int(n_negative, 0, "no delay is negative");
	tap_ok(n_zero > 300, "draws below 0 count as 0");
	f.jitter_ns = FAULT_DELAY_MAX_NS;
	for (int i = 0; i < 1000; i++)
		n_long += fault_delay_ns(&f, 1, i, 0) > FAULT_DELAY_MAX_NS;
	tap_is_int(n_long, 0, "no message is late by more than a day");
	f.jitter_ns = 0;
	tap_is_int(fault_delay_ns(&f, 1, 2, 3), 10, "without jitter a delay is what it is");
}

int main(void)
{
	check_moments();
	check_op_order();
	check_may_be_active();
	check_distribution(DISTRIBUTION_UNIFORM, 2000, 100000 / sqrt(3));
	check_distribution(DISTRIBUTION_NORMAL, 3000, 100000);
	check_distribution(DISTRIBUTION_PARETO, 5000, 100000);
	check_distribution(DISTRIBUTION_PARETONORMAL, 5000, 100000);
	check_keys();
	check_bounds();
	return tap_done();
}
