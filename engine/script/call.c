/* call.c - runs a script's function so that an error becomes one sentence with the script's line.
 *
 * The line comes from the stack. `return ab.scenario { … }` is a tail call, which takes the script
 * off the stack before the callee runs; for that case a line hook remembers the line that ran last.
 */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "engine/script/script_internal.h"

enum { CALLERS_MAX = 3 };

struct script *script_of(lua_State *lua)
{
	struct script *script;

	memcpy(&script, lua_getextraspace(lua), sizeof(script));
	return script;
}

enum frame_kind { FRAME_SCRIPT, FRAME_OTHER, FRAME_TAIL_CALL };

static enum frame_kind look_at(lua_State *lua, lua_Debug *frame, struct place *out)
{
	lua_getinfo(lua, "Slt", frame);
	if (frame->source[0] != '@' || frame->currentline <= 0)
		return frame->istailcall ? FRAME_TAIL_CALL : FRAME_OTHER;
	snprintf(out->file, sizeof(out->file), "%s", frame->source + 1);
	out->line = frame->currentline;
	return FRAME_SCRIPT;
}

/* Called for every line, and after every call, since a caller that goes on in the middle of its
 * line reaches no new one. */
static void remember_line(lua_State *lua, lua_Debug *frame)
{
	lua_Debug caller;
	struct place place;

	if (frame->event == LUA_HOOKRET) {
		if (!lua_getstack(lua, 1, &caller))
			return;
		frame = &caller;
	}
	if (look_at(lua, frame, &place) == FRAME_SCRIPT)
		script_of(lua)->trail = place;
}

void script_follow(lua_State *lua)
{
	lua_sethook(lua, remember_line, LUA_MASKLINE | LUA_MASKRET, 0);
}

/* The first place in a script from level on; level is then the next one. */
static bool find_frame(lua_State *lua, int *level, struct place *out)
{
	lua_Debug frame;

	while (lua_getstack(lua, (*level)++, &frame))
		switch (look_at(lua, &frame, out)) {
		case FRAME_SCRIPT:
			return true;
		case FRAME_TAIL_CALL:
			*out = script_of(lua)->trail;
			return out->line > 0;
		case FRAME_OTHER:
			break;
		}
	return false;
}

struct place script_place(lua_State *lua)
{
	struct place place;
	int level = 0;

	return find_frame(lua, &level, &place) ? place : script_of(lua)->trail;
}

/* Does the message name a place in one of the scripts already? */
static bool has_place(const struct script *script, const char *message)
{
	for (size_t i = 0; i < script->n_sources; i++) {
		size_t length = strlen(script->sources[i].name);

		if (strncmp(message, script->sources[i].name, length) == 0 &&
		    message[length] == ':')
			return true;
	}
	return false;
}

/* ", called from line 20, line 31": what a traceback is good for, in a sentence. */
static void push_callers(lua_State *lua, const struct place *where, int level)
{
	struct place caller;
	luaL_Buffer text;
	char part[SCRIPT_NAME_BYTES + 32];

	luaL_buffinit(lua, &text);
	for (int n = 0; n < CALLERS_MAX && find_frame(lua, &level, &caller); n++) {
		luaL_addstring(&text, n == 0 ? ", called from " : ", ");
		if (strcmp(caller.file, where->file) == 0)
			snprintf(part, sizeof(part), "line %d", caller.line);
		else
			snprintf(part, sizeof(part), "%s:%d", caller.file, caller.line);
		luaL_addstring(&text, part);
	}
	luaL_pushresult(&text);
}

/* The message without a place in the vocabulary, "adaptra:31: ", which means nothing to who wrote
 * the script. */
static const char *without_vocabulary(const char *message)
{
	int length = 0;

	(void)sscanf(message, "adaptra:%*d: %n", &length); /* stays 0 when it does not match */
	return message + length;
}

static int handle_error(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct place where;
	int level = 0;

	if (!find_frame(lua, &level, &where))
		where = script->trail;
	if (lua_type(lua, 1) != LUA_TSTRING) {
		lua_pushfstring(lua, "%s:%d: error() was given a %s; give it a sentence",
		                where.file, where.line, luaL_typename(lua, 1));
		lua_replace(lua, 1);
	} else if (where.line > 0 && !has_place(script, lua_tostring(lua, 1))) {
		lua_pushfstring(lua, "%s:%d: %s", where.file, where.line,
		                without_vocabulary(lua_tostring(lua, 1)));
		lua_replace(lua, 1);
	}
	push_callers(lua, &where, level);
	lua_concat(lua, 2);
	return 1;
}

static int explain(struct script *script, int status, struct err *err)
{
	const char *name = script->n_sources > 0 ? script->sources[0].name : "script";
	const char *message = lua_type(script->lua, -1) == LUA_TSTRING
	                              ? lua_tostring(script->lua, -1)
	                              : "no message";

	if (status == LUA_ERRMEM)
		return err_set(err, -EINVAL, "%s:%d: the script needs more than %d MiB of memory",
		               script->trail.file[0] ? script->trail.file : name,
		               script->trail.line, SCRIPT_MEMORY_BYTES >> 20);
	if (status == LUA_ERRERR)
		return err_set(err, -EINVAL, "%s:%d: an error while handling an error: %s", name,
		               script->trail.line, message);
	return err_set(err, -EINVAL, "%s", message);
}

int script_call(struct script *script, int n_arguments, int n_results, struct err *err)
{
	lua_State *lua = script->lua;
	int handler = lua_gettop(lua) - n_arguments;
	int status, rc;

	lua_pushcfunction(lua, handle_error);
	lua_insert(lua, handler);
	status = lua_pcall(lua, n_arguments, n_results, handler);
	lua_remove(lua, handler);
	if (status == LUA_OK)
		return 0;
	rc = explain(script, status, err);
	lua_pop(lua, 1);
	return rc;
}
