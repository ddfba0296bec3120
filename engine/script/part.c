/* part.c - statements of the vocabulary, seen from C. */
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "engine/script/reader.h"

/* Scripts cannot reach the metatable, so what has it was made by the vocabulary; its members may
 * have been changed all the same. */
static bool is_statement(lua_State *lua, int index)
{
	bool is_equal;

	if (lua_type(lua, index) != LUA_TTABLE || !lua_getmetatable(lua, index))
		return false;
	luaL_getmetatable(lua, "adaptra.statement");
	is_equal = lua_rawequal(lua, -1, -2);
	lua_pop(lua, 2);
	return is_equal;
}

void statement_push(lua_State *lua, int index, const char *member)
{
	index = lua_absindex(lua, index);
	lua_pushstring(lua, member);
	lua_rawget(lua, index);
}

const char *statement_kind(lua_State *lua, int index)
{
	const char *kind;

	if (!is_statement(lua, index))
		return NULL;
	statement_push(lua, index, "kind");
	kind = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
	lua_pop(lua, 1); /* the statement keeps it */
	return kind;
}

struct place statement_place(lua_State *lua, int index)
{
	struct place place = {0};

	statement_push(lua, index, "file");
	if (lua_type(lua, -1) == LUA_TSTRING)
		snprintf(place.file, sizeof(place.file), "%s", lua_tostring(lua, -1));
	lua_pop(lua, 1);
	statement_push(lua, index, "line");
	if (lua_isinteger(lua, -1) && lua_tointeger(lua, -1) > 0 &&
	    lua_tointeger(lua, -1) < 1 << 30)
		place.line = (int)lua_tointeger(lua, -1);
	lua_pop(lua, 1);
	return place;
}

static const char *word_of(const char *kind)
{
	static const char *const words[] = {
		"ab.scenario", "ab.pipeline", "ab.profile", "ab.workload", "ab.delay",
		"ab.rate",     "ab.slow",     "ab.down",    "ab.recovery", "ab.detection",
		"ab.trace",    "ab.variant",  "ab.op",      "ab.loss",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i] + strlen("ab."), kind) == 0)
			return words[i];
	return "the statement";
}

bool part_open(struct script *script, const struct part *outer, const char *field, const char *kind,
               struct part *out)
{
	lua_State *lua = script->lua;
	const char *found_kind = statement_kind(lua, -1);
	char found[DESCRIBED_BYTES];

	if (!found_kind || strcmp(found_kind, kind) != 0) {
		complain_field(script, outer, field, "%s%s is %s; write ab.%s { … }", outer->prefix,
		               field, describe_value(lua, -1, found), kind);
		return false;
	}
	*out = (struct part){
		.place = statement_place(lua, -1),
		.word = word_of(kind),
		.prefix = "",
	};
	statement_push(lua, -1, "value");
	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		script_complain(script, &out->place, "%s was given %s; write %s { … }", out->word,
		                describe_value(lua, -1, found), out->word);
		lua_pop(lua, 1);
		return false;
	}
	out->table = lua_absindex(lua, -1);
	return true;
}

bool part_open_plain(struct script *script, const struct part *outer, const char *field,
                     const char *prefix, struct part *out)
{
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_field(script, outer, field, "%s is %s; write a table, %s = { … }", field,
		               describe_value(lua, -1, found), field);
		return false;
	}
	*out = (struct part){
		.place = field_place(script, outer, field), .word = field, .prefix = prefix};
	lua_pushvalue(lua, -1);
	out->table = lua_absindex(lua, -1);
	return true;
}

bool part_open_either(struct script *script, const struct part *outer, const char *field,
                      const char *kind, const char *prefix, struct part *out)
{
	if (statement_kind(script->lua, -1))
		return part_open(script, outer, field, kind, out);
	return part_open_plain(script, outer, field, prefix, out);
}
