/* reader.c - fields of Lua tables, read by rows. */
#include "engine/script/reader.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/nearest.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"

enum { NAMES_MAX = 64, NAME_SHOWN_BYTES = 48 };

char *keep_text(struct script *script, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		script->rc = -ENOMEM;
	return copy;
}

bool keep_room(struct script *script, void **items, size_t *capacity, size_t n_wanted,
               size_t item_bytes)
{
	void *grown = array_grow(*items, capacity, n_wanted, item_bytes);

	if (!grown) {
		script->rc = -ENOMEM;
		return false;
	}
	*items = grown;
	return true;
}

static void add_sentence(struct script *script, const struct place *place, const char *format,
                         va_list args)
{
	struct strbuf sentence = {0};
	int rc;

	strbuf_vaddf(&sentence, format, args);
	if (sentence.is_failed)
		rc = -ENOMEM;
	else if (place->line > 0)
		rc = scenario_mistake_add(script->mistakes, 0, "%s:%d: %s", place->file,
		                          place->line, strbuf_text(&sentence));
	else
		rc = scenario_mistake_add(script->mistakes, 0, "%s: %s",
		                          place->file[0] ? place->file
		                                         : source_name(script->request->path),
		                          strbuf_text(&sentence));
	strbuf_fini(&sentence);
	if (rc)
		script->rc = rc;
}

void script_complain(struct script *script, const struct place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_sentence(script, place, format, args);
	va_end(args);
}

struct place field_place(const struct script *script, const struct part *part, const char *field)
{
	struct place place = part->place;

	for (size_t i = 0; i < script->n_sources && place.line > 0; i++)
		if (strcmp(script->sources[i].name, place.file) == 0) {
			place.line = field_line(script->sources[i].text, place.line, field);
			break;
		}
	return place;
}

void complain_field(struct script *script, const struct part *part, const char *field,
                    const char *format, ...)
{
	struct place place = field_place(script, part, field);
	va_list args;

	va_start(args, format);
	add_sentence(script, &place, format, args);
	va_end(args);
}

char *describe_value(lua_State *lua, int index, char *out)
{
	const char *kind = statement_kind(lua, index);

	if (kind) {
		snprintf(out, DESCRIBED_BYTES, "ab.%s", kind);
		return out;
	}
	switch (lua_type(lua, index)) {
	case LUA_TNIL:
		snprintf(out, DESCRIBED_BYTES, "nothing");
		break;
	case LUA_TBOOLEAN:
		snprintf(out, DESCRIBED_BYTES, lua_toboolean(lua, index) ? "true" : "false");
		break;
	case LUA_TNUMBER:
		if (lua_isinteger(lua, index))
			snprintf(out, DESCRIBED_BYTES, "the number %lld",
			         lua_tointeger(lua, index));
		else
			snprintf(out, DESCRIBED_BYTES, "the number %g", lua_tonumber(lua, index));
		break;
	case LUA_TSTRING:
		snprintf(out, DESCRIBED_BYTES, "\"%.*s\"", NAME_SHOWN_BYTES,
		         lua_tostring(lua, index));
		break;
	default:
		snprintf(out, DESCRIBED_BYTES, "a %s", luaL_typename(lua, index));
		break;
	}
	return out;
}

static void complain_value(struct script *script, const struct part *part,
                           const struct field *field, const char *name, const char *wanted)
{
	char found[DESCRIBED_BYTES];

	complain_field(script, part, field->name, "%s%s is %s; write %s, such as %s", part->prefix,
	               name, describe_value(script->lua, -1, found), wanted, field->example);
}

static const char *format_bound(enum field_kind kind, int64_t value, char *out)
{
	if (kind == FIELD_DURATION)
		return units_format_duration(value, out);
	if (kind == FIELD_RATE)
		return units_format_rate(value, out);
	if (kind == FIELD_SIZE)
		return units_format_size(value, out);
	snprintf(out, UNITS_TEXT_BYTES, "%lld", (long long)value);
	return out;
}

static bool is_in_range(struct script *script, const struct part *part, const struct field *field,
                        const char *name, double value)
{
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES], found[DESCRIBED_BYTES];
	bool has_range = field->low != 0 || field->high != 0;

	if (!has_range || (value >= (double)field->low && value <= (double)field->high))
		return true;
	describe_value(script->lua, -1, found);
	format_bound(field->kind, field->low, low);
	if (field->high == INT64_MAX)
		complain_field(script, part, field->name, "%s%s is %s; it must be %s or more",
		               part->prefix, name, found, low);
	else
		complain_field(script, part, field->name, "%s%s is %s; it must be %s to %s",
		               part->prefix, name, found, low,
		               format_bound(field->kind, field->high, high));
	return false;
}

static int parse_quantity(enum field_kind kind, const char *text, int64_t *out, struct err *err)
{
	if (kind == FIELD_DURATION)
		return units_parse_duration(text, out, err);
	if (kind == FIELD_RATE)
		return units_parse_rate(text, out, err);
	return units_parse_size(text, out, err);
}

bool read_quantity(struct script *script, const struct part *part, const struct field *field,
                   const char *name, int64_t *out)
{
	struct err err = {0};
	int64_t value;

	if (lua_type(script->lua, -1) != LUA_TSTRING) {
		complain_value(script, part, field, name, "a text with a unit");
		return false;
	}
	if (parse_quantity(field->kind, lua_tostring(script->lua, -1), &value, &err)) {
		complain_field(script, part, field->name, "%s%s: %s", part->prefix, name, err.text);
		return false;
	}
	if (!is_in_range(script, part, field, name, (double)value))
		return false;
	*out = value;
	return true;
}

static void read_number(struct script *script, const struct part *part, const struct field *field,
                        void *value)
{
	lua_State *lua = script->lua;
	bool is_whole = field->kind != FIELD_FACTOR;
	int is_integer = 0;
	lua_Integer integer = 0;

	if (lua_type(lua, -1) == LUA_TNUMBER)
		integer = lua_tointegerx(lua, -1, &is_integer);
	if (lua_type(lua, -1) != LUA_TNUMBER || (is_whole && !is_integer)) {
		complain_value(script, part, field, field->name,
		               is_whole ? "a whole number" : "a number");
		return;
	}
	if (!isfinite(lua_tonumber(lua, -1))) {
		complain_value(script, part, field, field->name, "a number");
		return;
	}
	if (!is_in_range(script, part, field, field->name, lua_tonumber(lua, -1)))
		return;
	if (field->kind == FIELD_COUNT)
		*(int *)value = (int)integer;
	else if (field->kind == FIELD_SEED)
		*(uint64_t *)value = (uint64_t)integer;
	else
		*(double *)value = lua_tonumber(lua, -1);
}

/* "0.1%", "0.001" or 0.001. */
static void read_ratio(struct script *script, const struct part *part, const struct field *field,
                       double *value)
{
	lua_State *lua = script->lua;
	struct err err = {0};
	double ratio;

	if (lua_type(lua, -1) != LUA_TSTRING && lua_type(lua, -1) != LUA_TNUMBER) {
		complain_value(script, part, field, field->name, "a ratio");
		return;
	}
	if (lua_type(lua, -1) == LUA_TNUMBER) {
		ratio = lua_tonumber(lua, -1);
		if (!(ratio >= 0 && ratio <= 1)) {
			complain_value(script, part, field, field->name, "a ratio of 0 to 1");
			return;
		}
	} else if (units_parse_ratio(lua_tostring(lua, -1), &ratio, &err)) {
		complain_field(script, part, field->name, "%s%s: %s", part->prefix, field->name,
		               err.text);
		return;
	}
	*value = ratio;
}

void read_text(struct script *script, const struct part *part, const struct field *field,
               char **value)
{
	size_t length;
	const char *text = lua_type(script->lua, -1) == LUA_TSTRING
	                           ? lua_tolstring(script->lua, -1, &length)
	                           : NULL;

	if (!text || length == 0 || strlen(text) != length) {
		complain_value(script, part, field, field->name, "a text");
		return;
	}
	free(*value);
	*value = keep_text(script, text);
}

/* Are 1 to n all the keys of the table on top of the stack? */
static bool is_sequence(lua_State *lua, size_t n)
{
	bool is_plain = true;
	size_t n_items = 0;

	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		lua_pop(lua, 1);
		is_plain = is_plain && lua_isinteger(lua, -1) && lua_tointeger(lua, -1) >= 1 &&
		           (lua_Unsigned)lua_tointeger(lua, -1) <= n;
		n_items++;
	}
	return is_plain && n_items == n;
}

bool read_list(struct script *script, const struct part *part, const struct field *field,
               size_t *n_out)
{
	lua_State *lua = script->lua;

	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_value(script, part, field, field->name, "a list");
		return false;
	}
	*n_out = lua_rawlen(lua, -1);
	if (is_sequence(lua, *n_out))
		return true;
	complain_field(script, part, field->name,
	               "%s%s is a list, but has names or gaps in it; write %s", part->prefix,
	               field->name, field->example);
	return false;
}

static void read_choice(struct script *script, const struct part *part, const struct field *field,
                        int *value)
{
	const char *text =
		lua_type(script->lua, -1) == LUA_TSTRING ? lua_tostring(script->lua, -1) : "";
	char found[DESCRIBED_BYTES];
	struct strbuf known = {0};
	const char *nearest;
	size_t n = 0;

	for (; field->choices[n]; n++) {
		if (strcmp(field->choices[n], text) == 0) {
			*value = (int)n;
			strbuf_fini(&known);
			return;
		}
		strbuf_addf(&known, "%s\"%s\"", n == 0 ? "" : ", ", field->choices[n]);
	}
	nearest = nearest_name(text, field->choices, n);
	describe_value(script->lua, -1, found);
	if (nearest)
		complain_field(script, part, field->name,
		               "%s%s is %s; it is one of %s; did you mean \"%s\"?", part->prefix,
		               field->name, found, strbuf_text(&known), nearest);
	else
		complain_field(script, part, field->name, "%s%s is %s; it is one of %s",
		               part->prefix, field->name, found, strbuf_text(&known));
	strbuf_fini(&known);
}

/* The value is on top of the stack. */
static void read_value(struct script *script, const struct part *part, const struct field *field,
                       void *target)
{
	void *value = (char *)target + field->offset;
	int64_t quantity;

	switch (field->kind) {
	case FIELD_TEXT:
		read_text(script, part, field, value);
		break;
	case FIELD_DURATION:
	case FIELD_RATE:
	case FIELD_SIZE:
		if (read_quantity(script, part, field, field->name, &quantity))
			*(int64_t *)value = quantity;
		break;
	case FIELD_COUNT:
	case FIELD_SEED:
	case FIELD_FACTOR:
		read_number(script, part, field, value);
		break;
	case FIELD_RATIO:
		read_ratio(script, part, field, value);
		break;
	case FIELD_BOOL:
		if (lua_type(script->lua, -1) == LUA_TBOOLEAN)
			*(bool *)value = lua_toboolean(script->lua, -1);
		else
			complain_value(script, part, field, field->name, "true or false");
		break;
	case FIELD_CHOICE:
		read_choice(script, part, field, value);
		break;
	case FIELD_OTHER:
		field->read(script, part, field, target);
		break;
	}
}

/* What is known, for a sentence. */
static void complain_unknown(struct script *script, const struct part *part,
                             const struct field *fields, size_t n_fields, const char *found)
{
	const char *names[NAMES_MAX];
	const char *nearest;
	struct strbuf known = {0};

	for (size_t i = 0; i < n_fields && i < NAMES_MAX; i++) {
		names[i] = fields[i].name;
		strbuf_addf(&known, "%s%s", i == 0 ? "" : ", ", names[i]);
	}
	nearest = nearest_name(found, names, n_fields < NAMES_MAX ? n_fields : NAMES_MAX);
	if (nearest)
		complain_field(script, part, found,
		               "%s has no field \"%.*s\"; did you mean \"%s\"?", part->word,
		               NAME_SHOWN_BYTES, found, nearest);
	else
		complain_field(script, part, found, "%s has no field \"%.*s\"; its fields are %s",
		               part->word, NAME_SHOWN_BYTES, found, strbuf_text(&known));
	strbuf_fini(&known);
}

static bool is_known(const struct field *fields, size_t n_fields, const char *name)
{
	for (size_t i = 0; i < n_fields; i++)
		if (strcmp(fields[i].name, name) == 0)
			return true;
	return false;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lua walks a table in an order that changes from run to run; the complaints should not. At most
 * NAMES_MAX are told. */
static void check_names(struct script *script, const struct part *part, const struct field *fields,
                        size_t n_fields)
{
	lua_State *lua = script->lua;
	const char *unknown[NAMES_MAX];
	size_t n_unknown = 0;
	bool has_item = false;

	lua_pushnil(lua);
	while (lua_next(lua, part->table)) {
		lua_pop(lua, 1);
		if (lua_type(lua, -1) != LUA_TSTRING)
			has_item = true;
		else if (!is_known(fields, n_fields, lua_tostring(lua, -1)) &&
		         n_unknown < NAMES_MAX)
			unknown[n_unknown++] = lua_tostring(lua, -1); /* the table keeps it */
	}
	qsort(unknown, n_unknown, sizeof(unknown[0]), compare_texts);
	for (size_t i = 0; i < n_unknown; i++)
		complain_unknown(script, part, fields, n_fields, unknown[i]);
	if (has_item)
		script_complain(script, &part->place,
		                "%s has a value without a name; write name = value", part->word);
}

bool read_fields(struct script *script, const struct part *part, const struct field *fields,
                 size_t n_fields, void *target)
{
	lua_State *lua = script->lua;
	size_t n_before = script->mistakes->n_sentences;

	luaL_checkstack(lua, LUA_MINSTACK, "too many nested tables");
	check_names(script, part, fields, n_fields);
	for (size_t i = 0; i < n_fields; i++) {
		lua_pushstring(lua, fields[i].name);
		if (lua_rawget(lua, part->table) != LUA_TNIL)
			read_value(script, part, &fields[i], target);
		else if (fields[i].is_required)
			script_complain(script, &part->place, "%s needs %s%s = %s", part->word,
			                part->prefix, fields[i].name, fields[i].example);
		lua_pop(lua, 1);
	}
	return script->mistakes->n_sentences == n_before;
}
