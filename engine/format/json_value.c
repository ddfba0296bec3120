/* json_value.c - what JSON's strings and numbers say. */
#include <stdint.h>
#include <string.h>

#include "engine/format/decimal_internal.h"
#include "engine/format/json_read.h"
#include "engine/format/json_read_internal.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of \uXXXX; −1: they are not. */
static int32_t take_code(const char *text, const char *end)
{
	int32_t code = 0;

	if (end - text < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return -1;
		code = code * 16 + digit;
	}
	return code;
}

static char *add_utf8(char *out, int32_t code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* from is behind "\u"; *code_out may take a second escape. NULL: not digits. */
static const char *take_unicode(const char *from, const char *end, int32_t *code_out)
{
	int32_t code = take_code(from, end), low;

	if (code < 0)
		return NULL;
	from += 4;
	*code_out = code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
	if (code < 0xd800 || code >= 0xdc00 || end - from < 6 || from[0] != '\\' || from[1] != 'u')
		return from;
	low = take_code(from + 2, end);
	if (low < 0xdc00 || low >= 0xe000)
		return from;
	*code_out = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
	return from + 6;
}

bool json_unescape(char *text, size_t *length)
{
	static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *from = text, *end = text + *length;
	char *to = text;

	while (from < end) {
		const char *known;
		int32_t code;

		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from++;
		known = from < end && *from ? strchr(escapes, *from) : NULL;
		if (known != NULL) {
			*to++ = meanings[known - escapes];
			from++;
		} else if (from < end && *from == 'u') {
			from = take_unicode(from + 1, end, &code);
			if (from == NULL)
				return false;
			to = add_utf8(to, code);
		} else {
			return false;
		}
	}
	*length = (size_t)(to - text);
	return true;
}

bool json_scaled(const struct json_item *number, int exponent, int64_t *out)
{
	return decimal_scaled(number->text, number->length, exponent, out);
}

bool json_whole(const struct json_item *number, int64_t *out)
{
	return decimal_whole(number->text, number->length, out);
}
