/* read_choices.c - variants of a scenario, and departures from the presets of the data planes. */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/script/reader.h"

enum { CHOICE_TEXT_BYTES = 512 };

/* "name=value" as --set takes it, of the pair on top of the stack; false: complained. */
static bool add_assignment(struct script *script, const struct part *part, struct variant *variant)
{
	lua_State *lua = script->lua;
	char text[CHOICE_TEXT_BYTES], found[DESCRIBED_BYTES];
	const char *value;
	int length;

	if (lua_type(lua, -2) != LUA_TSTRING ||
	    (lua_type(lua, -1) != LUA_TSTRING && lua_type(lua, -1) != LUA_TNUMBER &&
	     lua_type(lua, -1) != LUA_TBOOLEAN)) {
		complain_field(
			script, part, "set",
			"set holds %s; it names options, such as { delay_model = \"latency\" }",
			describe_value(lua, -1, found));
		return false;
	}
	value = luaL_tolstring(lua, -1, NULL);
	length = snprintf(text, sizeof(text), "%s=%s", lua_tostring(lua, -3), value);
	lua_pop(lua, 1);
	if (length >= CHOICE_TEXT_BYTES) {
		complain_field(script, part, "set", "set has a value of %d bytes; %d are the most",
		               length, CHOICE_TEXT_BYTES - 1);
		return false;
	}
	variant->assignments[variant->n_assignments] = keep_text(script, text);
	if (variant->assignments[variant->n_assignments])
		variant->n_assignments++;
	return true;
}

static int compare_assignments(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_pairs(lua_State *lua)
{
	size_t n = 0;

	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		lua_pop(lua, 1);
		n++;
	}
	return n;
}

static void read_set(struct script *script, const struct part *part, const struct field *field,
                     void *target)
{
	struct variant *variant = target;
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_field(script, part, field->name, "set is %s; write a table, such as %s",
		               describe_value(lua, -1, found), field->example);
		return;
	}
	variant->assignments = array_new(count_pairs(lua), sizeof(*variant->assignments));
	if (!variant->assignments)
		luaL_error(lua, "out of memory");
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		bool is_kept = add_assignment(script, part, variant);

		lua_pop(lua, 1);
		if (!is_kept) {
			lua_pop(lua, 1);
			return;
		}
	}
	/* Lua walks a table in no fixed order. */
	qsort(variant->assignments, variant->n_assignments, sizeof(*variant->assignments),
	      compare_assignments);
}

static void add_variant(struct script *script, const struct part *outer)
{
	static const struct field rows[] = {
		{.name = "label",
	         .kind = FIELD_TEXT,
	         .offset = offsetof(struct variant, label),
	         .example = "\"a path that is slow (latency)\"",
	         .is_required = true},
		{.name = "set",
	         .kind = FIELD_OTHER,
	         .read = read_set,
	         .example = "{ delay_model = \"latency\" }",
	         .is_required = true},
	};
	struct scenario *scenario = &script->scenario;
	struct part part;

	if (!part_open(script, outer, "variants", "variant", &part))
		return;
	read_fields(script, &part, rows, sizeof(rows) / sizeof(rows[0]),
	            &scenario->variants[scenario->n_variants++]);
	lua_pop(script->lua, 1);
}

void read_variants(struct script *script, const struct part *part, const struct field *field,
                   void *target)
{
	struct scenario *scenario = target;
	size_t n;

	if (!read_list(script, part, field, &n))
		return;
	scenario->variants = array_new(n, sizeof(*scenario->variants));
	if (!scenario->variants)
		luaL_error(script->lua, "out of memory");
	for (size_t i = 1; i <= n; i++) {
		lua_rawgeti(script->lua, -1, (lua_Integer)i);
		add_variant(script, part);
		lua_pop(script->lua, 1);
	}
}

void read_stream(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	/* In the order of enum channel_order, and of false and true. */
	static const char *const orders[] = {"plan", "request", NULL};
	static const char *const directions[] = {"separate", "shared", NULL};
	static const char *const queues[] = {"many", "one", NULL};
	static const char *const answers[] = {"no", "yes", NULL};
	static const struct field rows[] = {
		{.name = "channel_order",
	         .kind = FIELD_CHOICE,
	         .choices = orders,
	         .offset = offsetof(struct stream_choice, order)},
		{.name = "directions",
	         .kind = FIELD_CHOICE,
	         .choices = directions,
	         .offset = offsetof(struct stream_choice, is_channel_shared)},
		{.name = "issue_queues",
	         .kind = FIELD_CHOICE,
	         .choices = queues,
	         .offset = offsetof(struct stream_choice, has_one_issue_queue)},
		{.name = "host_waits",
	         .kind = FIELD_CHOICE,
	         .choices = answers,
	         .offset = offsetof(struct stream_choice, host_waits)},
		{.name = "batched",
	         .kind = FIELD_CHOICE,
	         .choices = answers,
	         .offset = offsetof(struct stream_choice, is_batched)},
	};
	struct part stream;

	if (!part_open_plain(script, part, field->name, "stream.", &stream))
		return;
	read_fields(script, &stream, rows, sizeof(rows) / sizeof(rows[0]),
	            &((struct scenario *)target)->stream);
	lua_pop(script->lua, 1);
}

void read_live(struct script *script, const struct part *part, const struct field *field,
               void *target)
{
	static const struct field rows[] = {
		{.name = "speed",
	         .kind = FIELD_FACTOR,
	         .low = 1,
	         .high = 1000,
	         .offset = offsetof(struct live_settings, speed),
	         .example = "15"},
		{.name = "payload",
	         .kind = FIELD_SIZE,
	         .low = 1,
	         .high = 64 << 20,
	         .offset = offsetof(struct live_settings, payload_bytes),
	         .example = "\"64KiB\""},
	};
	struct part live;

	if (!part_open_plain(script, part, field->name, "live.", &live))
		return;
	read_fields(script, &live, rows, sizeof(rows) / sizeof(rows[0]),
	            &((struct scenario *)target)->live);
	lua_pop(script->lua, 1);
}

static bool is_scheduled(const struct scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->n_schedules; i++)
		if (strcmp(scenario->schedules[i], name) == 0)
			return true;
	return false;
}

/* The pair on top of the stack: a schedule's name and a plane's. */
static void add_plane(struct script *script, const struct part *part)
{
	struct scenario *scenario = &script->scenario;
	struct plane_choice *choice = &scenario->planes[scenario->n_planes];
	lua_State *lua = script->lua;
	const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
	const char *plane = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
	char found[DESCRIBED_BYTES];

	if (!is_scheduled(scenario, name)) {
		complain_field(script, part, "planes",
		               "planes names %s, which is not among the schedules",
		               describe_value(lua, -2, found));
		return;
	}
	if (strcmp(plane, "stream") != 0 && strcmp(plane, "delegate") != 0) {
		complain_field(script, part, "planes",
		               "the plane of \"%.60s\" is %s; it is \"stream\" or \"delegate\"",
		               name, describe_value(lua, -1, found));
		return;
	}
	choice->plane = strcmp(plane, "stream") == 0 ? PLANE_STREAM : PLANE_DELEGATE;
	choice->schedule = keep_text(script, name);
	if (choice->schedule)
		scenario->n_planes++;
}

void read_planes(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	struct scenario *scenario = target;
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_field(script, part, field->name, "planes is %s; write a table, such as %s",
		               describe_value(lua, -1, found), field->example);
		return;
	}
	scenario->planes = array_new(count_pairs(lua), sizeof(*scenario->planes));
	if (!scenario->planes)
		luaL_error(lua, "out of memory");
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		add_plane(script, part);
		lua_pop(lua, 1);
	}
}
