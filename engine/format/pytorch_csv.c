/* pytorch_csv.c - reads PyTorch pipelining's schedule CSV, both dialects.
 *
 * A row is a rank, a cell an action: stage, type, microbatch. Only what stands in the cells is
 * judged here; what they make together is order_check.c's. PyTorch's own reader looks at the start
 * of a cell only; this one refuses what follows, because a typing error there would silently become
 * another schedule. */
#include <errno.h>
#include <string.h>

#include "engine/format/csv_internal.h"
#include "engine/format/order_internal.h"

#define OVERLAP_WORD  "OVERLAP_F_B"
#define ACTION_WANTED "wanted an action such as 0F3, 0I3, 0W3, 0B3 or 0SEND_F3"

/* FSDP's actions move weights, not activations: they have no microbatch and no place in a plan. */
static const char *const skipped_types[] = {"UNSHARD", "RESHARD", "REDUCE_GRAD"};

struct pytorch_csv {
	struct order_draft *draft;
	struct order_action gap; /* first empty cell that has an action after it; row 0: none */
	struct order_action at;  /* the cell under way */
};

static int refuse(struct pytorch_csv *csv, struct text_span cell, const char *why, struct err *err)
{
	char shown[TEXT_SHOWN_BYTES];

	return order_fail(csv->draft, &csv->at, err, "found '%s'%s", text_show(cell, shown), why);
}

static bool is_word(struct text_span span, const char *word)
{
	return span.length == strlen(word) && memcmp(span.text, word, span.length) == 0;
}

static struct text_span take_type(struct text_span *rest)
{
	struct text_span type = {rest->text, 0};

	while (type.length < rest->length &&
	       ((type.text[type.length] >= 'A' && type.text[type.length] <= 'Z') ||
	        type.text[type.length] == '_'))
		type.length++;
	rest->text += type.length;
	rest->length -= type.length;
	return type;
}

static bool is_skipped_type(struct text_span type)
{
	for (size_t i = 0; i < sizeof(skipped_types) / sizeof(*skipped_types); i++)
		if (is_word(type, skipped_types[i]))
			return true;
	return false;
}

static int find_type(struct text_span type)
{
	for (int kind = 0; kind < ACTION_KINDS; kind++)
		if (is_word(type, action_kind_name((enum action_kind)kind)))
			return kind;
	return -1;
}

static int parse_action(struct pytorch_csv *csv, struct text_span cell, struct err *err)
{
	struct order_action action = csv->at;
	struct text_span rest = cell = text_trim(cell);
	struct text_span type;
	int stage = 0;
	int rc = text_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &stage);
	int kind;

	if (rc == -ERANGE)
		return refuse(csv, cell, ": stages are 0 to 1023", err);
	type = take_type(&rest);
	if (rc < 0 || type.length == 0)
		return refuse(csv, cell, "; " ACTION_WANTED, err);
	if (is_skipped_type(type) && rest.length == 0) {
		csv->draft->notes.n_skipped++;
		return 0;
	}
	kind = find_type(type);
	if (kind < 0)
		return refuse(csv, cell, " of no known type; " ACTION_WANTED, err);
	rc = text_take_count(&rest, SCENARIO_MICROBATCHES_MAX - 1, &action.microbatch);
	if (rc == -ENOENT)
		return refuse(csv, cell, " without a microbatch; " ACTION_WANTED, err);
	if (rc == -ERANGE)
		return refuse(csv, cell, ": microbatches are 0 to 65535", err);
	if (rest.length > 0)
		return refuse(csv, cell, " with text after the action; " ACTION_WANTED, err);
	action.kind = (uint8_t)kind;
	action.stage = (uint16_t)stage;
	return order_draft_add(csv->draft, action, err);
}

/* "(2F4;5B1)OVERLAP_F_B": two actions that one kernel stream runs together; here one after the
 * other. */
static int parse_overlap(struct pytorch_csv *csv, struct text_span cell, struct err *err)
{
	struct text_span rest = {cell.text + 1, cell.length - 1};
	struct text_span actions;
	struct text_span action;
	bool has_more;

	if (!text_cut(&rest, ')', &actions) || !is_word(text_trim(rest), OVERLAP_WORD))
		return refuse(csv, cell, "; wanted (2F4;5B1)" OVERLAP_WORD, err);
	do {
		int rc;

		has_more = text_cut(&actions, ';', &action);
		rc = parse_action(csv, action, err);
		if (rc < 0)
			return rc;
	} while (has_more);
	return 0;
}

static int parse_cell(struct pytorch_csv *csv, const struct csv_cell *cell,
                      struct order_action *gap, struct err *err)
{
	struct text_span span = text_trim((struct text_span){cell->text, cell->length});

	csv->at = (struct order_action){.row = cell->line, .column = cell->column};
	if (cell->column == 1)
		gap->row = 0;
	if (span.length == 0) {
		if (gap->row == 0)
			*gap = csv->at;
		return 0;
	}
	if (csv->gap.row == 0)
		csv->gap = *gap;
	if (span.text[0] == '(')
		return parse_overlap(csv, span, err);
	return parse_action(csv, span, err);
}

static int parse_cells(struct pytorch_csv *csv, struct csv_reader *reader, struct err *err)
{
	struct order_action gap = {0};
	uint32_t empty_row = 0;
	struct csv_cell cell;
	int rc;

	while ((rc = csv_next(reader, &cell, err)) > 0) {
		/* An empty line is only wrong when a rank follows it. */
		if (cell.column == 1 && cell.ends_row && cell.length == 0) {
			empty_row = empty_row ? empty_row : cell.line;
			continue;
		}
		if (empty_row != 0)
			return order_draft_end_rank(csv->draft, empty_row, err);
		rc = parse_cell(csv, &cell, &gap, err);
		if (rc == 0 && cell.ends_row)
			rc = order_draft_end_rank(csv->draft, cell.line, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int pytorch_csv_parse(struct order_draft *draft, struct text_lines lines, struct err *err)
{
	struct pytorch_csv csv = {.draft = draft};
	struct csv_reader reader;
	int rc = csv_open(&reader, draft->name, lines.at, (size_t)(lines.end - lines.at), err);

	if (rc < 0)
		return rc;
	rc = parse_cells(&csv, &reader, err);
	csv_close(&reader);
	if (rc == 0 && draft->has_transfers && csv.gap.row != 0)
		return order_fail(draft, &csv.gap, err,
		                  "empty cell; a file with transfers has no idle slots");
	return rc;
}
