/* json_value.c - what JSON's strings and numbers say. */
#include <stdint.h>
#include <string.h>

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

static size_t n_digits(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

size_t json_number_span(const char *text)
{
	size_t n = 0;

	while ((text[n] >= '0' && text[n] <= '9') || text[n] == '.' || text[n] == '-' ||
	       text[n] == '+' || text[n] == 'e' || text[n] == 'E')
		n++;
	return n;
}

bool json_is_number(const char *text, size_t length)
{
	size_t at = length > 0 && text[0] == '-';
	size_t n = n_digits(text + at, length - at);

	if (n == 0 || (n > 1 && text[at] == '0'))
		return false;
	at += n;
	if (at < length && text[at] == '.') {
		at++;
		n = n_digits(text + at, length - at);
		if (n == 0)
			return false;
		at += n;
	}
	if (at < length && (text[at] == 'e' || text[at] == 'E')) {
		at++;
		at += at < length && (text[at] == '-' || text[at] == '+');
		n = n_digits(text + at, length - at);
		if (n == 0)
			return false;
		at += n;
	}
	return at == length;
}

/* The digits of a number without its point, and where the point was. */
struct digits {
	const char *text;
	size_t length;
	size_t n_whole; /* digits before the point */
	size_t n_all;
	bool is_negative;
	int64_t exponent;
};

static void split(const struct json_item *number, struct digits *out)
{
	const char *text = number->text, *end = text + number->length;
	bool is_negative_exponent;
	size_t n;

	*out = (struct digits){.is_negative = *text == '-'};
	text += out->is_negative;
	out->text = text;
	out->n_whole = out->n_all = n_digits(text, (size_t)(end - text));
	text += out->n_whole;
	if (text < end && *text == '.') {
		n = n_digits(text + 1, (size_t)(end - text - 1));
		out->n_all += n;
		text += n + 1;
	}
	out->length = (size_t)(text - out->text);
	if (text == end)
		return;
	text++;
	is_negative_exponent = *text == '-';
	text += *text == '-' || *text == '+';
	/* Far more than matters, and far less than overflows. */
	for (; text < end && out->exponent < 1000000; text++)
		out->exponent = out->exponent * 10 + (*text - '0');
	if (is_negative_exponent)
		out->exponent = -out->exponent;
}

static int digit_at(const struct digits *digits, size_t i)
{
	return digits->text[i < digits->n_whole ? i : i + 1] - '0';
}

/* value × 10 + digit; false: more than INT64_MAX. */
static bool append(int64_t *value, int digit)
{
	return !__builtin_mul_overflow(*value, 10, value) &&
	       !__builtin_add_overflow(*value, digit, value);
}

/* *is_exact_out: nothing was rounded away. */
static bool scale(const struct json_item *number, int exponent, int64_t *out, bool *is_exact_out)
{
	struct digits digits;
	int64_t n_kept, value = 0;

	split(number, &digits);
	n_kept = (int64_t)digits.n_whole + digits.exponent + exponent;
	*is_exact_out = true;
	for (int64_t i = 0; i < n_kept; i++) {
		int digit = (uint64_t)i < digits.n_all ? digit_at(&digits, (size_t)i) : 0;

		/* A zero times any power of ten. */
		if (value == 0 && digit == 0 && (uint64_t)i >= digits.n_all)
			break;
		if (!append(&value, digit))
			return false;
	}
	for (size_t i = n_kept > 0 ? (size_t)n_kept : 0; i < digits.n_all; i++)
		*is_exact_out &= digit_at(&digits, i) == 0;
	if (n_kept >= 0 && (uint64_t)n_kept < digits.n_all &&
	    digit_at(&digits, (size_t)n_kept) >= 5 && __builtin_add_overflow(value, 1, &value))
		return false;
	*out = digits.is_negative ? -value : value;
	return true;
}

bool json_scaled(const struct json_item *number, int exponent, int64_t *out)
{
	bool is_exact;

	return scale(number, exponent, out, &is_exact);
}

bool json_whole(const struct json_item *number, int64_t *out)
{
	int64_t value;
	bool is_exact;

	if (!scale(number, 0, &value, &is_exact) || !is_exact)
		return false;
	*out = value;
	return true;
}
