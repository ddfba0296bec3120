/* simulator_dump.c - reads a simulator's op list as an order: lines "stage, type, start, end",
 * sorted.
 *
 * The times only have to agree with the order of the lines; an order has none. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/format/order_internal.h"

#define LINE_WANTED "wanted 'stage, F|B|W, start, end'"
enum { DUMP_FIELDS = 4, DUMP_NUMBER_BYTES = 48 };

/* Not negative and finite; strtod() alone would take more. */
static bool take_time(struct text_span span, double *out)
{
	char text[DUMP_NUMBER_BYTES];
	char *end;

	if (span.length == 0 || span.length >= sizeof(text))
		return false;
	for (size_t i = 0; i < span.length; i++) {
		text[i] = span.text[i];
		if (!text_is_digit(text[i]) && text[i] != '.')
			return false;
	}
	text[span.length] = '\0';
	*out = strtod(text, &end);
	return *end == '\0' && isfinite(*out);
}

static bool take_kind(struct text_span span, uint8_t *out)
{
	static const char letters[] = "FBW";
	static const uint8_t kinds[] = {ACTION_F, ACTION_B, ACTION_W};

	for (size_t i = 0; i < sizeof(kinds); i++) {
		if (span.length == 1 && span.text[0] == letters[i]) {
			*out = kinds[i];
			return true;
		}
	}
	return false;
}

struct dump_line {
	int stage;
	struct order_action action;
	double start;
	double end;
};

static int parse_line(const struct order_draft *draft, struct text_span line, struct dump_line *out,
                      struct err *err)
{
	struct text_span fields[DUMP_FIELDS];
	struct text_span rest = line;
	char shown[TEXT_SHOWN_BYTES];
	bool has_more = true;
	int n = 0;

	while (has_more && n < DUMP_FIELDS) {
		has_more = text_cut(&rest, ',', &fields[n]);
		fields[n] = text_trim(fields[n]);
		n++;
	}
	if (n < DUMP_FIELDS || has_more ||
	    text_take_count(&fields[0], TOPOLOGY_STAGES_MAX - 1, &out->stage) < 0 ||
	    fields[0].length > 0 || !take_kind(fields[1], &out->action.kind) ||
	    !take_time(fields[2], &out->start) || !take_time(fields[3], &out->end) ||
	    out->end < out->start)
		return order_fail(draft, &out->action, err, "found '%s'; " LINE_WANTED,
		                  text_show(line, shown));
	return 0;
}

/* A line of the next stage ends the rank under way. */
static int follow(struct order_draft *draft, const struct dump_line *line, double *last_start,
                  struct err *err)
{
	bool is_first = draft->n_actions == draft->rank_first[draft->n_ranks];

	if (!is_first && line->stage == draft->n_ranks + 1) {
		int rc = order_draft_end_letters(draft, line->action.row, err);

		if (rc < 0)
			return rc;
		is_first = true;
	}
	if (line->stage != draft->n_ranks)
		return order_fail(
			draft, &line->action, err,
			"stage %d after stage %d; wanted lines sorted by stage, from 0, then start",
			line->stage, draft->n_ranks);
	if (!is_first && line->start < *last_start)
		return order_fail(draft, &line->action, err,
		                  "starts before the line above; wanted lines sorted by start");
	*last_start = line->start;
	return order_draft_add(draft, line->action, err);
}

int simulator_dump_parse(struct order_draft *draft, struct text_lines lines, struct err *err)
{
	double last_start = 0;
	struct text_span text;

	while (text_lines_next(&lines, &text)) {
		struct dump_line line = {.action = {.row = (uint32_t)lines.number, .column = 1}};
		int rc;

		if (text_trim(text).length == 0)
			continue;
		rc = parse_line(draft, text, &line, err);
		if (rc == 0)
			rc = follow(draft, &line, &last_start, err);
		if (rc < 0)
			return rc;
	}
	return order_draft_end_letters(draft, lines.number, err);
}
