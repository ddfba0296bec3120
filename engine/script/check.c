/* check.c - runs a scenario's checks over what was measured. */
#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/script/script_internal.h"

enum { CHECK_DETAIL_BYTES = ERR_TEXT_BYTES, CHECKS_MAX = 256 };

struct number_row {
	const char *name;
	size_t offset;
};

static const struct number_row numbers[] = {
	{"total_s", offsetof(struct check_schedule, total_s)},
	{"p50_ms", offsetof(struct check_schedule, p50_ms)},
	{"p95_ms", offsetof(struct check_schedule, p95_ms)},
	{"samples_per_s", offsetof(struct check_schedule, samples_per_s)},
	{"bubble_ratio", offsetof(struct check_schedule, bubble_ratio)},
	{"compute_ms", offsetof(struct check_schedule, compute_ms)},
	{"wait_ms", offsetof(struct check_schedule, wait_ms)},
	{"blocked_ms", offsetof(struct check_schedule, blocked_ms)},
};

enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]), N_FIELDS = N_NUMBERS + 2 };

/* What the protected function needs. */
struct check_call {
	const struct check_schedule *schedules;
	size_t n_schedules;
	const char *name; /* of the check to run */
};

static int unknown_field(lua_State *lua)
{
	const char *names[N_FIELDS];
	const char *found = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
	const char *nearest;

	for (size_t i = 0; i < N_NUMBERS; i++)
		names[i] = numbers[i].name;
	names[N_NUMBERS] = "iterations";
	names[N_NUMBERS + 1] = "restarts";
	nearest = nearest_name(found, names, N_FIELDS);
	if (nearest)
		return luaL_error(lua, "a schedule's result has no %s; did you mean %s?", found,
		                  nearest);
	return luaL_error(lua,
	                  "a schedule's result has no %s; it has total_s, p50_ms, p95_ms and "
	                  "others, see lua/README.md",
	                  found);
}

static int unknown_schedule(lua_State *lua)
{
	const struct check_call *call = lua_touserdata(lua, lua_upvalueindex(1));
	const char *found = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
	const char *names[SCENARIO_SCHEDULES_MAX];
	const char *nearest;
	size_t n = call->n_schedules < SCENARIO_SCHEDULES_MAX ? call->n_schedules
	                                                      : SCENARIO_SCHEDULES_MAX;

	for (size_t i = 0; i < n; i++)
		names[i] = call->schedules[i].name;
	nearest = nearest_name(found, names, n);
	if (nearest)
		return luaL_error(lua, "schedule \"%s\" was not compared; did you mean \"%s\"?",
		                  found, nearest);
	return luaL_error(lua, "schedule \"%s\" was not compared", found);
}

static void push_schedule(lua_State *lua, const struct check_schedule *schedule)
{
	lua_createtable(lua, 0, N_FIELDS);
	for (size_t i = 0; i < N_NUMBERS; i++) {
		double value;

		memcpy(&value, (const char *)schedule + numbers[i].offset, sizeof(value));
		lua_pushnumber(lua, value);
		lua_setfield(lua, -2, numbers[i].name);
	}
	lua_pushinteger(lua, schedule->iterations);
	lua_setfield(lua, -2, "iterations");
	lua_pushinteger(lua, schedule->restarts);
	lua_setfield(lua, -2, "restarts");
}

/* Give the table on the stack an __index of its own that scripts cannot reach. */
static void guard(lua_State *lua, lua_CFunction index, void *context)
{
	lua_createtable(lua, 0, 2);
	lua_pushlightuserdata(lua, context);
	lua_pushcclosure(lua, index, 1);
	lua_setfield(lua, -2, "__index");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_setmetatable(lua, -2);
}

/* (call) -> the check's answer. The results are made anew for each check, which may change them. */
static int run_check(lua_State *lua)
{
	struct check_call *call = lua_touserdata(lua, 1);

	lua_getfield(lua, LUA_REGISTRYINDEX, "adaptra.checks");
	lua_getfield(lua, -1, call->name);
	lua_createtable(lua, 0, (int)call->n_schedules);
	for (size_t i = 0; i < call->n_schedules; i++) {
		push_schedule(lua, &call->schedules[i]);
		guard(lua, unknown_field, NULL);
		lua_setfield(lua, -2, call->schedules[i].name);
	}
	guard(lua, unknown_schedule, call);
	lua_call(lua, 1, 1);
	if (lua_type(lua, -1) != LUA_TBOOLEAN)
		return luaL_error(lua, "the check gave a %s; it must give true or false",
		                  luaL_typename(lua, -1));
	return 1;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (address of names) -> how many; the names are the table's keys, which keeps them. */
static int list_names(lua_State *lua)
{
	const char **names = lua_touserdata(lua, 1);
	size_t n = 0;

	if (lua_getfield(lua, LUA_REGISTRYINDEX, "adaptra.checks") != LUA_TTABLE) {
		lua_pushinteger(lua, 0);
		return 1;
	}
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		lua_pop(lua, 1);
		if (n == CHECKS_MAX)
			return luaL_error(lua, "a scenario has at most %d checks", CHECKS_MAX);
		names[n++] = lua_tostring(lua, -1);
	}
	qsort(names, n, sizeof(names[0]), compare_texts);
	lua_pushinteger(lua, (lua_Integer)n);
	return 1;
}

void check_results_fini(struct script *script)
{
	for (size_t i = 0; i < script->n_results; i++) {
		free((char *)(uintptr_t)script->results[i].name);
		free((char *)(uintptr_t)script->results[i].detail);
	}
	free(script->results);
	script->results = NULL;
	script->n_results = 0;
}

static int run_one(struct script *script, struct check_call *call, struct check_result *result)
{
	struct err broken = {0};
	int rc;

	call->name = result->name;
	lua_pushcfunction(script->lua, run_check);
	lua_pushlightuserdata(script->lua, call);
	rc = script_call(script, 1, 1, &broken);
	result->detail = strdup(rc ? broken.text : "");
	result->state = CHECK_BROKEN;
	if (rc == 0) {
		result->state = lua_toboolean(script->lua, -1) ? CHECK_HELD : CHECK_FAILED;
		lua_pop(script->lua, 1);
	}
	return result->detail ? 0 : -ENOMEM;
}

/* Copies: a check may change the table that the names are in. */
static int copy_names(struct script *script, const char *const *names, size_t n)
{
	script->results = calloc(n + 1, sizeof(*script->results));
	if (!script->results)
		return -ENOMEM;
	script->n_results = n;
	for (size_t i = 0; i < n; i++) {
		script->results[i].name = strdup(names[i]);
		if (!script->results[i].name)
			return -ENOMEM;
	}
	return 0;
}

int script_run_checks(struct script *script, const struct check_schedule *schedules,
                      size_t n_schedules, const struct check_result **results_out, size_t *n_out,
                      struct err *err)
{
	struct check_call call = {schedules, n_schedules, NULL};
	const char *names[CHECKS_MAX];
	size_t n;
	int rc;

	check_results_fini(script);
	lua_pushcfunction(script->lua, list_names);
	lua_pushlightuserdata(script->lua, names);
	rc = script_call(script, 1, 1, err);
	if (rc)
		return rc;
	n = (size_t)lua_tointeger(script->lua, -1);
	lua_pop(script->lua, 1);
	rc = copy_names(script, names, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = run_one(script, &call, &script->results[i]);
	if (rc)
		return err_set(err, rc, "out of memory for the results of %zu checks", n);
	*results_out = script->results;
	*n_out = n;
	return 0;
}
