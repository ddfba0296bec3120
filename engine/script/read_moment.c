/* read_moment.c - ab.iter(15) and ab.time "2s". */
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

void read_moment(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	struct moment *out = (struct moment *)(void *)((char *)target + field->offset);
	const char *kind = statement_kind(script->lua, -1);
	char found[DESCRIBED_BYTES];

	if (!kind || (strcmp(kind, "iter") != 0 && strcmp(kind, "time") != 0)) {
		complain_field(
			script, part, field->name,
			"%s is %s; write ab.iter(15) for an iteration or ab.time \"2s\" for a time",
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
