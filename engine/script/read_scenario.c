/* read_scenario.c - the fields of ab.scenario, but for workload and faults. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedule/schedule.h"
#include "engine/script/reader.h"

#define ROWS(array) (array), sizeof(array) / sizeof((array)[0])

static const int64_t time_max_ns = FAULT_DELAY_MAX_NS;

static void read_link(struct script *script, const struct part *part, const struct field *field,
                      void *target)
{
	const struct field rows[] = {
		{.name = "delay",
	         .kind = FIELD_DURATION,
	         .high = time_max_ns,
	         .offset = offsetof(struct topology, link_delay_ns),
	         .example = "\"5us\""},
		{.name = "rate",
	         .kind = FIELD_RATE,
	         .low = 1,
	         .high = INT64_C(1) << 60,
	         .offset = offsetof(struct topology, link_rate_bits_per_s),
	         .example = "\"200Gbit\""},
	};
	struct part link;

	if (!part_open_plain(script, part, field->name, "link.", &link))
		return;
	read_fields(script, &link, ROWS(rows), target);
	lua_pop(script->lua, 1);
}

static void read_topology(struct script *script, const struct part *part, const struct field *field,
                          void *target)
{
	static const struct field rows[] = {
		{.name = "stages",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = TOPOLOGY_STAGES_MAX,
	         .offset = offsetof(struct topology, n_stages),
	         .example = "8",
	         .is_required = true},
		{.name = "hosts",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = TOPOLOGY_STAGES_MAX,
	         .offset = offsetof(struct topology, n_hosts),
	         .example = "2"},
		{.name = "replicas",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = TOPOLOGY_REPLICAS_MAX,
	         .offset = offsetof(struct topology, n_replicas),
	         .example = "1"},
		{.name = "rails",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = TOPOLOGY_RAILS_MAX,
	         .offset = offsetof(struct topology, n_rails),
	         .example = "2"},
		{.name = "link", .kind = FIELD_OTHER, .read = read_link},
	};
	struct topology *topology = &((struct scenario *)target)->topology;
	struct part pipeline;

	if (!part_open(script, part, field->name, "pipeline", &pipeline))
		return;
	topology->n_stages = 0;
	script->has_hosts = read_fields(script, &pipeline, ROWS(rows), topology) &&
	                    topology->n_hosts <= topology->n_stages;
	script->has_topology = topology->n_stages > 0;
	if (!script->has_topology)
		topology->n_stages = 1;
	else if (topology->n_hosts > topology->n_stages)
		complain_field(script, &pipeline, "hosts",
		               "%d hosts are more than the %d stages they share", topology->n_hosts,
		               topology->n_stages);
	if (topology->n_hosts > topology->n_stages)
		topology->n_hosts = 1;
	lua_pop(script->lua, 1);
}

static void add_schedule(struct script *script, const struct part *part, int position)
{
	struct scenario *scenario = &script->scenario;
	struct err err = {0};
	char found[DESCRIBED_BYTES];
	const char *name =
		lua_type(script->lua, -1) == LUA_TSTRING ? lua_tostring(script->lua, -1) : NULL;

	if (!name) {
		complain_field(script, part, "schedules",
		               "schedules[%d] is %s; write a text, such as \"1f1b\"", position,
		               describe_value(script->lua, -1, found));
		return;
	}
	for (size_t i = 0; i < scenario->n_schedules; i++)
		if (strcmp(scenario->schedules[i], name) == 0) {
			complain_field(script, part, "schedules",
			               "schedule \"%.60s\" is named twice", name);
			return;
		}
	if (!schedule_find(name, &err)) {
		complain_field(script, part, "schedules", "%s", err.text);
		return;
	}
	scenario->schedules[scenario->n_schedules] = keep_text(script, name);
	if (scenario->schedules[scenario->n_schedules])
		scenario->n_schedules++;
}

static void read_schedules(struct script *script, const struct part *part,
                           const struct field *field, void *target)
{
	struct scenario *scenario = target;
	lua_State *lua = script->lua;
	size_t n;

	if (!read_list(script, part, field, &n))
		return;
	if (n < 1 || n > SCENARIO_SCHEDULES_MAX) {
		complain_field(script, part, field->name,
		               "schedules has %zu items; it must have 1 to %d, such as %s", n,
		               SCENARIO_SCHEDULES_MAX, field->example);
		return;
	}
	scenario->schedules = calloc(SCENARIO_SCHEDULES_MAX, sizeof(*scenario->schedules));
	if (!scenario->schedules)
		luaL_error(lua, "out of memory");
	for (size_t i = 1; i <= n; i++) {
		lua_rawgeti(lua, -1, (lua_Integer)i);
		add_schedule(script, part, (int)i);
		lua_pop(lua, 1);
	}
}

static void read_recovery(struct script *script, const struct part *part, const struct field *field,
                          void *target)
{
	const struct field rows[] = {
		{.name = "checkpoint_every",
	         .kind = FIELD_COUNT,
	         .high = SCENARIO_ITERATIONS_MAX,
	         .offset = offsetof(struct scenario, recovery.checkpoint_every),
	         .example = "100"},
		{.name = "restart",
	         .kind = FIELD_DURATION,
	         .high = time_max_ns,
	         .offset = offsetof(struct scenario, recovery.restart_ns),
	         .example = "\"95s\""},
		{.name = "failover",
	         .kind = FIELD_DURATION,
	         .high = time_max_ns,
	         .offset = offsetof(struct scenario, recovery.failover_ns),
	         .example = "\"940ms\""},
		{.name = "rdma_timeout",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = RDMA_TIMEOUT_MOST,
	         .offset = offsetof(struct scenario, rdma.timeout),
	         .example = "14"},
		{.name = "rdma_retries",
	         .kind = FIELD_COUNT,
	         .high = RDMA_RETRIES_MOST,
	         .offset = offsetof(struct scenario, rdma.n_retries),
	         .example = "6"},
	};
	struct part recovery;

	if (!part_open_either(script, part, field->name, "recovery", "recovery.", &recovery))
		return;
	read_fields(script, &recovery, ROWS(rows), target);
	lua_pop(script->lua, 1);
}

static void read_detection(struct script *script, const struct part *part,
                           const struct field *field, void *target)
{
	const struct field rows[] = {
		{.name = "threshold",
	         .kind = FIELD_DURATION,
	         .high = time_max_ns,
	         .offset = offsetof(struct detection, threshold_ns),
	         .example = "\"2ms\""},
		{.name = "confirm",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = 1000,
	         .offset = offsetof(struct detection, confirm_iterations),
	         .example = "1"},
		{.name = "clear",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = 1000,
	         .offset = offsetof(struct detection, clear_iterations),
	         .example = "2"},
	};
	struct part detection;

	if (!part_open_either(script, part, field->name, "detection", "detection.", &detection))
		return;
	read_fields(script, &detection, ROWS(rows), &((struct scenario *)target)->detection);
	lua_pop(script->lua, 1);
}

static void read_delegate(struct script *script, const struct part *part, const struct field *field,
                          void *target)
{
	const struct field rows[] = {
		{.name = "queues",
	         .kind = FIELD_COUNT,
	         .low = 1,
	         .high = SCENARIO_QUEUES_MAX,
	         .offset = offsetof(struct scenario, n_queues),
	         .example = "6"},
		{.name = "cost",
	         .kind = FIELD_DURATION,
	         .high = time_max_ns,
	         .offset = offsetof(struct scenario, delegate_cost_ns),
	         .example = "\"500us\""},
	};
	struct part delegate;

	if (!part_open_plain(script, part, field->name, "delegate.", &delegate))
		return;
	read_fields(script, &delegate, ROWS(rows), target);
	lua_pop(script->lua, 1);
}

/* The functions stay in Lua until the run is over. */
static void read_checks(struct script *script, const struct part *part, const struct field *field,
                        void *target)
{
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	(void)target;
	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_field(script, part, field->name, "checks is %s; write a table, such as %s",
		               describe_value(lua, -1, found), field->example);
		return;
	}
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		if (lua_type(lua, -2) != LUA_TSTRING)
			complain_field(script, part, field->name,
			               "a check needs a sentence for its name, such as %s",
			               field->example);
		else if (lua_type(lua, -1) != LUA_TFUNCTION)
			complain_field(script, part, field->name,
			               "check \"%.60s\" is %s; write function(r) return … end",
			               lua_tostring(lua, -2), describe_value(lua, -1, found));
		lua_pop(lua, 1);
	}
	lua_pushvalue(lua, -1);
	lua_setfield(lua, LUA_REGISTRYINDEX, "adaptra.checks");
}

static const struct field scenario_rows[] = {
	{.name = "title",
         .kind = FIELD_TEXT,
         .offset = offsetof(struct scenario, title),
         .example = "\"One slow link\"",
         .is_required = true},
	{.name = "topology",
         .kind = FIELD_OTHER,
         .read = read_topology,
         .example = "ab.pipeline { stages = 8 }",
         .is_required = true},
	{.name = "workload",
         .kind = FIELD_OTHER,
         .read = read_workload,
         .example = "ab.profile \"gpt-14b-h800\"",
         .is_required = true},
	{.name = "schedules",
         .kind = FIELD_OTHER,
         .read = read_schedules,
         .example = "{ \"1f1b\", \"zb\", \"adaptra\" }",
         .is_required = true},
	{.name = "iterations",
         .kind = FIELD_COUNT,
         .low = 1,
         .high = SCENARIO_ITERATIONS_MAX,
         .offset = offsetof(struct scenario, n_iterations),
         .example = "300",
         .is_required = true},
	{.name = "warmup",
         .kind = FIELD_COUNT,
         .high = SCENARIO_ITERATIONS_MAX,
         .offset = offsetof(struct scenario, n_warmup),
         .example = "20"},
	{.name = "repeats",
         .kind = FIELD_COUNT,
         .low = 1,
         .high = SCENARIO_REPEATS_MAX,
         .offset = offsetof(struct scenario, n_repeats),
         .example = "3"},
	{.name = "seed",
         .kind = FIELD_SEED,
         .high = INT64_MAX,
         .offset = offsetof(struct scenario, seed),
         .example = "42"},
	{.name = "activation_limit",
         .kind = FIELD_COUNT,
         .low = 1,
         .high = SCENARIO_MICROBATCHES_MAX,
         .offset = offsetof(struct scenario, activation_limit),
         .example = "16"},
	{.name = "window",
         .kind = FIELD_SIZE,
         .low = 1,
         .high = INT64_C(1) << 50,
         .offset = offsetof(struct scenario, window_bytes),
         .example = "\"4MiB\""},
	{.name = "delegate", .kind = FIELD_OTHER, .read = read_delegate},
	{.name = "stream", .kind = FIELD_OTHER, .read = read_stream},
	{.name = "live", .kind = FIELD_OTHER, .read = read_live},
	{.name = "planes",
         .kind = FIELD_OTHER,
         .read = read_planes,
         .example = "{ [\"1f1b\"] = \"delegate\" }"},
	{.name = "recovery", .kind = FIELD_OTHER, .read = read_recovery},
	{.name = "detection", .kind = FIELD_OTHER, .read = read_detection},
	{.name = "faults",
         .kind = FIELD_OTHER,
         .read = read_faults,
         .example = "{ ab.delay { link = \"2-3\", delay = \"30ms\" } }"},
	{.name = "variants",
         .kind = FIELD_OTHER,
         .read = read_variants,
         .example = "{ ab.variant { label = \"latency\", set = { delay_model = \"latency\" } } }"},
	{.name = "checks",
         .kind = FIELD_OTHER,
         .read = read_checks,
         .example = "{ [\"adaptra beats 1F1B\"] = function(r) return r.adaptra.p50_ms < "
                    "r[\"1f1b\"].p50_ms end }"},
	{.name = "note",
         .kind = FIELD_TEXT,
         .offset = offsetof(struct scenario, note),
         .example = "\"What a reader should know.\""},
};

void read_scenario(struct script *script)
{
	struct scenario *scenario = &script->scenario;
	const struct part top = {.word = "the script", .prefix = ""};
	lua_State *lua = script->lua;
	const char *kind = statement_kind(lua, -1);
	char found[DESCRIBED_BYTES];
	struct part part;

	if (!kind || strcmp(kind, "scenario") != 0) {
		script_complain(script, &top.place,
		                "the script returns %s; it must end with return ab.scenario { … }",
		                describe_value(lua, -1, found));
		return;
	}
	if (!part_open(script, &top, "scenario", "scenario", &part))
		return;
	scenario->n_iterations = 0;
	read_fields(script, &part, ROWS(scenario_rows), scenario);
	if (scenario->n_iterations == 0) /* complained; faults are checked all the same */
		scenario->n_iterations = SCENARIO_ITERATIONS_MAX;
	if (scenario->n_warmup >= scenario->n_iterations)
		complain_field(script, &part, "warmup",
		               "warmup is %d, which leaves none of the %d iterations",
		               scenario->n_warmup, scenario->n_iterations);
	lua_pop(lua, 1);
}
