/* option.c - options that a script declares and the command line sets. */
#include <ctype.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/scenario/digest.h"
#include "engine/script/reader.h"

enum { OPTIONS_MAX = 256 };

void option_fini(struct option *option)
{
	free(option->name);
	free(option->value);
	free(option->default_value);
	free(option->help);
}

/* The value in "name=value" for this name, NULL when it is not assigned. */
static const char *assigned_value(const struct script *script, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < script->request->n_assignments; i++) {
		const char *assignment = script->request->assignments[i];

		if (strncmp(assignment, name, length) == 0 && assignment[length] == '=')
			return assignment + length + 1;
	}
	return NULL;
}

static const struct option *option_find(const struct script *script, const char *name,
                                        size_t length)
{
	for (size_t i = 0; i < script->n_options; i++) {
		const struct option *option = &script->options[i];

		if (strncmp(option->name, name, length) == 0 && option->name[length] == '\0')
			return option;
	}
	return NULL;
}

static void check_name(lua_State *lua, const struct script *script, const char *name)
{
	if (!islower((unsigned char)name[0]) ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0')
		luaL_error(lua, "option \"%s\" needs a name of small letters, digits, _ and -",
		           name);
	if (option_find(script, name, strlen(name)))
		luaL_error(lua, "option \"%s\" is declared twice", name);
	if (script->n_options == OPTIONS_MAX)
		luaL_error(lua, "more than %d options are declared", OPTIONS_MAX);
}

/* Push text as a value of the default's type; false, and nothing pushed, when it is not one. */
static bool push_as(lua_State *lua, int type, const char *text)
{
	if (type == LUA_TSTRING) {
		lua_pushstring(lua, text);
		return true;
	}
	if (type == LUA_TNUMBER)
		return lua_stringtonumber(lua, text) != 0;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return false;
	lua_pushboolean(lua, strcmp(text, "true") == 0);
	return true;
}

static void push_value(lua_State *lua, struct script *script, const char *name)
{
	const char *text = assigned_value(script, name);
	const char *type = lua_type(lua, 2) == LUA_TNUMBER ? "a number" : "true or false";

	if (text && push_as(lua, lua_type(lua, 2), text))
		return;
	if (text && scenario_mistake_add(script->mistakes, 0, "--set %s=%s: the option takes %s",
	                                 name, text, type))
		luaL_error(lua, "out of memory");
	lua_pushvalue(lua, 2);
}

static const char *push_text(lua_State *lua, int index)
{
	lua_pushvalue(lua, index);
	if (lua_type(lua, -1) == LUA_TBOOLEAN)
		lua_pushstring(lua, lua_toboolean(lua, -1) ? "true" : "false");
	return lua_tostring(lua, -1);
}

int option_declare(lua_State *lua)
{
	struct script *script = script_of(lua);
	const char *name = luaL_checkstring(lua, 1), *help = luaL_optstring(lua, 3, "");
	const char *default_text, *value_text;
	struct option *option;
	int type = lua_type(lua, 2);

	lua_settop(lua, 3);
	if (!script->request)
		luaL_error(lua,
		           "ab.option has no effect in a check; declare it above the scenario");
	if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
		luaL_error(lua, "option \"%s\" needs a default: a text, a number, true or false",
		           name);
	check_name(lua, script, name);
	push_value(lua, script, name);
	default_text = push_text(lua, 2);
	value_text = push_text(lua, 4);
	if (!keep_room(script, (void **)&script->options, &script->option_capacity,
	               script->n_options + 1, sizeof(*script->options)))
		luaL_error(lua, "out of memory");
	option = &script->options[script->n_options++];
	*option = (struct option){
		.name = keep_text(script, name),
		.value = keep_text(script, value_text),
		.default_value = keep_text(script, default_text),
		.help = keep_text(script, help),
	};
	script->digest = digest_text(digest_text(script->digest, name), value_text);
	if (script->rc)
		luaL_error(lua, "out of memory");
	lua_pushvalue(lua, 4);
	return 1;
}

static int complain_undeclared(struct script *script, const char *assignment, size_t length)
{
	const char *names[OPTIONS_MAX], *nearest;
	char found[64];

	if (script->n_options == 0)
		return scenario_mistake_add(script->mistakes, 0,
		                            "--set %s: the script declares no options", assignment);
	for (size_t i = 0; i < script->n_options; i++)
		names[i] = script->options[i].name;
	snprintf(found, sizeof(found), "%.*s", (int)(length < 63 ? length : 63), assignment);
	nearest = nearest_name(found, names, script->n_options);
	if (nearest)
		return scenario_mistake_add(
			script->mistakes, 0,
			"--set %s: the script has no option \"%s\"; did you mean \"%s\"?",
			assignment, found, nearest);
	return scenario_mistake_add(
		script->mistakes, 0,
		"--set %s: the script has no option \"%s\"; it has, for example, "
		"\"%s\"",
		assignment, found, names[0]);
}

static int check_assignment(struct script *script, size_t i)
{
	const char *const *assignments = script->request->assignments;
	const char *equals = strchr(assignments[i], '=');
	size_t length = equals ? (size_t)(equals - assignments[i]) : 0;

	if (length == 0)
		return scenario_mistake_add(script->mistakes, 0, "--set %s: write --set NAME=VALUE",
		                            assignments[i]);
	for (size_t j = 0; j < i; j++)
		if (strncmp(assignments[j], assignments[i], length + 1) == 0)
			return scenario_mistake_add(script->mistakes, 0,
			                            "--set %s: %.*s is set twice", assignments[i],
			                            (int)length, assignments[i]);
	if (!option_find(script, assignments[i], length))
		return complain_undeclared(script, assignments[i], length);
	return 0;
}

void option_check_assignments(struct script *script)
{
	for (size_t i = 0; i < script->request->n_assignments; i++) {
		int rc = check_assignment(script, i);

		if (rc)
			script->rc = rc;
	}
}
