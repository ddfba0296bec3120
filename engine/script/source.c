/* source.c - script files, loaded as text. */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/scenario/digest.h"
#include "engine/script/script_internal.h"

const char *source_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void source_load(struct script *script, lua_State *lua, const char *path)
{
	struct source *source = &script->sources[script->n_sources];
	struct err err = {0};
	size_t n_bytes;
	const char *chunk;

	if (script->n_sources == SCRIPT_SOURCES_MAX)
		luaL_error(lua, "more than %d files are used", SCRIPT_SOURCES_MAX);
	if (file_read(path, SCRIPT_SOURCE_BYTES, &source->text, &n_bytes, &err))
		luaL_error(lua, "%s", err.text);
	snprintf(source->name, sizeof(source->name), "%s", source_name(path));
	script->n_sources++;
	script->digest = digest_bytes(script->digest, source->text, n_bytes);
	script->digest = digest_int(script->digest, (int64_t)n_bytes);
	chunk = lua_pushfstring(lua, "@%s", source->name);
	switch (luaL_loadbufferx(lua, source->text, n_bytes, chunk, "t")) {
	case LUA_OK:
		break;
	case LUA_ERRMEM:
		luaL_error(lua, "%s: out of memory", source->name);
		break;
	default:
		if (source->text[0] == LUA_SIGNATURE[0])
			luaL_error(lua, "%s: this is bytecode; only Lua text is read",
			           source->name);
		lua_error(lua);
	}
	lua_remove(lua, -2);
}
