/* decimal.c - decimal numbers as they stand in files, exactly. */
#include "engine/format/decimal_internal.h"

static size_t n_digits(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

size_t decimal_span(const char *text)
{
	size_t n = 0;

	while ((text[n] >= '0' && text[n] <= '9') || text[n] == '.' || text[n] == '-' ||
	       text[n] == '+' || text[n] == 'e' || text[n] == 'E')
		n++;
	return n;
}

size_t decimal_plain(const char *text)
{
	size_t n = 0;

	while (text[n] >= '0' && text[n] <= '9')
		n++;
	if (text[n] == '.' || text[n] == 'e' || text[n] == 'E' || text[n] == '-' || text[n] == '+')
		return 0;
	return n > 1 && text[0] == '0' ? 0 : n;
}

bool decimal_is_number(const char *text, size_t length)
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

static void split(const char *text, size_t length, struct digits *out)
{
	const char *end = text + length;
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
static bool scale(const char *text, size_t length, int exponent, int64_t *out, bool *is_exact_out)
{
	struct digits digits;
	int64_t n_kept, value = 0;

	split(text, length, &digits);
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

bool decimal_scaled(const char *text, size_t length, int exponent, int64_t *out)
{
	bool is_exact;

	return scale(text, length, exponent, out, &is_exact);
}

bool decimal_whole(const char *text, size_t length, int64_t *out)
{
	int64_t value;
	bool is_exact;

	if (!scale(text, length, 0, &value, &is_exact) || !is_exact)
		return false;
	*out = value;
	return true;
}
