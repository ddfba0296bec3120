/* order_file.c - pipeline orders from files: tells the format by the content and makes a plan of
 * what was read. */
#include "engine/format/order_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/format/order_internal.h"

struct order_format {
	const char *name;
	int (*parse)(struct order_draft *draft, struct text_lines lines, struct err *err);
};

static const struct order_format pytorch_csv = {"PyTorch pipelining CSV", pytorch_csv_parse};
static const struct order_format simulator_dump = {"simulator dump", simulator_dump_parse};
static const struct order_format letter_grid = {"letter grid", letter_grid_parse};
static const struct order_format schedule_text = {"Adaptra schedule text", schedule_text_parse};

static bool contains_any(struct text_span span, const char *characters)
{
	for (size_t i = 0; i < span.length; i++)
		if (strchr(characters, span.text[i]) != NULL)
			return true;
	return false;
}

static bool has_only(struct text_span span, const char *characters)
{
	for (size_t i = 0; i < span.length; i++)
		if (strchr(characters, span.text[i]) == NULL)
			return false;
	return true;
}

/* "3, B, 41, 52": a letter alone in the second field. */
static bool is_dump_line(struct text_span line)
{
	struct text_span field;

	if (!text_cut(&line, ',', &field))
		return false;
	text_cut(&line, ',', &field);
	field = text_trim(field);
	return field.length == 1 && contains_any(field, "FBW");
}

/* By the first line that is not empty. NULL: err says why. */
static const struct order_format *tell_format(const char *name, struct text_lines lines,
                                              struct err *err)
{
	struct text_span line = {"", 0};
	char shown[TEXT_SHOWN_BYTES];

	while (line.length == 0 && text_lines_next(&lines, &line))
		line = text_trim(line);
	if (line.length == 0) {
		err_set(err, -EINVAL, "%s: is empty; wanted a pipeline order", name);
		return NULL;
	}
	if (is_dump_line(line))
		return &simulator_dump;
	if (contains_any(line, ",(\""))
		return &pytorch_csv;
	if (has_only(line, "0123456789 \t")) {
		err_set(err, -EINVAL,
		        "%s: line %zu: numbers without letters don't say which are forwards; "
		        "wanted F0 F1 Bi0 Bw0, as newer files have it",
		        name, lines.number);
		return NULL;
	}
	if (text_is_digit(line.text[0]))
		return &pytorch_csv;
	if (strchr("FBWfbw.", line.text[0]) != NULL)
		return contains_any(line, "0123456789") ? &schedule_text : &letter_grid;
	err_set(err, -EINVAL,
	        "%s: line %zu: '%s' begins no order that is known; wanted PyTorch pipelining CSV, "
	        "a letter grid or Adaptra schedule text",
	        name, lines.number, text_show(line, shown));
	return NULL;
}

static void set_stage(const struct order_draft *draft, int rank, struct plan *plan)
{
	const struct order_action *action = &draft->actions[draft->rank_first[rank]];
	const struct order_action *end = &draft->actions[draft->rank_first[rank + 1]];
	struct plan_op *op = plan_stage(plan, action->stage);
	int n_forwards = 0;
	int warmups = -1;

	for (; action < end; action++) {
		enum action_kind kind = action->kind;

		if (action_is_transfer(kind))
			continue;
		if (kind == ACTION_F)
			n_forwards++;
		else if (warmups < 0)
			warmups = n_forwards;
		op++->microbatch = action->microbatch;
		op[-1].kind = kind == ACTION_F ? OP_F : kind == ACTION_W ? OP_W : OP_B;
		if (kind == ACTION_B)
			*op++ = (struct plan_op){.kind = OP_W, .microbatch = action->microbatch};
	}
	plan->warmups[draft->actions[draft->rank_first[rank]].stage] = warmups;
}

static bool has_split_backward(const struct order_draft *draft)
{
	for (size_t i = 0; i < draft->n_actions; i++)
		if (draft->actions[i].kind == ACTION_W)
			return true;
	return false;
}

static int make_plan(struct order_draft *draft, int n_microbatches, struct plan *out,
                     struct err *err)
{
	struct err why = {0};
	struct plan plan;
	int rc = plan_init(&plan, draft->n_ranks, n_microbatches, err);

	if (rc < 0)
		return rc;
	for (int rank = 0; rank < draft->n_ranks; rank++)
		set_stage(draft, rank, &plan);
	plan.merges_backward = !has_split_backward(draft);
	/* With transfers in the file, it is those that the warning is about. */
	rc = plan_verify(&plan, NULL, draft->has_transfers ? NULL : draft->notes.warning, &why);
	if (rc < 0) {
		plan_fini(&plan);
		return err_set(err, rc == -ENOMEM ? rc : -EINVAL, "%s: %s", draft->name, why.text);
	}
	*out = plan;
	return 0;
}

static int check_and_plan(struct order_draft *draft, struct plan *out, struct err *err)
{
	int n_microbatches = 0;
	int rc = order_check(draft, &n_microbatches, err);

	if (rc == 0 && draft->has_transfers)
		rc = order_check_transfers(draft, n_microbatches, draft->notes.warning, err);
	if (rc == 0)
		rc = make_plan(draft, n_microbatches, out, err);
	return rc;
}

int order_file_parse_noted(const char *name, const char *text, size_t n_bytes,
                           struct order_notes *notes, struct plan *out, struct err *err)
{
	const struct order_format *format;
	struct text_lines lines;
	struct order_draft draft;
	int rc = text_lines_init(&lines, name, text, n_bytes, err);

	if (rc < 0)
		return rc;
	format = tell_format(name, lines, err);
	if (format == NULL)
		return -EINVAL;
	order_draft_init(&draft, name, format->name);
	rc = format->parse(&draft, lines, err);
	if (rc == 0)
		rc = check_and_plan(&draft, out, err);
	if (rc == 0 && notes != NULL) {
		*notes = draft.notes;
		notes->n_actions = draft.n_actions;
		notes->has_transfers = draft.has_transfers;
	}
	order_draft_fini(&draft);
	return rc;
}

int order_file_parse(const char *name, const char *text, size_t n_bytes, struct plan *out,
                     struct err *err)
{
	return order_file_parse_noted(name, text, n_bytes, NULL, out, err);
}

int order_file_read(const char *path, struct plan *out, struct err *err)
{
	char *text;
	size_t n_bytes;
	int rc = file_read(path, TEXT_BYTES_MAX, &text, &n_bytes, err);

	if (rc < 0)
		return rc;
	rc = order_file_parse(path, text, n_bytes, out, err);
	free(text);
	return rc;
}
