/* scenario_validate.c - every rule of a valid scenario, each broken once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/scenario/scenario.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_FAULTS = 3 };

/* A valid scenario of two stages' worth of everything. */
static void make(struct scenario *s)
{
	scenario_init(s);
	s->title = strdup("t");
	s->topology.n_stages = N_STAGES;
	s->topology.n_hosts = 2;
	s->profile.name = strdup("p");
	s->profile.n_stages = N_STAGES;
	s->profile.samples_per_microbatch = 1;
	s->profile.stages = calloc(N_STAGES, sizeof(*s->profile.stages));
	for (int i = 0; s->profile.stages && i < N_STAGES; i++)
		s->profile.stages[i] = (struct profile_stage){1000, 1000, 1000, 0, 0};
	s->schedules = calloc(2, sizeof(*s->schedules));
	if (s->schedules)
		s->schedules[0] = strdup("1f1b");
	s->n_schedules = 1;
	s->faults = calloc(N_FAULTS, sizeof(*s->faults));
	for (int i = 0; s->faults && i < N_FAULTS; i++)
		s->faults[i] = (struct fault){
			.event = i,
			.script_line = 10 + i,
			.start = {.kind = MOMENT_ITERATION, .value = 10 * i},
			.end = {.kind = MOMENT_ITERATION, .value = 10 * i + 10},
			.from_stage = 1,
			.to_stage = 2,
			.delay_ns = 5,
		};
	s->n_faults = N_FAULTS;
}

/* The mistakes of a scenario, one a line; heap. Frees the scenario. */
static void expect(struct scenario *s, const char *sentence, const char *name)
{
	struct scenario_mistakes mistakes = {.script_name = "x.lua"};
	int rc = scenario_validate(s, &mistakes);

	if (!sentence)
		tap_ok(rc == 0 && mistakes.n_sentences == 0, "%s", name);
	else if (tap_ok(rc == -EINVAL && mistakes.n_sentences == 1, "%s, once", name))
		tap_is_str(mistakes.sentences[0], sentence, "%s", name);
	for (size_t i = 0; sentence && i < mistakes.n_sentences; i++)
		tap_note("%s", mistakes.sentences[i]);
	scenario_mistakes_fini(&mistakes);
	scenario_fini(s);
}

static void check_numbers(void)
{
	struct scenario s;

	make(&s);
	expect(&s, NULL, "a valid scenario has no mistakes");
	make(&s);
	s.topology.n_stages = 0;
	expect(&s, "stages is 0; it must be 1 to 1024", "no stages are refused");
	make(&s);
	s.topology.n_hosts = 5;
	expect(&s, "hosts is 5; it must be 1 to 4", "more hosts than stages are refused");
	make(&s);
	s.n_microbatches = 0;
	expect(&s, "microbatches is 0; it must be 1 to 65536", "no microbatches are refused");
	make(&s);
	s.n_warmup = 100;
	expect(&s, "warmup is 100; it must be 0 to 99", "a warm-up without an end is refused");
	make(&s);
	s.profile.stages[2].forward_ns = -1;
	expect(&s, "forward of stage 2 is -1 ns; it must be 1 to 86400000000000",
	       "negative times are refused");
	make(&s);
	s.profile.n_stages = 3;
	expect(&s, "profile \"p\" has times for 3 stages, the pipeline has 4",
	       "a profile of other stages is refused");
	make(&s);
	s.detection.threshold_ns = -1;
	expect(&s, "threshold in ns is -1; it must be 0 to 86400000000000",
	       "a negative threshold is refused");
	make(&s);
	s.schedules[s.n_schedules++] = strdup("1f1b");
	expect(&s, "schedule \"1f1b\" is named twice", "a schedule twice is refused");
	make(&s);
	s.n_iterations = SCENARIO_ITERATIONS_MAX;
	s.faults[0].delay_ns = FAULT_DELAY_MAX_NS;
	expect(&s,
	       "the run could take longer than can be counted in nanoseconds; lower iterations, "
	       "microbatches or delays",
	       "a run that 64 bits cannot count is refused");
}

static void check_fault_ranges(void)
{
	struct scenario s;

	make(&s);
	s.faults[1].to_stage = 3;
	expect(&s,
	       "x.lua:11: link \"1->3\" does not join neighbours in a pipeline of 4 stages; links "
	       "are "
	       "\"0-1\" to \"2-3\"",
	       "a link that skips a stage is refused");
	make(&s);
	s.faults[1].kind = FAULT_SLOW_STAGE;
	s.faults[1].from_stage = s.faults[1].to_stage = 4;
	s.faults[1].slowdown = 2;
	expect(&s, "x.lua:11: stage 4 is not in a pipeline of 4 stages; stages are 0 to 3",
	       "a stage past the last is refused");
	make(&s);
	s.faults[1].kind = FAULT_SLOW_STAGE;
	s.faults[1].to_stage = 1;
	s.faults[1].slowdown = 0.5;
	expect(&s, "x.lua:11: factor is 0.5; it must be 1 to 1000", "a faster stage is no fault");
	make(&s);
	s.faults[1].kind = FAULT_DOWN;
	s.faults[1].to_stage = 1;
	s.faults[1].rail = 2;
	expect(&s, "x.lua:11: rail 2 is not one of the 2 rails of a stage; rails are 0 to 1",
	       "a rail past the last is refused");
	make(&s);
	s.faults[2].start.value = 100;
	s.faults[2].end.kind = MOMENT_NEVER;
	expect(&s, "x.lua:12: the fault starts at iteration 100, but the last iteration is 99",
	       "a fault past the last iteration is refused");
	make(&s);
	s.faults[1].end.value = 10;
	expect(&s, "x.lua:11: the fault ends before it starts", "an empty interval is refused");
	make(&s);
	s.faults[1].delay_ns = 0;
	expect(&s, "x.lua:11: a delay of 0 without jitter has no effect; leave the fault out",
	       "a fault without an effect is refused");
	make(&s);
	s.faults[1].end.kind = MOMENT_TIME;
	expect(&s,
	       "x.lua:11: a fault that starts at an iteration lasts for iterations, one that "
	       "starts "
	       "at a time for a time",
	       "an interval of two kinds is refused");
	make(&s);
	s.faults[1].kind = FAULT_DOWN;
	s.faults[1].to_stage = 1;
	s.faults[1].end = (struct moment){.kind = MOMENT_TIME, .value = 5};
	expect(&s, NULL, "a DOWN may start at an iteration and end after a time");
}

static void check_packets(void)
{
	struct scenario s;

	make(&s);
	s.faults[1].kind = FAULT_LOSS;
	s.faults[1].loss_ratio = 0.001;
	s.faults[1].loss_correlation_ratio = 0.25;
	s.faults[1].start.value = 0;
	expect(&s, NULL, "a loss may meet a delay");
	make(&s);
	s.faults[1].kind = FAULT_LOSS;
	expect(&s, "x.lua:11: loss is 0; it must be 1e-09 to 1, or 100 %",
	       "a loss of nothing is refused");
	make(&s);
	s.faults[1].kind = FAULT_LOSS;
	s.faults[1].loss_ratio = 0.5;
	s.faults[1].loss_correlation_ratio = 1;
	expect(&s, "x.lua:11: correlation is 1; it must be less than 1, or 100 %",
	       "losses that never change are refused");
	make(&s);
	s.faults[1].kind = FAULT_LOSS;
	s.faults[1].loss_ratio = 1;
	s.faults[1].loss_correlation_ratio = 0.5;
	expect(&s, "x.lua:11: correlation has no effect where every packet is lost; leave it out",
	       "so is a correlation without effect");
	make(&s);
	s.faults[1].kind = FAULT_LOSS;
	s.faults[1].loss_ratio = 1;
	s.faults[1].to_stage = 3;
	expect(&s,
	       "x.lua:11: link \"1->3\" does not join neighbours in a pipeline of 4 stages; links "
	       "are \"0-1\" to \"2-3\"",
	       "a loss is on a link");
	make(&s);
	s.faults[1].allows_reordering = true;
	expect(&s,
	       "x.lua:11: packets overtake each other only by jitter of a path (model = "
	       "\"latency\"); leave out reordering",
	       "packets without jitter do not overtake");
}

static void check_clashes(void)
{
	struct scenario s;

	make(&s);
	s.faults[0].end.value = 11;
	expect(&s,
	       "x.lua:11: link \"1->2\" already has a delay fault from line 10 at that iteration; "
	       "end "
	       "one before the other starts",
	       "faults that meet on one target are refused");
	make(&s);
	s.faults[0].end.kind = MOMENT_NEVER;
	s.faults[1].from_stage = 2;
	s.faults[1].to_stage = 1;
	expect(&s,
	       "x.lua:12: link \"1->2\" already has a delay fault from line 10 at that iteration; "
	       "end "
	       "one before the other starts",
	       "an endless fault meets all later ones, but not those of the other direction");
	make(&s);
	s.faults[1].kind = FAULT_RATE;
	s.faults[1].rate_bits_per_s = 1000;
	s.faults[1].start.value = 0;
	s.profile.message_bytes = 0;
	expect(&s,
	       "x.lua:11: a rate slows messages by their size, and this workload has none; give it "
	       "message = \"4MiB\", or use a delay with model = \"rate\"",
	       "a rate for messages without a size is refused");
	make(&s);
	s.faults[1].kind = FAULT_RATE;
	s.faults[1].rate_bits_per_s = 1000;
	s.faults[1].start.value = 0;
	s.profile.message_bytes = 4096;
	expect(&s, NULL, "faults of two kinds may meet");
	make(&s);
	s.faults[1].start = (struct moment){.kind = MOMENT_TIME, .value = 0};
	s.faults[1].end = (struct moment){.kind = MOMENT_TIME, .value = 1};
	s.n_faults = 2;
	expect(&s,
	       "x.lua:11: link \"1->2\" already has a delay fault from line 10, and one is by "
	       "iteration, the other by time: they cannot be told apart; use one kind of moment",
	       "by iteration and by time on one target cannot be told apart");
	make(&s);
	s.faults[1].event = 0;
	s.faults[1].start.value = 5;
	s.n_faults = 2;
	expect(&s, "x.lua:11: link \"1->2\" is named twice in one delay fault",
	       "a link twice in one statement is refused");
}

/* Of make()'s scenario. */
#define FINGERPRINT UINT64_C(0x645705a422830eb3)

static void check_fingerprint(void)
{
	struct scenario s;
	uint64_t before, loss;

	make(&s);
	before = scenario_workload_fingerprint(&s);
	tap_ok(scenario_workload_fingerprint(&s) == before, "a fingerprint is the same twice");
	tap_ok(before == FINGERPRINT, "and in every version, so that old runs stay comparable");
	free(s.title);
	s.title = strdup("another title");
	s.n_queues = 3;
	s.faults[0].script_line = 99;
	tap_ok(scenario_workload_fingerprint(&s) == before,
	       "what is not the workload does not count for the fingerprint");
	s.faults[0].jitter_ns = 1;
	tap_ok(scenario_workload_fingerprint(&s) != before, "faults count for the fingerprint");
	s.faults[0].jitter_ns = 0;
	s.faults[0].allows_reordering = true;
	tap_ok(scenario_workload_fingerprint(&s) != before, "and whether packets may overtake");
	s.faults[0].allows_reordering = false;
	tap_ok(scenario_workload_fingerprint(&s) == before, "else it is as it was");
	s.faults[0].kind = FAULT_LOSS;
	s.faults[0].loss_ratio = 0.001;
	loss = scenario_workload_fingerprint(&s);
	s.faults[0].loss_ratio = 0.0011;
	tap_ok(scenario_workload_fingerprint(&s) != loss, "and how much is lost");
	s.faults[0].kind = FAULT_DELAY;
	s.faults[0].loss_ratio = 0;
	s.profile.stages[3].backward_weight_ns++;
	tap_ok(scenario_workload_fingerprint(&s) != before,
	       "the profile counts for the fingerprint");
	s.profile.stages[3].backward_weight_ns--;
	s.seed++;
	tap_ok(scenario_workload_fingerprint(&s) != before, "the seed counts for the fingerprint");
	scenario_fini(&s);
}

static void check_repeat_seeds(void)
{
	struct scenario s;
	uint64_t seeds[3];

	make(&s);
	for (int repeat = 0; repeat < 3; repeat++)
		seeds[repeat] = scenario_repeat_seed(&s, repeat);
	tap_ok(seeds[0] == s.seed, "the first repeat draws from the scenario's seed");
	tap_ok(seeds[1] != seeds[0] && seeds[2] != seeds[0] && seeds[1] != seeds[2],
	       "every other repeat from one of its own");
	s.seed++;
	tap_ok(scenario_repeat_seed(&s, 2) != seeds[2], "which comes from the scenario's");
	scenario_fini(&s);
}

int main(void)
{
	check_numbers();
	check_fault_ranges();
	check_packets();
	check_clashes();
	check_fingerprint();
	check_repeat_seeds();
	return tap_done();
}
