/* field_line.c - finds the line on which a field of a statement is written.
 *
 * Lua knows the line of the call, `ab.scenario {`, but not of a field ten lines further down, and
 * that is where a person looks. This reads just enough of the language for that: braces, strings
 * and comments. */
#include <ctype.h>
#include <string.h>

#include "engine/script/script_internal.h"

struct scan {
	const char *at;
	int line;
	int depth; /* of braces, from the start of the statement's line */
};

static void step(struct scan *scan)
{
	if (*scan->at == '\n')
		scan->line++;
	scan->at++;
}

/* "[[" or "[==[" at the scan: its level, else −1. */
static int long_bracket_level(const char *at)
{
	size_t level = strspn(at + 1, "=");

	return at[0] == '[' && at[1 + level] == '[' ? (int)level : -1;
}

static void skip_long_bracket(struct scan *scan, int level)
{
	for (; *scan->at; step(scan)) {
		size_t n = strspn(scan->at + 1, "=");

		if (*scan->at == ']' && (int)n == level && scan->at[1 + n] == ']') {
			scan->at += n + 2;
			return;
		}
	}
}

static void skip_quoted(struct scan *scan)
{
	char quote = *scan->at;

	for (step(scan); *scan->at && *scan->at != quote && *scan->at != '\n'; step(scan))
		if (*scan->at == '\\' && scan->at[1])
			step(scan);
	if (*scan->at == quote)
		step(scan);
}

static void skip_comment(struct scan *scan)
{
	int level = long_bracket_level(scan->at + 2);

	scan->at += 2;
	if (level >= 0)
		skip_long_bracket(scan, level);
	else
		scan->at += strcspn(scan->at, "\n");
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is `field =` or `"field"] =` here? */
static bool is_field(const char *at, const char *field)
{
	size_t length = strlen(field);
	char quote = *at == '"' || *at == '\'' ? *at++ : '\0';

	if (strncmp(at, field, length) != 0 || is_word(at[length]))
		return false;
	at += length;
	if (quote) {
		if (*at++ != quote)
			return false;
		at += strspn(at, " \t");
		if (*at++ != ']')
			return false;
	}
	at += strspn(at, " \t");
	return at[0] == '=' && at[1] != '=';
}

/* Go past what is here: a string, a comment, a word or one character. */
static void skip_item(struct scan *scan)
{
	const char *at = scan->at;

	if (at[0] == '-' && at[1] == '-') {
		skip_comment(scan);
	} else if (at[0] == '"' || at[0] == '\'') {
		skip_quoted(scan);
	} else if (long_bracket_level(at) >= 0) {
		skip_long_bracket(scan, long_bracket_level(at));
	} else if (is_word(at[0])) {
		while (is_word(*scan->at))
			step(scan);
	} else {
		scan->depth += (at[0] == '{') - (at[0] == '}');
		step(scan);
	}
}

int field_line(const char *text, int statement_line, const char *field)
{
	struct scan scan = {text, 1, 0};
	bool has_opened = false;

	while (*scan.at && scan.line < statement_line)
		step(&scan);
	while (*scan.at) {
		if (scan.depth == 1 && is_field(scan.at, field))
			return scan.line;
		skip_item(&scan);
		has_opened = has_opened || scan.depth > 0;
		if (scan.depth <= 0 && (has_opened || scan.line > statement_line + 1) &&
		    scan.line > statement_line)
			break;
	}
	return statement_line;
}
