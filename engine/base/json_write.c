/* json_write.c - one JSON document, written into a strbuf. */
#include "engine/base/json_write.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/base/utf8.h"

enum { DEPTH_LIMIT = 32 };

void json_init(struct json_write *json, struct strbuf *out, bool is_indented)
{
	*json = (struct json_write){.out = out, .is_indented = is_indented};
}

static uint32_t level_bit(const struct json_write *json)
{
	return UINT32_C(1) << (json->depth - 1);
}

static void new_line(struct json_write *json)
{
	if (!json->is_indented)
		return;
	strbuf_add_char(json->out, '\n');
	for (int i = 0; i < json->depth; i++)
		strbuf_add(json->out, "  ");
}

static void add_control(struct strbuf *out, unsigned char c)
{
	static const char letters[] = "\b\f\n\r\t", names[] = "bfnrt";
	const char *letter = memchr(letters, c, sizeof(letters) - 1);

	if (letter)
		strbuf_addf(out, "\\%c", names[letter - letters]);
	else
		strbuf_addf(out, "\\u%04x", (unsigned)c);
}

/* Bytes that are not UTF-8 become U+FFFD: a document with them would be refused as a whole. */
static void add_quoted(struct strbuf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	strbuf_add_char(out, '"');
	while (*p) {
		size_t n = utf8_length(p);

		if (n == 0)
			strbuf_add(out, "\xef\xbf\xbd");
		else if (*p == '"' || *p == '\\')
			strbuf_addf(out, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			add_control(out, *p);
		else
			strbuf_add_bytes(out, (const char *)p, n);
		p += n ? n : 1;
	}
	strbuf_add_char(out, '"');
}

/* What goes in front of a value: a comma, a line or a blank, its key. */
static void start_item(struct json_write *json, const char *key, bool is_short)
{
	bool is_first;

	if (json->depth == 0) {
		assert(!key);
		return;
	}
	assert(!key == !!(json->is_array & level_bit(json)));
	is_first = !(json->has_item & level_bit(json));
	if (!is_first)
		strbuf_add_char(json->out, ',');
	json->has_item |= level_bit(json);
	if (key || !is_short)
		json->has_lines |= level_bit(json);
	if (json->has_lines & level_bit(json))
		new_line(json);
	else if (json->is_indented && !is_first)
		strbuf_add_char(json->out, ' ');
	if (!key)
		return;
	add_quoted(json->out, key);
	strbuf_add(json->out, json->is_indented ? ": " : ":");
}

static void open_level(struct json_write *json, const char *key, bool is_array)
{
	start_item(json, key, false);
	assert(json->depth < DEPTH_LIMIT);
	json->depth++;
	json->has_item &= ~level_bit(json);
	json->has_lines &= ~level_bit(json);
	json->is_array &= ~level_bit(json);
	if (is_array)
		json->is_array |= level_bit(json);
	strbuf_add_char(json->out, is_array ? '[' : '{');
}

void json_open_object(struct json_write *json, const char *key)
{
	open_level(json, key, false);
}

void json_open_array(struct json_write *json, const char *key)
{
	open_level(json, key, true);
}

void json_close(struct json_write *json)
{
	bool is_array, has_lines;

	assert(json->depth > 0);
	is_array = json->is_array & level_bit(json);
	has_lines = json->has_lines & level_bit(json);
	json->depth--;
	if (has_lines)
		new_line(json);
	strbuf_add_char(json->out, is_array ? ']' : '}');
}

void json_string(struct json_write *json, const char *key, const char *value)
{
	if (!value) {
		json_null(json, key);
		return;
	}
	start_item(json, key, false);
	add_quoted(json->out, value);
}

void json_int(struct json_write *json, const char *key, int64_t value)
{
	start_item(json, key, true);
	strbuf_addf(json->out, "%" PRId64, value);
}

void json_number(struct json_write *json, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	start_item(json, key, true);
	strbuf_add_number(json->out, value);
}

void json_bool(struct json_write *json, const char *key, bool value)
{
	json_raw(json, key, value ? "true" : "false");
}

void json_null(struct json_write *json, const char *key)
{
	json_raw(json, key, "null");
}

void json_raw(struct json_write *json, const char *key, const char *value)
{
	start_item(json, key, true);
	strbuf_add(json->out, value);
}
