/* scenario_ops.c - faults that start and end at ops: which are valid, and which of them clash. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 24, N_ITERATIONS = 100 };

static const struct moment never = {.kind = MOMENT_NEVER};

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

static struct moment a_time(int64_t ns)
{
	return (struct moment){.kind = MOMENT_TIME, .value = ns};
}

static void add(struct scenario *scenario, enum fault_kind kind, struct moment start,
                struct moment end)
{
	bool is_on_link = kind == FAULT_DELAY;

	(void)scenario_fixture_fault(scenario,
	                             (struct fault){.kind = kind,
	                                            .script_line = 10 + (int)scenario->n_faults,
	                                            .start = start,
	                                            .end = end,
	                                            .from_stage = 1,
	                                            .to_stage = is_on_link ? 2 : 1,
	                                            .slowdown = 2,
	                                            .delay_ns = 5});
}

/* Exactly this sentence, or none. */
static void expect(struct scenario *scenario, const char *sentence, const char *name)
{
	struct scenario_mistakes mistakes = {.script_name = "x.lua"};
	int rc;

	scenario->n_iterations = N_ITERATIONS;
	rc = scenario_validate(scenario, &mistakes);
	if (!sentence)
		tap_ok(rc == 0 && mistakes.n_sentences == 0, "%s", name);
	else if (tap_ok(rc == -EINVAL && mistakes.n_sentences == 1, "%s, once", name))
		tap_is_str(mistakes.sentences[0], sentence, "%s", name);
	for (size_t i = 0; i < mistakes.n_sentences; i++)
		tap_note("%s", mistakes.sentences[i]);
	scenario_mistakes_fini(&mistakes);
	scenario_fini(scenario);
}

static void expect_one(struct moment start, struct moment end, const char *sentence,
                       const char *name)
{
	struct scenario scenario;

	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 1000);
	add(&scenario, FAULT_DELAY, start, end);
	expect(&scenario, sentence, name);
}

static void check_starts(void)
{
	expect_one(op_at(15, 3, OP_F, 4), never, NULL, "a fault may start at an op");
	expect_one(op_at(15, 3, OP_W, 4), never, NULL, "also at a W");
	expect_one(op_at(100, 3, OP_F, 4), never,
	           "x.lua:10: the fault starts at an op of iteration 100; iterations are 0 to 99",
	           "an op of an iteration that there is not is refused");
	expect_one(op_at(15, 4, OP_F, 4), never,
	           "x.lua:10: stage 4 is not in a pipeline of 4 stages; stages are 0 to 3",
	           "an op of a stage that there is not is refused");
	expect_one(op_at(15, 3, OP_B, 24), never,
	           "x.lua:10: there is no B24 in an iteration of 24 microbatches; microbatches are "
	           "0 to 23",
	           "an op of a microbatch that there is not is refused");
}

static void check_ends(void)
{
	static const char too_early[] = "x.lua:10: the fault ends before it starts";
	const struct moment f4 = op_at(15, 2, OP_F, 4);

	expect_one(f4, edge(16), NULL, "it may end with its iteration");
	expect_one(f4, a_time(1), NULL, "or a time later");
	expect_one(f4, op_at(15, 2, OP_B, 2), NULL, "or at an op that may come later or not");
	expect_one(edge(15), f4, NULL, "one from an iteration may end at an op in it");
	expect_one(edge(15), op_at(16, 2, OP_F, 4), NULL, "or in a later one");
	expect_one(f4, op_at(100, 2, OP_F, 4),
	           "x.lua:10: the fault ends at an op of iteration 100; iterations are 0 to 99",
	           "an end at an op that there is not is refused");
	expect_one(f4, edge(15), too_early, "the edge of an iteration comes before its ops");
	expect_one(f4, op_at(14, 2, OP_B, 20), too_early, "an end an iteration earlier is refused");
	expect_one(f4, op_at(15, 1, OP_F, 4), too_early, "so is one that the start waits for");
	expect_one(f4, op_at(15, 2, OP_F, 3), too_early, "and an earlier microbatch's");
	expect_one(f4, f4, too_early, "and the op of the start");
	expect_one(f4, a_time(0), too_early, "and the end after no time");
	expect_one(a_time(5), f4,
	           "x.lua:10: a fault that starts at an iteration lasts for iterations, one that "
	           "starts at a time for a time",
	           "from a time to an op is refused");
}

/* Two faults of one kind on one target. */
static void expect_pair(const struct moment moments[4], enum fault_kind kind, const char *reason,
                        const char *name)
{
	char sentence[400];
	struct scenario scenario;

	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 1000);
	add(&scenario, kind, moments[0], moments[1]);
	add(&scenario, kind, moments[2], moments[3]);
	snprintf(sentence, sizeof(sentence),
	         "x.lua:11: link \"1->2\" already has a %s fault "
	         "from line 10%s",
	         fault_kind_name(kind), reason ? reason : "");
	expect(&scenario, reason ? sentence : NULL, name);
}

static void check_clashes(void)
{
	static const char unordered[] =
		" in that iteration, and which of the ops comes first is for the schedule to say; "
		"end one at the op at which the other starts";
	static const char unknown[] =
		", and when one that lasts for a time from an op is over cannot be told "
		"beforehand; let it last to an iteration or an op";
	static const char meets[] = " at that iteration; end one before the other starts";
	const struct moment f2 = op_at(15, 3, OP_F, 2), f4 = op_at(15, 3, OP_F, 4),
			    f6 = op_at(15, 3, OP_F, 6), b4 = op_at(15, 3, OP_B, 4);

	expect_pair((struct moment[]){f2, f4, f4, f6}, FAULT_DELAY, NULL,
	            "one may start at the op at which another ends");
	expect_pair((struct moment[]){edge(10), f4, f6, b4}, FAULT_DELAY, NULL,
	            "or at one that comes later under every schedule");
	expect_pair((struct moment[]){f4, edge(16), edge(16), never}, FAULT_DELAY, NULL,
	            "or at the edge to which another lasts");
	expect_pair((struct moment[]){f4, f6, edge(15), f4}, FAULT_DELAY, NULL,
	            "the order of the statements does not matter");
	expect_pair((struct moment[]){f2, b4, f6, never}, FAULT_DELAY, unordered,
	            "not at one that may come first");
	expect_pair((struct moment[]){edge(10), edge(15), f2, f4}, FAULT_DELAY, NULL,
	            "an iteration that is over is over");
	expect_pair((struct moment[]){edge(10), edge(16), f2, f4}, FAULT_DELAY, meets,
	            "one that is not is in force at all its ops");
	expect_pair((struct moment[]){f4, never, op_at(20, 0, OP_F, 0), never}, FAULT_DELAY, meets,
	            "an endless one clashes with all that follow");
	expect_pair((struct moment[]){f4, a_time(5), edge(90), never}, FAULT_DELAY, unknown,
	            "how long a time lasts is not known");
}

/* Outages of one rail, each for a time; n of them, at every microbatch's F. */
static void check_outages(void)
{
	struct scenario scenario;

	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 1000);
	add(&scenario, FAULT_DOWN, op_at(15, 1, OP_F, 2), a_time(5));
	add(&scenario, FAULT_DOWN, op_at(16, 1, OP_F, 2), a_time(5));
	expect(&scenario, NULL, "an RNIC may flap in one iteration after the other");
	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 1000);
	add(&scenario, FAULT_DOWN, op_at(15, 1, OP_F, 2), a_time(5));
	add(&scenario, FAULT_DOWN, op_at(15, 1, OP_F, 8), a_time(5));
	expect(&scenario,
	       "x.lua:11: rail 0 of stage 1 already has a down fault from line 10, and when one "
	       "that lasts for a time from an op is over cannot be told beforehand; let it last to "
	       "an iteration or an op",
	       "twice in one is refused");
}

static void check_numbers(int n_ops, const char *sentence, const char *name)
{
	struct scenario scenario;
	struct moment *ops;
	size_t n;

	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 1000);
	for (int i = 0; i < n_ops; i++)
		add(&scenario, FAULT_DELAY, op_at(15, i / 24, OP_F, i % 24),
		    i + 1 < n_ops ? op_at(15, (i + 1) / 24, OP_F, (i + 1) % 24) : edge(16));
	if (tap_is_int(scenario_list_ops(&scenario, &ops, &n), 0, "the ops are listed")) {
		tap_is_int((int64_t)n, n_ops, "each of %d once", n_ops);
		free(ops);
	}
	expect(&scenario, sentence, name);
}

int main(void)
{
	check_outages();
	check_numbers(24, NULL, "one fault may follow another, op after op");
	check_numbers(65, "faults start or end at more than 64 ops of iteration 15; use fewer",
	              "too many of them are refused");
	check_starts();
	check_ends();
	check_clashes();
	return tap_done();
}
