/* json_read.c - reads one JSON document item by item, in memory that does not grow with it.
 *
 * Text is looked at where it was read into; an item that the end of the buffer cuts is moved to the
 * front and completed there, so that every string is in one piece. A string's end is looked for
 * eight bytes at a time, because the traces that this is for are mostly strings. */
#include "engine/format/json_read.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/decimal_internal.h"
#include "engine/format/json_read_internal.h"

enum { PIECE_BYTES = 1 << 17, PADDING_BYTES = 8 };

int json_read_open(struct input *input, struct json_read **out, struct err *err)
{
	struct json_read *json = calloc(1, sizeof(*json));

	if (json != NULL)
		json->buffer = calloc(1, PADDING_BYTES);
	if (json == NULL || json->buffer == NULL) {
		free(json);
		return err_set(err, -ENOMEM, "%s: out of memory", input_name(input));
	}
	json->capacity = PADDING_BYTES;
	json->input = input;
	json->line = 1;
	json->wants = WANTS_VALUE;
	*out = json;
	return 0;
}

void json_read_close(struct json_read *json)
{
	if (json == NULL)
		return;
	free(json->buffer);
	free(json);
}

int json_fail(const struct json_read *json, int code, struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_BYTES / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, code, "%s: line %llu, byte %llu: %s", input_name(json->input),
	               (unsigned long long)json->line,
	               (unsigned long long)(json->n_before + json->at + 1), text);
}

int json_once(const struct json_read *json, uint32_t *seen, int bit, const char *key,
              struct err *err)
{
	if (*seen & UINT32_C(1) << bit)
		return json_fail(json, -EINVAL, err, "key '%s' is in its object twice", key);
	*seen |= UINT32_C(1) << bit;
	return 0;
}

/* Read more behind what is there, keeping the text from json->at on. 1: there is more; 0: there is
 * none. Pointers into the buffer change. */
static int fill(struct json_read *json, struct err *err)
{
	size_t n_kept = json->n - json->at, n_more = 0;
	char *buffer;
	int rc;

	if (json->has_ended)
		return 0;
	memmove(json->buffer, json->buffer + json->at, n_kept);
	json->n_before += json->at;
	json->at = 0;
	json->n = n_kept;
	buffer = array_grow(json->buffer, &json->capacity, n_kept + PIECE_BYTES + PADDING_BYTES, 1);
	if (buffer == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", input_name(json->input));
	json->buffer = buffer;
	rc = input_read(json->input, buffer + n_kept, json->capacity - n_kept - PADDING_BYTES,
	                &n_more, err);
	json->n += n_more;
	memset(buffer + json->n, 0, PADDING_BYTES);
	if (rc < 0)
		return rc;
	json->has_ended = n_more == 0;
	return n_more > 0;
}

/* The byte at json->at + n; −1: the text ends before it; else -errno − 1, so that it is below −1.
 */
static inline int byte_at(struct json_read *json, size_t n, struct err *err)
{
	while (json->at + n >= json->n) {
		int rc = fill(json, err);

		if (rc <= 0)
			return rc - 1;
	}
	return (unsigned char)json->buffer[json->at + n];
}

static int broken_off(const struct json_read *json, int byte, struct err *err)
{
	if (byte < -1)
		return byte + 1;
	return json_fail(json, -EINVAL, err, "the text breaks off; the file was cut");
}

/* To the next byte that is not blank; that byte, or as byte_at(). */
static inline int skip_blanks(struct json_read *json, struct err *err)
{
	for (;;) {
		const char *at = json->buffer + json->at;

		/* Ends at the padding, if not before. */
		while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
			json->line += *at++ == '\n';
		json->at = (size_t)(at - json->buffer);
		if (json->at < json->n)
			return (unsigned char)*at;
		if (byte_at(json, 0, err) < 0)
			return byte_at(json, 0, err);
	}
}

/* The first of eight bytes that ends a plain run in a string: a quote, a backslash, a control
 * character; 8: none does. A zero byte sets its high bit in (x - 0x01…) & ~x; bits above the lowest
 * one that is set may be wrong. */
static inline size_t first_special(const char *text)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t word, quote, slash, found;

	memcpy(&word, text, sizeof(word));
	word = le64toh(word);
	quote = word ^ ones * '"';
	slash = word ^ ones * '\\';
	found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
	         ((word - ones * 0x20) & ~word)) &
	        highs;
	return found ? (size_t)__builtin_ctzll(found) / 8 : 8;
}

/* How many bytes from json->at + n on are plain, as far as the buffer goes. */
static inline size_t plain_run(const struct json_read *json, size_t n)
{
	const char *start = json->buffer + json->at + n, *at = start;
	size_t n_plain;

	/* Ends at the padding, if not before. */
	while ((n_plain = first_special(at)) == 8)
		at += 8;
	return (size_t)(at + n_plain - start);
}

/* The string whose opening quote is at json->at. */
static int take_string(struct json_read *json, struct json_item *item, struct err *err)
{
	bool has_escapes = false;
	size_t n = 1;

	for (;;) {
		int byte;

		n += plain_run(json, n);
		if (n > JSON_STRING_BYTES_MAX)
			return json_fail(json, -EFBIG, err, "a string longer than %d bytes",
			                 JSON_STRING_BYTES_MAX);
		byte = byte_at(json, n, err);
		if (byte == '"')
			break;
		if (byte < 0)
			return broken_off(json, byte, err);
		if (byte == '\\') {
			has_escapes = true;
			byte = byte_at(json, n + 1, err);
			if (byte < 0)
				return broken_off(json, byte, err);
			n += 2;
		} else if (byte < 0x20) {
			return json_fail(json, -EINVAL, err,
			                 "a control character in a string; wanted an escape");
		}
	}
	item->text = json->buffer + json->at + 1;
	item->length = n - 1;
	if (has_escapes && !json_unescape(json->buffer + json->at + 1, &item->length))
		return json_fail(json, -EINVAL, err, "an unknown escape in a string");
	json->at += n + 1;
	return 0;
}

/* Most numbers are whole and small, and do not touch the end of the buffer. */
static bool take_plain_number(struct json_read *json, struct json_item *item)
{
	size_t n = decimal_plain(json->buffer + json->at);

	if (n == 0 || n > JSON_NUMBER_BYTES_MAX || json->at + n >= json->n)
		return false;
	*item = (struct json_item){JSON_NUMBER, json->buffer + json->at, n};
	json->at += n;
	return true;
}

static int take_number(struct json_read *json, struct json_item *item, struct err *err)
{
	size_t n;

	if (take_plain_number(json, item))
		return 0;
	for (;;) {
		int rc;

		n = decimal_span(json->buffer + json->at);
		if (n > JSON_NUMBER_BYTES_MAX)
			return json_fail(json, -EFBIG, err, "a number of more than %d characters",
			                 JSON_NUMBER_BYTES_MAX);
		/* At the end of the buffer the number may go on. */
		if (json->at + n < json->n || json->has_ended)
			break;
		rc = fill(json, err);
		if (rc < 0)
			return rc;
	}
	*item = (struct json_item){JSON_NUMBER, json->buffer + json->at, n};
	if (!decimal_is_number(item->text, n))
		return json_fail(json, -EINVAL, err, "found '%.*s'; wanted a number", (int)n,
		                 item->text);
	json->at += n;
	return 0;
}

static int take_word(struct json_read *json, const char *word, struct err *err)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++) {
		int byte = byte_at(json, i, err);

		if (byte < -1)
			return byte + 1;
		if (byte != word[i])
			return json_fail(json, -EINVAL, err,
			                 "a word that is no JSON; wanted true, false or null%s",
			                 word[0] == 'n' ? " (NaN and the like are no numbers)"
			                                : "");
	}
	json->at += n;
	return 0;
}

static int open_container(struct json_read *json, bool is_object, struct err *err)
{
	if (json->depth == JSON_NESTING_MAX)
		return json_fail(json, -EFBIG, err, "nested deeper than %d", JSON_NESTING_MAX);
	json->is_object &= ~(UINT64_C(1) << json->depth);
	json->is_object |= (uint64_t)is_object << json->depth;
	json->depth++;
	json->wants = is_object ? WANTS_KEY_OR_END : WANTS_VALUE_OR_END;
	json->at++;
	return 0;
}

static int take_value(struct json_read *json, int byte, struct json_item *item, struct err *err)
{
	*item = (struct json_item){JSON_STRING, "", 0};
	json->wants = WANTS_COMMA_OR_END;
	switch (byte) {
	case '"':
		return take_string(json, item, err);
	case '{':
		item->kind = JSON_OBJECT;
		return open_container(json, true, err);
	case '[':
		item->kind = JSON_ARRAY;
		return open_container(json, false, err);
	case 't':
		item->kind = JSON_TRUE;
		return take_word(json, "true", err);
	case 'f':
		item->kind = JSON_FALSE;
		return take_word(json, "false", err);
	case 'n':
		item->kind = JSON_NULL;
		return take_word(json, "null", err);
	}
	if (byte == '-' || (byte >= '0' && byte <= '9'))
		return take_number(json, item, err);
	if (byte < 0)
		return broken_off(json, byte, err);
	if (byte == 'N' || byte == 'I')
		return json_fail(json, -EINVAL, err, "NaN and Infinity are no numbers");
	return json_fail(json, -EINVAL, err, "found '%c'; wanted a value",
	                 byte >= ' ' && byte < 0x7f ? byte : '?');
}

static int take_key(struct json_read *json, int byte, struct json_item *item, struct err *err)
{
	int rc;

	if (byte < 0)
		return broken_off(json, byte, err);
	if (byte != '"')
		return json_fail(json, -EINVAL, err, "wanted a key in quotes");
	item->kind = JSON_KEY;
	rc = take_string(json, item, err);
	json->wants = WANTS_COLON;
	return rc;
}

static int close_container(struct json_read *json, int byte, struct json_item *item,
                           struct err *err)
{
	bool is_object = json->is_object >> (json->depth - 1) & 1;

	if (byte != (is_object ? '}' : ']'))
		return json_fail(json, -EINVAL, err, "found '%c'; wanted '%c'", byte,
		                 is_object ? '}' : ']');
	*item = (struct json_item){is_object ? JSON_OBJECT_END : JSON_ARRAY_END, "", 0};
	json->depth--;
	json->wants = WANTS_COMMA_OR_END;
	json->at++;
	return 0;
}

/* Behind a value: a comma and what follows it, or the container's end. */
static int take_next(struct json_read *json, int byte, struct json_item *item, struct err *err)
{
	bool is_object = json->is_object >> (json->depth - 1) & 1;

	if (byte == '}' || byte == ']')
		return close_container(json, byte, item, err);
	if (byte < 0)
		return broken_off(json, byte, err);
	if (byte != ',')
		return json_fail(json, -EINVAL, err, "wanted a comma or the end of the %s",
		                 is_object ? "object" : "array");
	json->at++;
	byte = skip_blanks(json, err);
	return is_object ? take_key(json, byte, item, err) : take_value(json, byte, item, err);
}

int json_next(struct json_read *json, struct json_item *item, struct err *err)
{
	int byte = skip_blanks(json, err);

	if (json->wants == WANTS_COLON) {
		if (byte < 0)
			return broken_off(json, byte, err);
		if (byte != ':')
			return json_fail(json, -EINVAL, err, "wanted a colon behind a key");
		json->at++;
		return take_value(json, skip_blanks(json, err), item, err);
	}
	if (json->wants == WANTS_VALUE)
		return take_value(json, byte, item, err);
	if (json->depth > 0 && json->wants == WANTS_COMMA_OR_END)
		return take_next(json, byte, item, err);
	if (json->wants == WANTS_KEY_OR_END)
		return byte == '}' ? close_container(json, byte, item, err)
		                   : take_key(json, byte, item, err);
	if (json->wants == WANTS_VALUE_OR_END)
		return byte == ']' ? close_container(json, byte, item, err)
		                   : take_value(json, byte, item, err);
	if (byte < -1)
		return byte + 1;
	if (byte >= 0)
		return json_fail(json, -EINVAL, err, "text behind the end of the document");
	*item = (struct json_item){JSON_END, "", 0};
	return 0;
}

int json_expect(struct json_read *json, enum json_kind kind, const char *what,
                struct json_item *item, struct err *err)
{
	int rc = json_next(json, item, err);

	if (rc == 0 && item->kind != kind)
		return json_fail(json, -EINVAL, err, "wanted %s", what);
	return rc;
}

int json_skip(struct json_read *json, const struct json_item *item, struct err *err)
{
	int depth = json->depth;
	struct json_item next;
	int rc = 0;

	if (item->kind != JSON_OBJECT && item->kind != JSON_ARRAY)
		return 0;
	while (rc == 0 && json->depth >= depth)
		rc = json_next(json, &next, err);
	return rc;
}

bool json_is(const struct json_item *item, const char *text)
{
	return strlen(text) == item->length && memcmp(text, item->text, item->length) == 0;
}
