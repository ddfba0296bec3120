/* profile_file.c - finds and runs the file behind ab.profile "name". */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/folder.h"
#include "engine/base/nearest.h"
#include "engine/script/reader.h"

enum { PATH_BYTES = 4096 };

static void complain_missing(struct script *script, const struct place *place, const char *name)
{
	struct folder folder = {0};
	char own[PATH_BYTES];
	const char *nearest;
	int rc;

	snprintf(own, sizeof(own), "%s/profiles", script->folder);
	rc = folder_add(&folder, own, ".lua");
	for (size_t i = 0; rc == 0 && i < script->request->n_profile_folders; i++)
		rc = folder_add(&folder, script->request->profile_folders[i], ".lua");
	nearest = nearest_name(name, (const char *const *)folder.names, folder.n_names);
	if (nearest)
		script_complain(script, place, "there is no profile \"%s\"; did you mean \"%s\"?",
		                name, nearest);
	else if (folder.n_names > 0)
		script_complain(script, place,
		                "there is no profile \"%s\"; one that there is: \"%s\"", name,
		                folder.names[0]);
	else
		script_complain(script, place, "there is no profile \"%s\" in %s", name, own);
	folder_fini(&folder);
	script->rc = rc ? rc : script->rc;
}

static bool find_file(const struct script *script, const char *name, char *path)
{
	snprintf(path, PATH_BYTES, "%s/profiles/%s.lua", script->folder, name);
	if (access(path, R_OK) == 0)
		return true;
	for (size_t i = 0; i < script->request->n_profile_folders; i++) {
		snprintf(path, PATH_BYTES, "%s/%s.lua", script->request->profile_folders[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* A name must not lead out of the folders. */
static bool is_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strlen(name) < 128 &&
	       name[strspn(name,
	                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] ==
	               '\0';
}

int profile_file_load(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct place place = script_place(lua), trail = script->trail;
	char path[PATH_BYTES];
	const char *name, *kind;

	if (!script->request)
		return luaL_error(lua, "ab.profile has no effect in a check");
	if (lua_type(lua, 1) != LUA_TSTRING)
		return luaL_error(lua,
		                  "ab.profile needs a name, as in ab.profile \"gpt-14b-h800\"");
	name = lua_tostring(lua, 1);
	if (!is_name(name) || !find_file(script, name, path)) {
		complain_missing(script, &place, name);
		lua_pushnil(lua);
		return 1;
	}
	source_load(script, lua, path);
	lua_call(lua, 0, 1);
	script->trail = trail;
	kind = statement_kind(lua, -1);
	if (!kind || strcmp(kind, "workload") != 0)
		return luaL_error(lua, "%s: a profile returns ab.workload { … }", path);
	return 1;
}
