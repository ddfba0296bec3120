/* text_lines.c - cutting hostile text into lines and numbers. */
#include "engine/format/text_internal.h"

#include <errno.h>
#include <string.h>

static size_t line_of(const char *text, const char *at)
{
	size_t number = 1;

	for (; text < at; text++)
		number += *text == '\n';
	return number;
}

int text_lines_init(struct text_lines *lines, const char *name, const char *text, size_t n_bytes,
                    struct err *err)
{
	const char *nul;

	if (n_bytes > TEXT_BYTES_MAX)
		return err_set(err, -EFBIG, "%s: %zu bytes; at most %d are read", name, n_bytes,
		               TEXT_BYTES_MAX);
	if (n_bytes >= 2 && memcmp(text, "\x1f\x8b", 2) == 0)
		return err_set(err, -EINVAL, "%s: is compressed; unpack it with gunzip first",
		               name);
	nul = n_bytes > 0 ? memchr(text, '\0', n_bytes) : NULL;
	if (nul != NULL)
		return err_set(err, -EINVAL, "%s: line %zu: has a NUL byte; wanted plain text",
		               name, line_of(text, nul));
	if (n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		n_bytes -= 3;
	}
	*lines = (struct text_lines){.at = text, .end = text + n_bytes};
	return 0;
}

bool text_lines_next(struct text_lines *lines, struct text_span *line)
{
	const char *stop;

	if (lines->at == lines->end)
		return false;
	stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	*line = (struct text_span){lines->at, (size_t)((stop ? stop : lines->end) - lines->at)};
	lines->at = stop ? stop + 1 : lines->end;
	lines->number++;
	if (line->length > 0 && line->text[line->length - 1] == '\r')
		line->length--;
	return true;
}

bool text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

struct text_span text_trim(struct text_span span)
{
	while (span.length > 0 && text_is_blank(span.text[0])) {
		span.text++;
		span.length--;
	}
	while (span.length > 0 && text_is_blank(span.text[span.length - 1]))
		span.length--;
	return span;
}

bool text_cut(struct text_span *rest, char separator, struct text_span *piece)
{
	const char *stop = rest->length > 0 ? memchr(rest->text, separator, rest->length) : NULL;

	*piece = *rest;
	if (stop == NULL) {
		*rest = (struct text_span){rest->text + rest->length, 0};
		return false;
	}
	piece->length = (size_t)(stop - rest->text);
	*rest = (struct text_span){stop + 1, rest->length - piece->length - 1};
	return true;
}

int text_take_count(struct text_span *rest, int max, int *out)
{
	long long value = 0;
	size_t n_digits = 0;

	while (n_digits < rest->length && text_is_digit(rest->text[n_digits])) {
		/* Saturates, so that any number of digits can be read. */
		if (value <= max)
			value = value * 10 + (rest->text[n_digits] - '0');
		n_digits++;
	}
	if (n_digits == 0)
		return -ENOENT;
	rest->text += n_digits;
	rest->length -= n_digits;
	if (value > max)
		return -ERANGE;
	*out = (int)value;
	return 0;
}

const char *text_show(struct text_span span, char out[TEXT_SHOWN_BYTES])
{
	size_t n = span.length < TEXT_SHOWN_BYTES ? span.length : TEXT_SHOWN_BYTES - 4;

	for (size_t i = 0; i < n; i++)
		out[i] = span.text[i] >= ' ' && span.text[i] < 0x7f ? span.text[i] : '?';
	strcpy(out + n, n < span.length ? "..." : "");
	return out;
}
