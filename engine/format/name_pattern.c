/* name_pattern.c - a user's regular expression for the names that ops have in a trace.
 *
 * The C library's expressions have no names for groups: these are taken out and their numbers kept.
 */
#include "engine/format/name_pattern.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/format/text_internal.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"

enum group { GROUP_KIND, GROUP_MICROBATCH, GROUP_STAGE, GROUPS };
enum { NUMBERS_MAX = 32 };

struct name_pattern {
	regex_t regex;
	enum vocabulary vocabulary;
	int numbers[GROUPS]; /* of the groups in the expression; 0: it has none */
};

static const char *const group_names[GROUPS] = {"kind", "mb", "stage"};

static int find_group(const char *name, size_t length)
{
	for (int i = 0; i < GROUPS; i++)
		if (strlen(group_names[i]) == length && memcmp(group_names[i], name, length) == 0)
			return i;
	return -1;
}

/* "(?<kind>" at text: keep the group's number; *length_out is what stands behind the bracket. */
static int take_name(const char *text, int number, int numbers[GROUPS], size_t *length_out,
                     struct err *err)
{
	size_t length = strcspn(text + 3, ">");
	int group = text[3 + length] == '>' ? find_group(text + 3, length) : -1;

	if (group < 0)
		return err_set(err, -EINVAL,
		               "names: '%.20s'; wanted (?<kind>…), (?<mb>…) or "
		               "(?<stage>…)",
		               text);
	if (numbers[group] != 0)
		return err_set(err, -EINVAL, "names: the group %s is there twice",
		               group_names[group]);
	numbers[group] = number;
	*length_out = length + 3;
	return 0;
}

/* Behind the bracket expression that starts at text, in which brackets are themselves; a class such
 * as [:alpha:] inside has some of its own. */
static size_t bracket_length(const char *text)
{
	size_t n = 1 + (text[1] == '^');

	n += text[n] == ']';
	while (text[n] != '\0' && text[n] != ']') {
		char mark = text[n] == '[' ? text[n + 1] : '\0';
		bool is_class = mark == ':' || mark == '.' || mark == '=';
		const char *end = is_class ? strchr(text + n + 2, mark) : NULL;

		n = end != NULL && end[1] == ']' ? (size_t)(end + 2 - text) : n + 1;
	}
	return n + (text[n] == ']');
}

/* The expression without the names of its groups. */
static int translate(const char *expression, int numbers[GROUPS], struct strbuf *out,
                     struct err *err)
{
	int n_groups = 0, rc;
	size_t length;

	for (const char *at = expression; *at;) {
		length = 1;
		if (*at == '\\' && at[1] != '\0')
			length = 2;
		else if (*at == '[')
			length = bracket_length(at);
		strbuf_add_bytes(out, at, length);
		if (*at == '(') {
			n_groups++;
			if (strncmp(at, "(?<", 3) == 0) {
				rc = take_name(at, n_groups, numbers, &length, err);
				if (rc < 0)
					return rc;
				length++;
			}
		}
		at += length;
	}
	if (n_groups >= NUMBERS_MAX)
		return err_set(err, -EINVAL, "names: %d groups; at most %d", n_groups,
		               NUMBERS_MAX - 1);
	if (numbers[GROUP_KIND] == 0 || numbers[GROUP_MICROBATCH] == 0)
		return err_set(err, -EINVAL, "names: no group (?<%s>…)",
		               group_names[numbers[GROUP_KIND] ? GROUP_MICROBATCH : GROUP_KIND]);
	return 0;
}

static int compile(const char *text, struct name_pattern *pattern, struct err *err)
{
	char why[128];
	int code = regcomp(&pattern->regex, text, REG_EXTENDED);

	if (code == 0)
		return 0;
	regerror(code, &pattern->regex, why, sizeof(why));
	return err_set(err, -EINVAL, "names: %s", why);
}

int name_pattern_new(const char *expression, enum vocabulary vocabulary, struct name_pattern **out,
                     struct err *err)
{
	struct name_pattern *pattern = calloc(1, sizeof(*pattern));
	struct strbuf text = {0};
	int rc;

	if (pattern == NULL)
		return err_set(err, -ENOMEM, "out of memory");
	pattern->vocabulary = vocabulary;
	rc = translate(expression, pattern->numbers, &text, err);
	if (rc == 0 && text.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = compile(strbuf_text(&text), pattern, err);
	strbuf_fini(&text);
	if (rc < 0)
		free(pattern);
	else
		*out = pattern;
	return rc;
}

void name_pattern_free(struct name_pattern *pattern)
{
	if (pattern == NULL)
		return;
	regfree(&pattern->regex);
	free(pattern);
}

static bool take_number(const char *name, const regmatch_t *match, int max, int *out)
{
	struct text_span rest = {name + match->rm_so, (size_t)(match->rm_eo - match->rm_so)};

	return match->rm_so >= 0 && text_take_count(&rest, max, out) == 0 && rest.length == 0;
}

enum name_match name_pattern_match(const struct name_pattern *pattern, const char *name,
                                   struct action_name *out)
{
	struct action_name action = {.stage = -1};
	const int *numbers = pattern->numbers;
	regmatch_t matches[NUMBERS_MAX];
	const regmatch_t *kind = &matches[numbers[GROUP_KIND]];

	if (regexec(&pattern->regex, name, NUMBERS_MAX, matches, 0) != 0)
		return NAME_OTHER;
	if (kind->rm_so < 0 ||
	    !vocabulary_find(pattern->vocabulary, name + kind->rm_so,
	                     (size_t)(kind->rm_eo - kind->rm_so), &action.kind) ||
	    !take_number(name, &matches[numbers[GROUP_MICROBATCH]], SCENARIO_MICROBATCHES_MAX - 1,
	                 &action.microbatch))
		return NAME_UNKNOWN;
	if (numbers[GROUP_STAGE] != 0 && !take_number(name, &matches[numbers[GROUP_STAGE]],
	                                              TOPOLOGY_STAGES_MAX - 1, &action.stage))
		return NAME_UNKNOWN;
	*out = action;
	return NAME_ACTION;
}
