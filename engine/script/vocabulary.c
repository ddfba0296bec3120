/* vocabulary.c - the C half of lua/adaptra.lua: statements with their place, and `require`. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/embedded.h"
#include "engine/base/nearest.h"
#include "engine/script/reader.h"

enum { WORDS_MAX = 64 };

/* statement(kind, value, base): what ab.delay { … } gives. A plain table would do but for its
 * place. */
static int make_statement(lua_State *lua)
{
	struct place place = script_place(lua);

	lua_settop(lua, 3);
	lua_createtable(lua, 0, 5);
	lua_pushvalue(lua, 1);
	lua_setfield(lua, -2, "kind");
	lua_pushvalue(lua, 2);
	lua_setfield(lua, -2, "value");
	lua_pushvalue(lua, 3);
	lua_setfield(lua, -2, "base");
	lua_pushstring(lua, place.file);
	lua_setfield(lua, -2, "file");
	lua_pushinteger(lua, place.line);
	lua_setfield(lua, -2, "line");
	luaL_setmetatable(lua, "adaptra.statement");
	return 1;
}

/* ab.profile "name" { … }: the second pair of braces. */
static int call_statement(lua_State *lua)
{
	const char *kind = statement_kind(lua, 1);

	if (!kind || strcmp(kind, "profile") != 0)
		return luaL_error(lua, "ab.%s { … } is complete; nothing follows it",
		                  kind ? kind : "statement");
	lua_settop(lua, 2);
	statement_push(lua, 1, "base");
	lua_pushcfunction(lua, make_statement);
	lua_pushstring(lua, "profile");
	lua_pushvalue(lua, 2);
	lua_pushvalue(lua, 3);
	lua_call(lua, 3, 1);
	return 1;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ab.dealy: the vocabulary's __index. */
static int unknown_word(lua_State *lua)
{
	const char *words[WORDS_MAX];
	const char *nearest, *found;
	size_t n = 0;

	if (lua_type(lua, 2) != LUA_TSTRING)
		return luaL_error(lua, "adaptra has no %s in it", luaL_typename(lua, 2));
	found = lua_tostring(lua, 2);
	lua_pushnil(lua);
	while (lua_next(lua, 1)) {
		lua_pop(lua, 1);
		if (lua_type(lua, -1) == LUA_TSTRING && n < WORDS_MAX)
			words[n++] = lua_tostring(lua, -1);
	}
	qsort(words, n, sizeof(words[0]), compare_words);
	nearest = nearest_name(found, words, n);
	if (nearest)
		return luaL_error(lua, "there is no ab.%s; did you mean ab.%s?", found, nearest);
	return luaL_error(lua, "there is no ab.%s; lua/README.md lists the vocabulary", found);
}

static int require_adaptra(lua_State *lua)
{
	const char *name = luaL_checkstring(lua, 1);

	if (strcmp(name, "adaptra") != 0)
		return luaL_error(
			lua, "there is no module \"%s\"; a script can require \"adaptra\" only",
			name);
	lua_getfield(lua, LUA_REGISTRYINDEX, "adaptra.vocabulary");
	return 1;
}

static void make_statement_metatable(lua_State *lua)
{
	luaL_newmetatable(lua, "adaptra.statement");
	lua_pushcfunction(lua, call_statement);
	lua_setfield(lua, -2, "__call");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 1);
}

void vocabulary_open(lua_State *lua)
{
	make_statement_metatable(lua);
	if (luaL_loadbufferx(lua, embedded_adaptra_lua, strlen(embedded_adaptra_lua), "=adaptra",
	                     "t"))
		lua_error(lua);
	lua_pushcfunction(lua, make_statement);
	lua_pushcfunction(lua, option_declare);
	lua_pushcfunction(lua, profile_file_load);
	lua_call(lua, 3, 1);
	lua_createtable(lua, 0, 2);
	lua_pushcfunction(lua, unknown_word);
	lua_setfield(lua, -2, "__index");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_setmetatable(lua, -2);
	lua_setfield(lua, LUA_REGISTRYINDEX, "adaptra.vocabulary");
	lua_pushcfunction(lua, require_adaptra);
	lua_setglobal(lua, "require");
}
