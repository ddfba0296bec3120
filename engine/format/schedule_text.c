/* schedule_text.c - reads Adaptra schedule text: a line is a stage, a word an op, as in "F0 F1 Bi0
 * Bw0".
 *
 * The numbers count occurrences of their kind on the stage, so a number out of turn is a mistake of
 * the file. */
#include <errno.h>
#include <string.h>

#include "engine/format/order_internal.h"

#define WORD_WANTED "wanted F<n>, Bi<n> or Bw<n>"

static const struct {
	const char *prefix;
	enum action_kind kind;
} word_kinds[] = {{"F", ACTION_F}, {"Bi", ACTION_I}, {"Bw", ACTION_W}};

enum { WORD_KINDS = sizeof(word_kinds) / sizeof(*word_kinds) };

static int add_word(struct order_draft *draft, struct text_span word, int *n_seen,
                    struct order_action at, struct err *err)
{
	char shown[TEXT_SHOWN_BYTES];
	struct text_span rest = word;
	size_t n_letters = 0;
	size_t i = 0;

	while (n_letters < word.length && !text_is_digit(word.text[n_letters]))
		n_letters++;
	while (i < WORD_KINDS && (strlen(word_kinds[i].prefix) != n_letters ||
	                          memcmp(word.text, word_kinds[i].prefix, n_letters) != 0))
		i++;
	rest.text += n_letters;
	rest.length -= n_letters;
	if (i == WORD_KINDS ||
	    text_take_count(&rest, SCENARIO_MICROBATCHES_MAX - 1, &at.microbatch) < 0 ||
	    rest.length > 0)
		return order_fail(draft, &at, err, "found '%s'; " WORD_WANTED,
		                  text_show(word, shown));
	at.kind = (uint8_t)word_kinds[i].kind;
	at.stage = (uint16_t)draft->n_ranks;
	if (at.microbatch != n_seen[i])
		return order_fail(
			draft, &at, err,
			"found '%s'; wanted %s%d, as each kind is numbered from 0 by occurrence",
			text_show(word, shown), word_kinds[i].prefix, n_seen[i]);
	n_seen[i]++;
	return order_draft_add(draft, at, err);
}

static int parse_line(struct order_draft *draft, struct text_span line, size_t row, struct err *err)
{
	int n_seen[WORD_KINDS] = {0};
	size_t at = 0;

	while (at < line.length) {
		size_t stop = at;
		int rc;

		while (stop < line.length && !text_is_blank(line.text[stop]))
			stop++;
		if (stop > at) {
			rc = add_word(draft, (struct text_span){line.text + at, stop - at}, n_seen,
			              (struct order_action){.row = (uint32_t)row,
			                                    .column = (uint32_t)at + 1},
			              err);
			if (rc < 0)
				return rc;
		}
		at = stop + 1;
	}
	return order_draft_end_rank(draft, row, err);
}

int schedule_text_parse(struct order_draft *draft, struct text_lines lines, struct err *err)
{
	struct text_span line;

	while (text_lines_next(&lines, &line)) {
		int rc;

		if (text_trim(line).length == 0)
			continue;
		rc = parse_line(draft, line, lines.number, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
