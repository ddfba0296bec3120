/* strbuf.c - text that grows. */
#include "engine/base/strbuf.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_BYTES_AT_FIRST = 64, NUMBER_BYTES = 40, ROUND_TRIP_DIGITS = 17 };

/* Make room for n_bytes more and a NUL; 0 when there is none, and the buffer has failed then. */
static int reserve(struct strbuf *buf, size_t n_bytes)
{
	size_t wanted, capacity;
	char *text;

	if (n_bytes > PTRDIFF_MAX - buf->length - 1) {
		buf->is_failed = 1;
		return 0;
	}
	wanted = buf->length + n_bytes + 1;
	if (wanted <= buf->capacity)
		return 1;
	capacity = buf->capacity ? buf->capacity * 2 : CAPACITY_BYTES_AT_FIRST;
	if (capacity < wanted)
		capacity = wanted;
	text = realloc(buf->text, capacity);
	if (!text) {
		buf->is_failed = 1;
		return 0;
	}
	buf->text = text;
	buf->capacity = capacity;
	return 1;
}

void strbuf_add_bytes(struct strbuf *buf, const char *bytes, size_t n_bytes)
{
	if (!reserve(buf, n_bytes))
		return;
	if (n_bytes > 0)
		memcpy(buf->text + buf->length, bytes, n_bytes);
	buf->length += n_bytes;
	buf->text[buf->length] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *text)
{
	strbuf_add_bytes(buf, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buf, char c)
{
	strbuf_add_bytes(buf, &c, 1);
}

void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int n_bytes;

	if (!reserve(buf, 0))
		return;
	va_copy(again, args);
	room = buf->capacity - buf->length;
	n_bytes = vsnprintf(buf->text + buf->length, room, format, args);
	if (n_bytes >= 0 && (size_t)n_bytes >= room) {
		buf->text[buf->length] = '\0';
		if (reserve(buf, (size_t)n_bytes))
			n_bytes = vsnprintf(buf->text + buf->length, (size_t)n_bytes + 1, format,
			                    again);
		else
			n_bytes = 0;
	}
	va_end(again);
	if (n_bytes < 0) {
		buf->text[buf->length] = '\0';
		buf->is_failed = 1;
		return;
	}
	buf->length += (size_t)n_bytes;
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vaddf(buf, format, args);
	va_end(args);
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->text ? buf->text : "";
}

void strbuf_add_number(struct strbuf *buf, double value)
{
	char text[NUMBER_BYTES];
	/* Fifteen digits always survive in a normal double, and %g drops its trailing zeros. */
	int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;

	for (; digits <= ROUND_TRIP_DIGITS; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	strbuf_add(buf, text);
}

char *strbuf_take(struct strbuf *buf)
{
	char *text;

	if (buf->is_failed || !reserve(buf, 0)) {
		strbuf_fini(buf);
		return NULL;
	}
	text = buf->text;
	text[buf->length] = '\0';
	*buf = (struct strbuf){0};
	return text;
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	buf->is_failed = 0;
	if (buf->text)
		buf->text[0] = '\0';
}

void strbuf_fini(struct strbuf *buf)
{
	free(buf->text);
	*buf = (struct strbuf){0};
}
