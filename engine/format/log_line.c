/* log_line.c - taking lines of logs apart. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/format/decimal_internal.h"
#include "engine/format/log_line_internal.h"

enum { NUMBER_BYTES_MAX = 64 };

static struct text_span skip_blanks(struct text_span span)
{
	while (span.length > 0 && text_is_blank(span.text[0])) {
		span.text++;
		span.length--;
	}
	return span;
}

bool log_take_word(struct text_span *rest, const char *word)
{
	struct text_span span = skip_blanks(*rest);
	size_t n = strlen(word);

	if (span.length < n || memcmp(span.text, word, n) != 0)
		return false;
	*rest = (struct text_span){span.text + n, span.length - n};
	return true;
}

bool log_take_count(struct text_span *rest, int max, int *out)
{
	struct text_span span = skip_blanks(*rest);

	if (text_take_count(&span, max, out) < 0)
		return false;
	*rest = span;
	return true;
}

bool log_take_decimal(struct text_span *rest, int exponent, int64_t *out)
{
	struct text_span span = skip_blanks(*rest);
	char text[NUMBER_BYTES_MAX + 1] = "";
	size_t n = span.length < NUMBER_BYTES_MAX ? span.length : NUMBER_BYTES_MAX;

	memcpy(text, span.text, n);
	n = decimal_span(text);
	if (!decimal_is_number(text, n) || !decimal_scaled(text, n, exponent, out))
		return false;
	*rest = (struct text_span){span.text + n, span.length - n};
	return true;
}

int log_fail(const struct input *input, struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_BYTES / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, -EINVAL, "%s: line %llu: %s", input_name(input),
	               (unsigned long long)input_line(input), text);
}
