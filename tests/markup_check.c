/* markup_check.c - is a page well-formed, and is everything drawn where it can be seen?
 *
 * A reader of its own, so that what the reports write is not judged by what wrote it. HTML without
 * optional tags is XML, so one grammar serves pages and pictures. */
#include "tests/markup_check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, NAME_BYTES = 40, ATTRIBUTES_MOST = 24, COMPLAINT_BYTES = 300 };

static char complaint[COMPLAINT_BYTES];

struct checker {
	const char *start, *at;
	char open[DEPTH_MOST][NAME_BYTES];
	int depth;
	double width, height; /* of the picture under way; 0: none */
	bool has_failed;
};

static bool fail(struct checker *checker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct checker *checker, const char *format, ...)
{
	char what[COMPLAINT_BYTES / 2];
	va_list args;

	if (checker->has_failed)
		return false;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(complaint, sizeof(complaint), "byte %ld, '%.60s': %s",
	         (long)(checker->at - checker->start), checker->at, what);
	checker->has_failed = true;
	return false;
}

/* Bytes of the character at p; 0: XML knows none such. */
static int character_bytes(const unsigned char *p)
{
	int n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] >= 0xf5 || (p[0] < 0x20 && !strchr("\t\n\r", p[0])))
		return 0;
	for (int i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90) ||
	    (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe))
		return 0;
	return n;
}

static bool read_entity(struct checker *checker)
{
	static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(checker->at, known[i], strlen(known[i])) == 0) {
			checker->at += strlen(known[i]);
			return true;
		}
	return fail(checker, "a bare '&'");
}

/* Up to one of the characters in end. */
static bool read_characters(struct checker *checker, const char *end)
{
	while (*checker->at && !strchr(end, *checker->at)) {
		int n = character_bytes((const unsigned char *)checker->at);

		if (n == 0)
			return fail(checker, "no character of XML");
		if (*checker->at == '&') {
			if (!read_entity(checker))
				return false;
			continue;
		}
		checker->at += n;
	}
	return true;
}

static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == ':';
}

static bool read_name(struct checker *checker, char *name)
{
	size_t n = 0;

	while (is_in_name(checker->at[n]))
		n++;
	if (n == 0 || n >= NAME_BYTES || isdigit((unsigned char)*checker->at))
		return fail(checker, "no name");
	memcpy(name, checker->at, n);
	name[n] = '\0';
	checker->at += n;
	return true;
}

static bool is_across(const char *name)
{
	return !strcmp(name, "x") || !strcmp(name, "x1") || !strcmp(name, "x2");
}

static bool is_down(const char *name)
{
	return !strcmp(name, "y") || !strcmp(name, "y1") || !strcmp(name, "y2");
}

static bool check_number(struct checker *checker, const char *text, char **end, double most)
{
	double value;

	if (!isdigit((unsigned char)*text))
		return fail(checker, "'%.20s' is no coordinate", text);
	value = strtod(text, end);
	return value <= most || fail(checker, "%g is beyond %g", value, most);
}

/* Moves and lines to absolute points, dots and closings: all that a path here consists of. */
static bool check_path(struct checker *checker, const char *value)
{
	while (*value) {
		char *end;

		if (*value == 'Z') {
			value++;
		} else if (strncmp(value, "h0", 2) == 0) {
			value += 2;
		} else if (*value == 'M' || *value == 'L') {
			if (!check_number(checker, value + 1, &end, checker->width))
				return false;
			if (*end != ' ')
				return fail(checker, "one coordinate alone");
			if (!check_number(checker, end + 1, &end, checker->height))
				return false;
			value = end;
		} else {
			return fail(checker, "'%.10s' in a path", value);
		}
	}
	return true;
}

/* An attribute inside of a picture. */
static bool check_attribute(struct checker *checker, const char *element, const char *name,
                            const char *value)
{
	char *end = NULL;

	if (!strcmp(element, "svg") || checker->width == 0 || !strcmp(element, "pattern"))
		return true;
	if (!strcmp(name, "d"))
		return check_path(checker, value);
	if (is_across(name) || !strcmp(name, "width"))
		return check_number(checker, value, &end, checker->width) &&
		       (!*end || fail(checker, "'%s' is no number", value));
	if (is_down(name) || !strcmp(name, "height"))
		return check_number(checker, value, &end, checker->height) &&
		       (!*end || fail(checker, "'%s' is no number", value));
	return true;
}

static bool read_attribute(struct checker *checker, const char *element, char *name)
{
	const char *value;
	char *copy;
	bool holds;

	if (!read_name(checker, name))
		return false;
	if (strncmp(checker->at, "=\"", 2) != 0)
		return fail(checker, "an attribute without a quoted value");
	checker->at += 2;
	value = checker->at;
	if (!read_characters(checker, "\"<"))
		return false;
	if (*checker->at != '"')
		return fail(checker, "a value that does not end");
	copy = strndup(value, (size_t)(checker->at - value));
	if (!copy)
		abort();
	if (!strcmp(element, "svg") && !strcmp(name, "viewBox") &&
	    sscanf(copy, "0 0 %lf %lf", &checker->width, &checker->height) != 2)
		checker->width = checker->height = 0;
	holds = check_attribute(checker, element, name, copy);
	free(copy);
	checker->at++;
	return holds;
}

static bool read_attributes(struct checker *checker, const char *element)
{
	char names[ATTRIBUTES_MOST][NAME_BYTES];
	int n = 0;

	while (*checker->at == ' ') {
		checker->at++;
		if (n == ATTRIBUTES_MOST)
			return fail(checker, "too many attributes");
		if (!read_attribute(checker, element, names[n]))
			return false;
		for (int i = 0; i < n; i++)
			if (!strcmp(names[i], names[n]))
				return fail(checker, "%s twice", names[n]);
		n++;
	}
	return true;
}

static bool read_start(struct checker *checker)
{
	char name[NAME_BYTES];

	checker->at++;
	if (!read_name(checker, name) || !read_attributes(checker, name))
		return false;
	if (strncmp(checker->at, "/>", 2) == 0) {
		checker->at += 2;
		return true;
	}
	if (*checker->at != '>')
		return fail(checker, "a tag that does not end");
	checker->at++;
	if (checker->depth == DEPTH_MOST)
		return fail(checker, "too deep");
	memcpy(checker->open[checker->depth++], name, NAME_BYTES);
	return true;
}

static bool read_end(struct checker *checker)
{
	char name[NAME_BYTES];

	checker->at += 2;
	if (!read_name(checker, name))
		return false;
	if (*checker->at != '>')
		return fail(checker, "a closing tag that does not end");
	checker->at++;
	if (checker->depth == 0 || strcmp(checker->open[--checker->depth], name) != 0)
		return fail(checker, "</%s> closes what is not open", name);
	if (!strcmp(name, "svg"))
		checker->width = checker->height = 0;
	return true;
}

static void read_document(struct checker *checker)
{
	static const char doctype[] = "<!DOCTYPE html>\n";

	if (strncmp(checker->at, doctype, strlen(doctype)) == 0)
		checker->at += strlen(doctype);
	while (*checker->at && !checker->has_failed) {
		if (*checker->at != '<')
			(void)read_characters(checker, "<");
		else if (checker->at[1] == '/')
			(void)read_end(checker);
		else
			(void)read_start(checker);
	}
	if (!checker->has_failed && checker->depth > 0)
		(void)fail(checker, "<%s> is not closed", checker->open[checker->depth - 1]);
}

const char *markup_complaint(const char *text)
{
	struct checker checker = {.start = text, .at = text};

	read_document(&checker);
	return checker.has_failed ? complaint : NULL;
}
