/* sandbox.c - a Lua state that can compute, and nothing else.
 *
 * Every library is opened and then cut down to a list of what is known to be safe, so that a
 * function that a later Lua adds is left out until somebody has thought about it. Left out on
 * purpose: load and its kin (bytecode can corrupt memory), string.dump, os, io, debug, package,
 * collectgarbage, print, warn, random numbers (scripts give the same scenario every time), and
 * setmetatable (finalisers run when the state is closed, after the time limit; everything else it
 * can do a description does not need). */
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/script/script_internal.h"

static const char *const base_names[] = {
	"_G",       "_VERSION", "assert",   "error",  "getmetatable", "ipairs", "next",
	"pairs",    "pcall",    "rawequal", "rawget", "rawlen",       "rawset", "select",
	"tonumber", "tostring", "type",     "xpcall", NULL,
};

static const char *const string_names[] = {
	"byte", "char",     "find", "format",  "gmatch", "gsub",   "len",   "lower", "match",
	"pack", "packsize", "rep",  "reverse", "sub",    "unpack", "upper", NULL,
};

static const char *const table_names[] = {
	"concat", "insert", "move", "pack", "remove", "sort", "unpack", NULL,
};

static const char *const math_names[] = {
	"abs",  "acos", "asin", "atan", "ceil",       "cos",        "deg", "exp",  "floor",
	"fmod", "huge", "log",  "max",  "maxinteger", "mininteger", "min", "modf", "pi",
	"rad",  "sin",  "sqrt", "tan",  "tointeger",  "type",       "ult", NULL,
};

static const char *const utf8_names[] = {
	"char", "charpattern", "codepoint", "codes", "len", "offset", NULL,
};

static const char *const coroutine_names[] = {
	"close", "create", "isyieldable", "resume", "running", "status", "wrap", "yield", NULL,
};

struct library {
	const char *name;
	lua_CFunction open;
	const char *const *allowed;
};

static const struct library libraries[] = {
	{LUA_GNAME, luaopen_base, base_names},
	{LUA_STRLIBNAME, luaopen_string, string_names},
	{LUA_TABLIBNAME, luaopen_table, table_names},
	{LUA_MATHLIBNAME, luaopen_math, math_names},
	{LUA_UTF8LIBNAME, luaopen_utf8, utf8_names},
	{LUA_COLIBNAME, luaopen_coroutine, coroutine_names},
};

/* Lua's allocator, counting. A block that shrinks never fails, as Lua demands. */
static void *limited_alloc(void *context, void *block, size_t old_bytes, size_t new_bytes)
{
	size_t *used = context;
	void *moved;

	if (!block)
		old_bytes = 0; /* then it is the kind of the new object */
	if (new_bytes == 0) {
		free(block);
		*used -= old_bytes;
		return NULL;
	}
	if (new_bytes > old_bytes && new_bytes - old_bytes > SCRIPT_MEMORY_BYTES - *used)
		return NULL;
	moved = realloc(block, new_bytes);
	if (!moved)
		return new_bytes <= old_bytes ? block : NULL;
	*used = *used - old_bytes + new_bytes;
	return moved;
}

lua_State *sandbox_new(size_t *memory_used)
{
	*memory_used = 0;
	return lua_newstate(limited_alloc, memory_used);
}

static bool is_allowed(const char *const *allowed, const char *name)
{
	for (; *allowed; allowed++)
		if (strcmp(*allowed, name) == 0)
			return true;
	return false;
}

/* Take out of the table on the stack what is not allowed. Assigning nil while walking is allowed.
 */
static void cut_down(lua_State *lua, const char *const *allowed)
{
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		lua_pop(lua, 1);
		if (lua_type(lua, -1) == LUA_TSTRING && is_allowed(allowed, lua_tostring(lua, -1)))
			continue;
		lua_pushvalue(lua, -1);
		lua_pushnil(lua);
		lua_rawset(lua, -4);
	}
}

void sandbox_open_libraries(lua_State *lua)
{
	size_t n = sizeof(libraries) / sizeof(libraries[0]);

	for (size_t i = 0; i < n; i++) {
		luaL_requiref(lua, libraries[i].name, libraries[i].open, i > 0);
		cut_down(lua, libraries[i].allowed);
		lua_pop(lua, 1);
	}
	/* The base library was cut before the others put their names beside its own. */
	lua_pushliteral(lua, "");
	lua_getmetatable(lua, -1);
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 2);
}
