/* scenario_fixture.c - valid scenarios in memory, for the tests of what runs them. */
#include "tests/scenario_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/format/csv_table.h"
#include "tests/tap.h"

static void *must_have(void *memory)
{
	if (!memory) {
		fprintf(stderr, "# no memory for a scenario\n");
		exit(1);
	}
	return memory;
}

void scenario_fixture(struct scenario *out, int n_stages, int n_microbatches, int64_t op_ns)
{
	struct profile *profile = &out->profile;

	scenario_init(out);
	out->title = must_have(strdup("A fixture"));
	out->path = must_have(strdup(""));
	out->text_digest = must_have(strdup("0000000000000000"));
	out->schedules = must_have(array_new(1, sizeof(*out->schedules)));
	out->schedules[0] = must_have(strdup("1f1b"));
	out->n_schedules = 1;
	out->topology.n_stages = n_stages;
	out->topology.link_delay_ns = 0;
	out->n_microbatches = n_microbatches;
	out->n_iterations = 10;
	profile->name = must_have(strdup("fixture"));
	profile->source = must_have(strdup("made up"));
	profile->n_stages = n_stages;
	profile->samples_per_microbatch = 1;
	profile->stages = must_have(array_new((size_t)n_stages, sizeof(*profile->stages)));
	for (int stage = 0; stage < n_stages; stage++)
		profile->stages[stage] = (struct profile_stage){
			.forward_ns = op_ns,
			.backward_input_ns = op_ns,
			.backward_weight_ns = op_ns,
		};
}

static int64_t to_ns(double ms)
{
	return (int64_t)(ms * NS_PER_MS + 0.5);
}

/* The times in the table's rows of model; returns how many there are. */
static int read_profile(struct csv_table *table, const char *model, struct profile *profile)
{
	static const char *const names[] = {"stage", "F_ms", "B_ms", "W_ms"};
	struct err err = {0};
	int column = csv_table_column(table, "model", &err), n_found = 0;

	for (size_t row = 0; row < csv_table_n_rows(table); row++) {
		double found[4];

		if (strcmp(csv_table_text(table, row, column), model) != 0)
			continue;
		for (int i = 0; i < 4; i++)
			if (csv_table_number(table, row, csv_table_column(table, names[i], &err),
			                     &found[i], &err))
				return -1;
		if (found[0] < 0 || found[0] >= profile->n_stages)
			return -1;
		profile->stages[(int)found[0]] = (struct profile_stage){
			.forward_ns = to_ns(found[1]),
			.backward_input_ns = to_ns(found[2]),
			.backward_weight_ns = to_ns(found[3]),
		};
		n_found++;
	}
	return n_found;
}

bool scenario_fixture_profile(struct scenario *scenario, const char *model)
{
	const char *source = getenv("ADAPTRA_SOURCE");
	struct strbuf path = {0};
	struct csv_table *table;
	struct err err = {0};
	bool is_read;

	strbuf_addf(&path, "%s/tests/data/pipemorph/profiles_median.csv", source ? source : ".");
	if (csv_table_read(strbuf_text(&path), &table, &err)) {
		strbuf_fini(&path);
		return tap_ok(false, "the profile of %s is read: %s", model, err.text);
	}
	is_read = read_profile(table, model, &scenario->profile) == scenario->profile.n_stages;
	csv_table_free(table);
	strbuf_fini(&path);
	return is_read || tap_ok(false, "the profile of %s has a row a stage", model);
}

struct fault *scenario_fixture_fault(struct scenario *scenario, struct fault fault)
{
	size_t n = scenario->n_faults;

	scenario->faults =
		must_have(realloc(scenario->faults, (n + 1) * sizeof(*scenario->faults)));
	fault.event = (int)n;
	scenario->faults[n] = fault;
	scenario->n_faults++;
	return &scenario->faults[n];
}

struct fault *scenario_fixture_delay(struct scenario *scenario, int from_stage, int to_stage,
                                     enum delay_model model, int64_t delay_ns)
{
	return scenario_fixture_fault(scenario, (struct fault){
							.kind = FAULT_DELAY,
							.end = {.kind = MOMENT_NEVER, .value = 0},
							.from_stage = from_stage,
							.to_stage = to_stage,
							.model = model,
							.delay_ns = delay_ns,
						});
}

void scenario_fixture_slow_link(struct scenario *scenario, int link, enum delay_model model,
                                int64_t delay_ns)
{
	(void)scenario_fixture_delay(scenario, link, link + 1, model, delay_ns);
	(void)scenario_fixture_delay(scenario, link + 1, link, model, delay_ns);
}

void scenario_fixture_iterations(struct scenario *scenario, int n_faults, int first, int last)
{
	for (size_t i = scenario->n_faults - (size_t)n_faults; i < scenario->n_faults; i++) {
		scenario->faults[i].start =
			(struct moment){.kind = MOMENT_ITERATION, .value = first};
		scenario->faults[i].end =
			(struct moment){.kind = MOMENT_ITERATION, .value = last + 1};
	}
}

void scenario_fixture_times(struct scenario *scenario, int n_faults, int64_t start_ns,
                            int64_t end_ns)
{
	for (size_t i = scenario->n_faults - (size_t)n_faults; i < scenario->n_faults; i++) {
		scenario->faults[i].start = (struct moment){.kind = MOMENT_TIME, .value = start_ns};
		scenario->faults[i].end =
			(struct moment){.kind = end_ns < 0 ? MOMENT_NEVER : MOMENT_TIME,
		                        .value = end_ns < 0 ? 0 : end_ns};
	}
}

bool scenario_fixture_is_valid(const struct scenario *scenario)
{
	struct scenario_mistakes mistakes = {0};
	int rc = scenario_validate(scenario, &mistakes);

	if (rc)
		tap_note("not valid: %s",
		         mistakes.n_sentences > 0 ? mistakes.sentences[0] : "no memory");
	scenario_mistakes_fini(&mistakes);
	return rc == 0;
}
