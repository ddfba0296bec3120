/* read_workload.c - ab.workload and ab.profile: the times of every stage. */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/script/reader.h"

#define ROWS(array) (array), sizeof(array) / sizeof((array)[0])

/* One value, checked, to all stages or to one. */
static void set_value(struct profile *profile, const struct field *field, int stage, int64_t value)
{
	int first = stage < 0 ? 0 : stage;
	int last = stage < 0 ? profile->n_stages - 1 : stage;

	for (int i = first; i <= last; i++)
		memcpy((char *)&profile->stages[i] + field->offset, &value, sizeof(value));
}

/* Is this the first list whose length does not fit? The others of a profile have the same length.
 */
static void complain_length(struct script *script, const struct part *part,
                            const struct field *field, size_t n)
{
	const struct profile *profile = &script->scenario.profile;
	const struct place *place = &script->workload_place;

	if (!script->has_topology)
		return;
	if (strcmp(part->place.file, place->file) == 0)
		complain_field(script, part, field->name,
		               "%s has %zu values, the pipeline has %d stages", field->name, n,
		               profile->n_stages);
	else if (place->line > 0)
		script_complain(script, place,
		                "profile \"%s\" has times for %zu stages, the pipeline has %d",
		                profile->name ? profile->name : part->place.file, n,
		                profile->n_stages);
	script->workload_place.line = 0;
}

/* Rows that a stage list needs: how its values are read. */
static void read_stage_values(struct script *script, const struct part *part,
                              const struct field *field, enum field_kind kind)
{
	struct profile *profile = &script->scenario.profile;
	lua_State *lua = script->lua;
	struct field item = *field;
	char name[64];
	int64_t value;
	size_t n;

	item.kind = kind;
	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		if (read_quantity(script, part, &item, field->name, &value))
			set_value(profile, field, -1, value);
		return;
	}
	set_value(profile, field, -1, item.low);
	if (!read_list(script, part, field, &n))
		return;
	if (n != (size_t)profile->n_stages)
		complain_length(script, part, field, n);
	for (int i = 0; i < profile->n_stages && i < (int)n; i++) {
		snprintf(name, sizeof(name), "%s[%d]", field->name, i + 1);
		lua_rawgeti(lua, -1, i + 1);
		if (read_quantity(script, part, &item, name, &value))
			set_value(profile, field, i, value);
		lua_pop(lua, 1);
	}
}

static void read_times(struct script *script, const struct part *part, const struct field *field,
                       void *target)
{
	(void)target;
	read_stage_values(script, part, field, FIELD_DURATION);
}

static void read_sizes(struct script *script, const struct part *part, const struct field *field,
                       void *target)
{
	(void)target;
	read_stage_values(script, part, field, FIELD_SIZE);
}

#define BYTES_MAX (INT64_C(1) << 50)

static const struct field workload_rows[] = {
	{.name = "name",
         .kind = FIELD_TEXT,
         .offset = offsetof(struct scenario, profile.name),
         .example = "\"my-model\""},
	{.name = "source",
         .kind = FIELD_TEXT,
         .offset = offsetof(struct scenario, profile.source),
         .example = "\"measured with …\""},
	{.name = "forward",
         .kind = FIELD_OTHER,
         .read = read_times,
         .low = 1,
         .high = FAULT_DELAY_MAX_NS,
         .offset = offsetof(struct profile_stage, forward_ns),
         .example = "\"10ms\""},
	{.name = "backward",
         .kind = FIELD_OTHER,
         .read = read_times,
         .low = 1,
         .high = FAULT_DELAY_MAX_NS,
         .offset = offsetof(struct profile_stage, backward_input_ns),
         .example = "\"10ms\""},
	{.name = "weight",
         .kind = FIELD_OTHER,
         .read = read_times,
         .high = FAULT_DELAY_MAX_NS,
         .offset = offsetof(struct profile_stage, backward_weight_ns),
         .example = "\"10ms\""},
	{.name = "activation",
         .kind = FIELD_OTHER,
         .read = read_sizes,
         .high = BYTES_MAX,
         .offset = offsetof(struct profile_stage, activation_bytes),
         .example = "\"512MiB\""},
	{.name = "memory",
         .kind = FIELD_OTHER,
         .read = read_sizes,
         .high = BYTES_MAX,
         .offset = offsetof(struct profile_stage, memory_bytes),
         .example = "\"16GiB\""},
	{.name = "message",
         .kind = FIELD_SIZE,
         .high = BYTES_MAX,
         .offset = offsetof(struct scenario, profile.message_bytes),
         .example = "\"10MiB\""},
	{.name = "delegate_cost",
         .kind = FIELD_DURATION,
         .high = FAULT_DELAY_MAX_NS,
         .offset = offsetof(struct scenario, profile.delegate_cost_ns),
         .example = "\"500us\""},
	{.name = "microbatches",
         .kind = FIELD_COUNT,
         .low = 1,
         .high = SCENARIO_MICROBATCHES_MAX,
         .offset = offsetof(struct scenario, n_microbatches),
         .example = "24"},
	{.name = "samples_per_microbatch",
         .kind = FIELD_COUNT,
         .low = 1,
         .high = SCENARIO_MICROBATCHES_MAX,
         .offset = offsetof(struct scenario, profile.samples_per_microbatch),
         .example = "1"},
};

/* Values that no script can give, so that what is missing shows. */
static bool start_profile(struct script *script)
{
	struct profile *profile = &script->scenario.profile;
	int n = script->has_topology ? script->scenario.topology.n_stages : TOPOLOGY_STAGES_MAX;

	profile->stages = array_new((size_t)n, sizeof(*profile->stages));
	if (!profile->stages)
		return false;
	profile->n_stages = n;
	profile->samples_per_microbatch = 1;
	script->scenario.n_microbatches = 0;
	for (int i = 0; i < n; i++)
		profile->stages[i] = (struct profile_stage){-1, -1, -1, 0, 0};
	return true;
}

static void require(struct script *script, const struct part *part, const char *field,
                    const char *example, bool is_there)
{
	if (!is_there)
		script_complain(script, &part->place, "%s needs %s = %s", part->word, field,
		                example);
}

static void check_complete(struct script *script, const struct part *part)
{
	const struct scenario *scenario = &script->scenario;
	const struct profile_stage *stage = &scenario->profile.stages[0];
	bool has_activation = stage->activation_bytes > 0, has_memory = stage->memory_bytes > 0;

	require(script, part, "forward", "\"10ms\"", stage->forward_ns >= 0);
	require(script, part, "backward", "\"10ms\"", stage->backward_input_ns >= 0);
	require(script, part, "weight", "\"10ms\"", stage->backward_weight_ns >= 0);
	require(script, part, "microbatches", "24", scenario->n_microbatches > 0);
	if (has_activation != has_memory)
		script_complain(script, &part->place,
		                "activation and memory have an effect only together; %s gives one",
		                part->word);
}

/* A profile's file, then what the scenario says differently. */
static void read_parts(struct script *script, const struct part *outer, const char *field,
                       const char *kind, struct scenario *scenario)
{
	lua_State *lua = script->lua;
	bool is_profile = strcmp(kind, "profile") == 0;
	bool is_complete = true;
	struct part part, base;

	if (is_profile) {
		statement_push(lua, -1, "base");
		if (lua_isnil(lua, -1) || !part_open(script, outer, field, "workload", &base)) {
			lua_pop(lua, 1);
			return;
		}
		is_complete = read_fields(script, &base, ROWS(workload_rows), scenario);
		lua_pop(lua, 2);
	}
	if (!part_open(script, outer, field, kind, &part))
		return;
	is_complete = read_fields(script, &part, ROWS(workload_rows), scenario) && is_complete;
	if (is_complete)
		check_complete(script, &part);
	lua_pop(lua, 1);
}

void read_workload(struct script *script, const struct part *part, const struct field *field,
                   void *target)
{
	struct scenario *scenario = target;
	const char *kind = statement_kind(script->lua, -1);
	char found[DESCRIBED_BYTES];

	if (!kind || (strcmp(kind, "profile") != 0 && strcmp(kind, "workload") != 0)) {
		complain_field(script, part, field->name,
		               "workload is %s; write ab.profile \"NAME\" or ab.workload { … }",
		               describe_value(script->lua, -1, found));
		return;
	}
	if (!start_profile(script))
		luaL_error(script->lua, "out of memory");
	script->workload_place = statement_place(script->lua, -1);
	read_parts(script, part, field->name, kind, scenario);
	if (!scenario->profile.name)
		scenario->profile.name = keep_text(script, "own");
	scenario->delegate_cost_ns = scenario->profile.delegate_cost_ns;
}
