/* read_moment.c - ab.iter(15), ab.time "2s" and ab.op { … }. */
#include <string.h>

#include "engine/script/reader.h"

static void read_iteration(struct script *script, const struct part *part,
                           const struct field *field, struct moment *out)
{
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	if (!lua_isinteger(lua, -1) || lua_tointeger(lua, -1) < 0 ||
	    lua_tointeger(lua, -1) > SCENARIO_ITERATIONS_MAX) {
		complain_field(script, part, field->name,
		               "%s: ab.iter was given %s; write a whole number of 0 to %d, such as "
		               "ab.iter(15)",
		               field->name, describe_value(lua, -1, found),
		               SCENARIO_ITERATIONS_MAX);
		return;
	}
	*out = (struct moment){.kind = MOMENT_ITERATION, .value = lua_tointeger(lua, -1)};
}

static void read_time(struct script *script, const struct part *part, const struct field *field,
                      struct moment *out)
{
	const struct field duration = {
		.name = field->name,
		.kind = FIELD_DURATION,
		.high = INT64_C(1) << 60,
		.example = "ab.time \"2s\"",
	};
	int64_t ns;

	if (read_quantity(script, part, &duration, field->name, &ns))
		*out = (struct moment){.kind = MOMENT_TIME, .value = ns};
}

/* In the order of enum op_kind. */
static const char *const letters[] = {"F", "B", "W", NULL};

struct op_input {
	int iteration;
	int stage;
	int op;
	int microbatch;
};

#define INPUT(member) .offset = offsetof(struct op_input, member), .is_required = true

static const struct field op_rows[] = {
	{.name = "iteration",
         .kind = FIELD_COUNT,
         .high = SCENARIO_ITERATIONS_MAX,
         INPUT(iteration),
         .example = "15"},
	{.name = "stage",
         .kind = FIELD_COUNT,
         .high = TOPOLOGY_STAGES_MAX - 1,
         INPUT(stage),
         .example = "3"},
	{.name = "op", .kind = FIELD_CHOICE, .choices = letters, INPUT(op), .example = "\"F\""},
	{.name = "microbatch",
         .kind = FIELD_COUNT,
         .high = SCENARIO_MICROBATCHES_MAX - 1,
         INPUT(microbatch),
         .example = "4"},
};

static void read_op(struct script *script, const struct part *outer, const struct field *field,
                    struct moment *out)
{
	struct op_input input = {0};
	struct part part;

	if (!part_open(script, outer, field->name, "op", &part))
		return;
	if (read_fields(script, &part, op_rows, sizeof(op_rows) / sizeof(op_rows[0]), &input))
		*out = (struct moment){.kind = MOMENT_OP,
		                       .value = input.iteration,
		                       .stage = input.stage,
		                       .op = (enum op_kind)input.op,
		                       .microbatch = input.microbatch};
	lua_pop(script->lua, 1);
}

void read_moment(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	struct moment *out = (struct moment *)(void *)((char *)target + field->offset);
	const char *kind = statement_kind(script->lua, -1);
	char found[DESCRIBED_BYTES];

	if (kind && strcmp(kind, "op") == 0) {
		read_op(script, part, field, out);
		return;
	}
	if (!kind || (strcmp(kind, "iter") != 0 && strcmp(kind, "time") != 0)) {
		complain_field(script, part, field->name,
		               "%s is %s; write ab.iter(15) for an iteration, ab.time \"2s\" for a "
		               "time or ab.op { … } for an op in an iteration",
		               field->name, describe_value(script->lua, -1, found));
		return;
	}
	statement_push(script->lua, -1, "value");
	if (strcmp(kind, "iter") == 0)
		read_iteration(script, part, field, out);
	else
		read_time(script, part, field, out);
	lua_pop(script->lua, 1);
}
