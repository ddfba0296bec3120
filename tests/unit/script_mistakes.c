/* script_mistakes.c - every kind of mistake gets its sentence, all of them at once. */
#include "tests/unit/script_text.h"

static const char *const folders[] = {"scenarios/profiles"};

/* All sentences of a file, against the golden list beside it. */
static void check_list(void)
{
	const char *const assignments[] = {"delay=3ms", "b"};
	const struct script_request request = {
		.path = "tests/data/script/many_mistakes.lua",
		.assignments = assignments,
		.n_assignments = 2,
		.profile_folders = folders,
		.n_profile_folders = 1,
	};
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct strbuf all = {0};
	struct err err = {0};

	tap_is_int(script_load(&request, &script, &mistakes, &err), -EINVAL,
	           "a script full of mistakes is refused");
	for (size_t i = 0; i < mistakes.n_sentences; i++)
		strbuf_addf(&all, "%s\n", mistakes.sentences[i]);
	tap_is_golden(strbuf_text(&all), "tests/data/script/many_mistakes.txt",
	              "all mistakes are listed, by line");
	tap_is_str(err.text, mistakes.n_sentences > 0 ? mistakes.sentences[0] : "",
	           "err holds the first");
	strbuf_fini(&all);
	scenario_mistakes_fini(&mistakes);
}

static void check_missing(void)
{
	struct scenario_mistakes mistakes = {0};
	const char *text = "return require('adaptra').scenario {}";
	struct script *script = NULL;
	struct err err = {0};

	(void)script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);
	if (!tap_is_int((int64_t)mistakes.n_sentences, 5, "five fields are required"))
		return;
	tap_is_str(mistakes.sentences[0], "x.lua:1: ab.scenario needs iterations = 300",
	           "a missing field is shown as it is written");
	scenario_mistakes_fini(&mistakes);
}

static void check_workloads(void)
{
	script_expect_fields(
		"workload = ab.profile 'gpt-14b-h800'",
		"x.lua:4: profile \"gpt-14b-h800\" has times for 8 stages, the pipeline "
		"has 4",
		"a profile of other stages is refused");
	script_expect_fields("workload = ab.workload { forward = '1ms', weight = '1ms', "
	                     "microbatches = 4 }",
	                     "x.lua:4: ab.workload needs backward = \"10ms\"",
	                     "a workload without a time is refused");
	script_expect_fields("workload = ab.workload { forward = { '1ms', '1ms', '1ms' },\n"
	                     "backward = '1ms', weight = '1ms', microbatches = 4 }",
	                     "x.lua:4: forward has 3 values, the pipeline has 4 stages",
	                     "a list of other stages is refused");
	script_expect_fields(
		"workload = ab.workload { forward = { '1ms', '1ms', 1, '1ms' },\n"
		"backward = '1ms', weight = '1ms', microbatches = 4 }",
		"x.lua:4: forward[3] is the number 1; write a text with a unit, such as "
		"\"10ms\"",
		"a wrong value in a list is named by its place");
	script_expect_fields(
		"workload = ab.workload { forward = { '1ms', nil, '1ms', x = 1 },\n"
		"backward = '1ms', weight = '1ms', microbatches = 4 }",
		"x.lua:4: forward is a list, but has names or gaps in it; write \"10ms\"",
		"a list with names in it is refused");
	script_expect_fields("workload = ab.workload { forward = '0ms',\n"
	                     "backward = '1ms', weight = '1ms', microbatches = 4 }",
	                     "x.lua:4: forward is \"0ms\"; it must be 1 ns to 24 h",
	                     "an op that takes no time is refused");
	script_expect_fields(
		"workload = ab.profile 'uniform-10ms' { activation = '1GiB' }",
		"x.lua:4: activation and memory have an effect only together; ab.profile "
		"gives one",
		"activations without memory are refused");
	script_expect_fields("workload = ab.profile '../x'",
	                     "x.lua:4: there is no profile \"../x\"; one that there is: "
	                     "\"gpt-140b-h800\"",
	                     "a profile's name leads nowhere else");
	script_expect_fields("workload = ab.profile 'uniform-10ms' { microbatches = 4, "
	                     "activation = { '1MiB', '2MiB', '3MiB', '4MiB' }, memory = '8MiB' }",
	                     NULL, "lists and single values may stand together");
}

static void check_faults(void)
{
	script_expect_fields(
		"faults = ab.delay { link = '1-2', delay = '1ms' }",
		"x.lua:4: faults is ab.delay; write a list, such as { ab.delay { link = "
		"\"2-3\", delay = \"30ms\" } }",
		"a fault that is no list is refused");
	script_expect_fields(
		"faults = { x = ab.delay { link = '1-2', delay = '1ms' } }",
		"x.lua:4: faults is a list, but has names or gaps in it; write { ab.delay { "
		"link = \"2-3\", delay = \"30ms\" } }",
		"faults with names are refused");
	script_expect_fields("faults = { ab.delay { link = {}, delay = '1ms' } }",
	                     "x.lua:4: link is an empty list; such a fault has no effect",
	                     "no links are refused");
	script_expect_fields("faults = { ab.delay { link = { '1-2', '2-1' }, delay = '1ms' } }",
	                     "x.lua:4: link \"1->2\" is named twice in one delay fault",
	                     "a link twice is refused");
	script_expect_fields(
		"faults = { ab.delay { link = '1-2', delay = '1ms', jitter = '1us' } }",
		"x.lua:4: jitter needs its distribution: \"uniform\", \"normal\", "
		"\"pareto\" or \"paretonormal\"",
		"jitter names its distribution");
	script_expect_fields("faults = { ab.delay { link = '1-2', delay = '1ms', distribution = "
	                     "'normal' } }",
	                     "x.lua:4: distribution has an effect only with jitter, as in jitter = "
	                     "\"5ms\"",
	                     "what has no effect is refused");
	script_expect_fields("faults = { ab.delay { link = '1-2', delay = '1ms', reordering = true "
	                     "} }",
	                     "x.lua:4: reordering has an effect only with jitter of a path, as in "
	                     "jitter = \"5ms\" and model = \"latency\"",
	                     "nor do packets without jitter overtake");
	script_expect_fields(
		"faults = { ab.down { rnic = 'host1/mlx5_2' } }",
		"x.lua:4: rnic \"host1/mlx5_2\": host 1 has one RNIC for each of its 2 "
		"stages, mlx5_0 to mlx5_1",
		"an RNIC that is not there is refused");
}

static void check_losses(void)
{
	static const struct {
		const char *fields, *sentence, *name;
	} cases[] = {
		{"loss = '0.1%', correlation = '25%'", NULL, "a loss in percent"},
		{"loss = 0.001", NULL, "a loss as a number"},
		{"loss = '0.1 %'",
	         "x.lua:4: loss: '0.1 %' is not a ratio; write 0 to 1, such as 0.001 or 0.1%",
	         "another text"},
		{"loss = 1.5",
	         "x.lua:4: loss is the number 1.5; write a ratio of 0 to 1, such as "
	         "\"0.1%\"",
	         "more than all"},
		{"loss = true", "x.lua:4: loss is true; write a ratio, such as \"0.1%\"",
	         "what is no ratio"},
		{"loss = '1%', corelation = 0.5",
	         "x.lua:4: ab.loss has no field \"corelation\"; did you mean \"correlation\"?",
	         "a wrong name"},
		{"loss = 0", "x.lua:4: loss is 0; it must be 1e-09 to 1, or 100 %", "none at all"},
		{"loss = '1%', at = ab.iter(3), lasts = ab.time '2s'",
	         "x.lua:4: a fault that starts at an iteration lasts for iterations; write "
	         "lasts = ab.iter(70)",
	         "moments that do not go together"},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "faults = { ab.loss { link = '1-2', %s } }",
		         cases[i].fields);
		script_expect_fields(text, cases[i].sentence, cases[i].name);
	}
	script_expect_fields("faults = { ab.loss { link = '1->2', loss = '1%' },\n"
	                     "ab.delay { link = '1-2', delay = '1ms', jitter = '1ms',\n"
	                     "distribution = 'normal', reordering = true },\n"
	                     "ab.loss { link = '1-2', loss = '2%' } }",
	                     "x.lua:7: link \"1->2\" already has a loss fault from line 4 at that "
	                     "iteration; end one before the other starts",
	                     "two losses may not meet, but other kinds");
}

static void check_flaps(void)
{
	static const struct {
		const char *fields, *sentence, *name;
	} cases[] = {
		{"at = ab.time '1s', lasts = ab.time '9s', period = ab.time '2s', duty = '25%'",
	         NULL, "an RNIC that flaps by time"},
		{"at = ab.iter(5), lasts = ab.iter(50), period = ab.iter(10), duty = 0.5", NULL,
	         "or by iterations"},
		{"lasts = ab.time '9s', period = ab.time '2s'",
	         "x.lua:4: period and duty go together, as in period = ab.time \"2s\", duty = "
	         "\"50%\"",
	         "a period without its duty"},
		{"duty = '25%'",
	         "x.lua:4: period and duty go together, as in period = ab.time \"2s\", duty = "
	         "\"50%\"",
	         "a duty without its period"},
		{"at = ab.time '1s', period = ab.time '2s', duty = '25%'",
	         "x.lua:4: an RNIC that flaps needs an end; write lasts = ab.time \"20s\"",
	         "a flap without an end"},
		{"at = ab.iter(3), lasts = ab.time '9s', period = ab.time '2s', duty = '25%'",
	         "x.lua:4: a period that is a time goes with at and lasts that are times, such as "
	         "at = ab.time \"2s\"",
	         "times from an iteration on"},
		{"lasts = ab.time '9s', period = ab.iter(2), duty = '50%'",
	         "x.lua:4: a period of iterations goes with at and lasts of iterations, such as at "
	         "= ab.iter(10)",
	         "iterations from a time on"},
		{"lasts = ab.iter(50), period = ab.iter(10), duty = '1%'",
	         "x.lua:4: duty leaves nothing of a period; the RNIC has to be down for a part of "
	         "it, in whole iterations",
	         "less than an iteration"},
		{"lasts = ab.time '9s', period = ab.time '2s', duty = 1",
	         "x.lua:4: duty leaves all of a period; the RNIC has to be down for a part of it, "
	         "and up for the rest",
	         "a flap that never comes up"},
		{"lasts = ab.time '9s', period = ab.time '0s', duty = '50%'",
	         "x.lua:4: period is 0; such a flap never ends", "no period"},
		{"lasts = ab.time '9s', period = ab.time '2ms', duty = '50%'",
	         "x.lua:4: the RNIC would flap 4500 times; 1000 are the most", "too many"},
		{"lasts = ab.time '9s', period = '2s', duty = '50%'",
	         "x.lua:4: period is \"2s\"; write ab.iter(15) for an iteration, ab.time \"2s\" "
	         "for a time or ab.op { … } for an op in an iteration",
	         "a period that is no moment"},
		{"lasts = ab.time '9s', perod = ab.time '2s'",
	         "x.lua:4: ab.down has no field \"perod\"; did you mean \"period\"?",
	         "a wrong name of it"},
		{"at = ab.iter(90), lasts = ab.iter(50), period = ab.iter(10), duty = 0.5",
	         "x.lua:4: the fault starts at iteration 100, but the last iteration is 99",
	         "a flap past the last iteration"},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "faults = { ab.down { stage = 1, %s } }",
		         cases[i].fields);
		script_expect_fields(text, cases[i].sentence, cases[i].name);
	}
	script_expect_fields("faults = { ab.delay { link = '1-2', delay = '1ms', "
	                     "period = ab.iter(2) } }",
	                     "x.lua:4: ab.delay has no field \"period\"; its fields are link, "
	                     "delay, jitter, distribution, reordering, model, at, lasts, label, "
	                     "published",
	                     "only an RNIC flaps");
}

/* The faults of one statement, as they start and end. */
static void check_flap_times(void)
{
	char *text = script_around(
		"", "faults = { ab.down { stage = 1, at = ab.iter(5), lasts = ab.iter(23), "
		    "period = ab.iter(10), duty = '40%' } }");
	struct scenario_mistakes mistakes = {0};
	struct strbuf found = {0};
	struct script *script = NULL;
	struct err err = {0};
	const struct scenario *s;

	if (script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err)) {
		tap_ok(false, "the script loads: %s", err.text);
		return;
	}
	s = script_scenario(script);
	for (size_t i = 0; i < s->n_faults; i++)
		strbuf_addf(&found, "%lld-%lld ", (long long)s->faults[i].start.value,
		            (long long)s->faults[i].end.value);
	tap_is_str(strbuf_text(&found), "5-9 15-19 25-28 ",
	           "each time is a fault, and the last one ends with all");
	tap_is_int((int64_t)s->n_events, 1, "they are one event");
	tap_is_str(s->events[0].label, "RNIC of stage 1 down for 4 of every 10 iterations",
	           "which says how often");
	tap_ok(s->events[0].first_iteration == 5 && s->events[0].last_iteration == 27,
	       "from the first to the last");
	strbuf_fini(&found);
	script_free(script);
	free(text);
}

static void write_trace(const char *text)
{
	char path[SCRIPT_PATH_BYTES + 16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/x.trace", script_folder);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

static void check_traces(void)
{
	char *text;
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};

	write_trace("10;0_1,2_3;0.030\n40;2_3;0.010\n60;;inf\n");
	text = script_around(
		"", "faults = { ab.trace { file = 'x.trace', stage = 2, model = 'rate' } }");
	if (script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err)) {
		tap_ok(false, "a trace loads: %s", err.text);
	} else {
		const struct scenario *s = script_scenario(script);

		tap_is_int((int64_t)s->n_faults, 7,
		           "a trace gives a fault for each direction and stretch");
		tap_is_str(s->events[0].label, "0-1, 2-3: 30 ms",
		           "what starts together is one event");
		tap_ok(s->events[0].first_iteration == 10 && s->events[0].last_iteration == 39,
		       "an event lasts until the next line");
		tap_is_str(s->events[2].label, "RNIC of stage 2 down", "inf is a dead RNIC");
		tap_is_int(s->faults[0].model, DELAY_RATE, "model is the scenario's to say");
		tap_is_int(s->faults[6].from_stage, 2, "and so is the RNIC's stage");
	}
	script_free(script);
	free(text);
	script_expect_fields("faults = { ab.trace { file = 'x.trace', at = ab.time '3s' } }",
	                     "x.lua:4: at shifts a trace by time, and x.trace is by iteration",
	                     "at has no effect on a trace by iteration");
	script_expect_fields(
		"faults = { ab.trace '../x.trace' }",
		"x.lua:4: file is \"../x.trace\"; write a path below the script's folder",
		"a trace's path leads nowhere else");
	script_expect_fields(
		"faults = { ab.trace { file = 'x.trace', by = 'tme' } }",
		"x.lua:4: by is \"tme\"; it is one of \"iteration\", \"time\"; did you mean "
		"\"time\"?",
		"a wrong kind of trace is told the nearest");
	write_trace("0.5;0_1;0.030\n1.5;;0.00\n");
	script_expect_fields("faults = { ab.trace { file = 'x.trace', at = ab.iter(3) } }",
	                     "x.lua:4: a trace by time starts at a time, such as ab.time \"3s\"",
	                     "a trace by time cannot start at an iteration");
	script_expect_fields("faults = { ab.trace 'x.trace' }", NULL, "a trace by time loads");
}

/* Faults as a script says them and as C has them. */
static void check_spread(void)
{
	char *text = script_around(
		"",
		"workload = ab.profile 'uniform-10ms' { message = '4MiB' }, "
		"faults = { ab.delay { link = { '0-1', '3->2' }, delay = '30ms', at = ab.iter(15), "
		"lasts = ab.iter(70), published = { zb = '2s', ['1f1b'] = '1500ms' } },\n"
		"ab.down { rnic = 'host1/mlx5_1', at = ab.iter(20), lasts = ab.time '2s' },\n"
		"ab.slow { stage = { 0, 2 }, factor = 1.23456, lasts = ab.time '2s' },\n"
		"ab.rate { link = '1-2', rate = '1Gbit' },\n"
		"ab.loss { link = '0->1', loss = '0.1%', correlation = 0.25 } }");
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};
	const struct scenario *s;

	if (script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err)) {
		tap_ok(false, "the script loads: %s", err.text);
		return;
	}
	s = script_scenario(script);
	tap_is_int((int64_t)s->n_faults, 9, "a fault is made for each direction and stage");
	tap_is_str(s->events[0].label, "0-1, 3->2: 30 ms", "a delay is called by its links");
	tap_ok(s->events[0].first_iteration == 15 && s->events[0].last_iteration == 84,
	       "15 for 70 iterations is 15 to 84");
	tap_is_str(s->events[0].published[0].schedule, "1f1b", "published times are in order");
	tap_is_int(s->events[0].published[0].p50_ns, 1500000000, "with their values");
	tap_is_str(s->events[1].label, "RNIC of stage 3 down for 2 s",
	           "mlx5_1 of host 1 is that of stage 3, and the time it lasts is said");
	tap_ok(s->faults[3].end.kind == MOMENT_TIME && s->faults[3].end.value == 2000000000,
	       "a DOWN keeps the time it lasts");
	tap_is_str(s->events[2].label, "stages 0, 2: 1.235 times slower",
	           "a slow stage says how slow, in four digits");
	tap_is_int(s->faults[4].start.kind, MOMENT_TIME,
	           "without at a fault by time starts at 0 s");
	tap_is_str(s->events[3].label, "1-2: 1 Gbit/s", "a rate says how much is left");
	tap_ok(s->faults[6].end.kind == MOMENT_NEVER && s->events[3].last_iteration == -1,
	       "without lasts a fault stays");
	tap_is_str(s->events[4].label, "0->1: 0.1 % lost", "a loss says how much is lost");
	tap_ok(s->faults[8].kind == FAULT_LOSS && s->faults[8].loss_ratio == 0.001 &&
	               s->faults[8].loss_correlation_ratio == 0.25,
	       "and has its numbers");
	tap_is_int(s->faults[0].script_line, 4, "a fault knows its line");
	script_free(script);
	free(text);
}

/* A sentence names the field's own line, whatever is written around it. */
static void check_lines(void)
{
	script_expect_fields("--[[ seed = 3 ]] note = 'seed = 4 }',\n   -- seed = 5\n"
	                     "faults = {}, checks = { seed = function() return true end },\n\n"
	                     "   [ \"seed\" ] = -1",
	                     "x.lua:8: seed is the number -1; it must be 0 or more",
	                     "comments, texts and inner tables are not taken for the field");
	script_expect_fields("note = [==[\n }} seed = ]] \n]==],\n seed = 'x'",
	                     "x.lua:7: seed is \"x\"; write a whole number, such as 42",
	                     "long brackets are not taken for the field");
	script_expect_fields(
		"recovery = {\n checkpoint_every = 10,\n restart = 5 }",
		"x.lua:6: recovery.restart is the number 5; write a text with a unit, such "
		"as \"95s\"",
		"a field of a part is found on its own line");
	script_expect_fields("recovery = { rdma_timeout = 14,\n rdma_retries = 7 }",
	                     "x.lua:5: recovery.rdma_retries is the number 7; it must be 0 to 6",
	                     "retries that some RNICs repeat for ever are refused");
	script_expect_fields("recovery = { rdma_timeout = 0 }",
	                     "x.lua:4: recovery.rdma_timeout is the number 0; it must be 1 to 31",
	                     "and so is a timeout that is none");
}

int main(void)
{
	script_folder_open();
	check_list();
	check_missing();
	check_workloads();
	check_faults();
	check_losses();
	check_flaps();
	check_flap_times();
	check_traces();
	check_spread();
	check_lines();
	script_folder_close();
	return tap_done();
}
