/* script_ops.c - ab.op in a script: what it gives, and the sentence for every mistake in it. */
#include "tests/unit/script_text.h"

#define F4 "ab.op { iteration = 15, stage = 1, op = 'F', microbatch = 4 }"
#define B5 "ab.op { iteration = 15, stage = 2, op = 'B', microbatch = 5 }"

/* One fault from such an at and lasts. */
static void expect(const char *moments, const char *sentence, const char *name)
{
	char fields[600];

	snprintf(fields, sizeof(fields),
	         "workload = ab.profile 'uniform-10ms' { microbatches = 8 },\n"
	         "faults = { ab.delay { link = '1->2', delay = '30ms', %s } }",
	         moments);
	script_expect_fields(fields, sentence, name);
}

static void check_moments(void)
{
	expect("at = " F4, NULL, "a fault may start at an op");
	expect("at = " F4 ", lasts = ab.iter(1)", NULL, "and last for iterations");
	expect("at = " F4 ", lasts = ab.time '2s'", NULL, "or for a time");
	expect("at = " F4 ", lasts = " B5, NULL, "or to another op");
	expect("at = ab.iter(15), lasts = " B5, NULL, "one from an iteration may last to an op");
	expect("lasts = " B5, NULL, "so may one from the start");
	expect("at = ab.time '1s', lasts = " B5,
	       "x.lua:5: a fault that starts at a time lasts for a time; write lasts = ab.time "
	       "\"2s\"",
	       "one from a time may not");
	expect("at = " B5 ", lasts = " F4, "x.lua:5: the fault ends before it starts",
	       "nor may one last to an op that comes before");
	expect("at = " F4 ", lasts = ab.iter(0)", "x.lua:5: lasts is 0; such a fault has no effect",
	       "no iterations are no effect");
	expect("at = " F4 ", lasts = ab.time '0s'",
	       "x.lua:5: lasts is 0; such a fault has no effect", "and no time is none");
	expect("at = 15",
	       "x.lua:5: at is the number 15; write ab.iter(15) for an iteration, ab.time \"2s\" "
	       "for a time or ab.op { … } for an op in an iteration",
	       "the words for a moment are named");
}

static void check_fields(void)
{
	expect("at = ab.op { iteration = 15, stage = 1, op = 'F' }",
	       "x.lua:5: ab.op needs microbatch = 4", "an op has a microbatch");
	expect("at = ab.op { stage = 1, op = 'F', microbatch = 4 }",
	       "x.lua:5: ab.op needs iteration = 15", "and an iteration");
	expect("at = ab.op { iteration = 15, stage = 1, op = 'G', microbatch = 4 }",
	       "x.lua:5: op is \"G\"; it is one of \"F\", \"B\", \"W\"; did you mean \"F\"?",
	       "and a kind");
	expect("at =\n ab.op { iteration = 15, stage = 1, op = 'F',\n microbach = 4, microbatch = "
	       "4 "
	       "}",
	       "x.lua:7: ab.op has no field \"microbach\"; did you mean \"microbatch\"?",
	       "a misspelt field is told the nearest, on its own line");
	expect("at = ab.op(15)", "x.lua:5: ab.op was given the number 15; write ab.op { … }",
	       "an op is not a number");
	expect("at = ab.op { iteration = 300, stage = 1, op = 'F', microbatch = 4 }",
	       "x.lua:5: the fault starts at an op of iteration 300; iterations are 0 to 99",
	       "an op is of an iteration that there is");
	expect("at = ab.op { iteration = 15, stage = 4, op = 'F', microbatch = 4 }",
	       "x.lua:5: stage 4 is not in a pipeline of 4 stages; stages are 0 to 3",
	       "and of a stage that there is");
	expect("at = ab.op { iteration = 15, stage = 1, op = 'F', microbatch = 8 }",
	       "x.lua:5: there is no F8 in an iteration of 8 microbatches; microbatches are 0 to 7",
	       "and of a microbatch that there is");
	script_expect_fields("faults = { " F4 " }",
	                     "x.lua:4: faults[1] is ab.op; a fault is ab.delay, ab.rate, ab.loss, "
	                     "ab.slow, ab.down or ab.trace",
	                     "an op is no fault");
}

/* Faults as a script says them and as C has them. */
static void check_spread(void)
{
	char *text = script_around(
		"", "workload = ab.profile 'uniform-10ms' { microbatches = 8 },\n"
		    "faults = { ab.delay { link = '1-2', delay = '30ms', at = " F4 ", lasts = " B5
		    " },\n"
		    "ab.slow { stage = 0, factor = 2, at = ab.iter(10), lasts = " F4 " },\n"
		    "ab.down { stage = 3, at = " F4 ", lasts = ab.iter(3) },\n"
		    "ab.down { stage = 2, at = " F4 ", lasts = ab.time '2s', label = 'a flap' } }");
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};
	const struct scenario *s;

	if (script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err)) {
		tap_ok(false, "the script loads: %s", err.text);
		return;
	}
	s = script_scenario(script);
	tap_is_int((int64_t)s->n_faults, 5, "a fault is made for each direction and stage");
	for (int i = 0; i < 2; i++) {
		const struct moment *start = &s->faults[i].start, *end = &s->faults[i].end;

		tap_ok(start->kind == MOMENT_OP && start->value == 15 && start->stage == 1 &&
		               start->op == OP_F && start->microbatch == 4,
		       "it starts at F4 of stage 1");
		tap_ok(end->kind == MOMENT_OP && end->value == 15 && end->stage == 2 &&
		               end->op == OP_B && end->microbatch == 5,
		       "and ends at B5 of stage 2");
	}
	tap_is_str(s->events[0].label, "1-2: 30 ms, from F4 of stage 1 to B5 of stage 2",
	           "it is called by its ops, too");
	tap_ok(s->events[0].first_iteration == 15 && s->events[0].last_iteration == 15,
	       "all of it in iteration 15");
	tap_is_str(s->events[1].label, "stage 0: 2 times slower, to F4 of stage 1",
	           "so is one that ends at an op");
	tap_ok(s->events[1].first_iteration == 10 && s->events[1].last_iteration == 15,
	       "its last iteration is the op's");
	tap_ok(s->faults[3].end.kind == MOMENT_ITERATION && s->faults[3].end.value == 18,
	       "three iterations from an op on are over at the edge after the third");
	tap_is_str(s->events[2].label, "RNIC of stage 3 down, from F4 of stage 1",
	           "an RNIC may die at another stage's op");
	tap_ok(s->faults[4].end.kind == MOMENT_TIME && s->faults[4].end.value == 2000000000,
	       "a time after an op is kept as it is");
	tap_is_str(s->events[3].label, "a flap", "a label is the scenario's to say");
	script_free(script);
	free(text);
}

int main(void)
{
	script_folder_open();
	check_moments();
	check_fields();
	check_spread();
	script_folder_close();
	return tap_done();
}
