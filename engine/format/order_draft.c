/* order_draft.c - an order as it stands in a file, collected action by action. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/order_internal.h"

void order_draft_init(struct order_draft *draft, const char *name, const char *format)
{
	*draft = (struct order_draft){.name = name, .notes.format = format};
}

void order_draft_fini(struct order_draft *draft)
{
	free(draft->actions);
	draft->actions = NULL;
}

int order_draft_add(struct order_draft *draft, struct order_action action, struct err *err)
{
	struct order_action *actions;

	if (draft->n_actions == DRAFT_ACTIONS_MAX)
		return err_set(err, -EFBIG, "%s: row %u: more than %d actions", draft->name,
		               action.row, DRAFT_ACTIONS_MAX);
	actions = array_grow(draft->actions, &draft->capacity, draft->n_actions + 1,
	                     sizeof(*actions));
	if (actions == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", draft->name);
	draft->actions = actions;
	actions[draft->n_actions++] = action;
	if (action_is_transfer(action.kind))
		draft->has_transfers = true;
	return 0;
}

int order_draft_end_rank(struct order_draft *draft, size_t row, struct err *err)
{
	if (draft->n_ranks == TOPOLOGY_STAGES_MAX)
		return err_set(err, -EINVAL, "%s: row %zu: more than %d ranks", draft->name, row,
		               TOPOLOGY_STAGES_MAX);
	if (draft->n_actions == draft->rank_first[draft->n_ranks])
		return err_set(err, -EINVAL,
		               "%s: row %zu: has no actions; every row is a rank with a stage",
		               draft->name, row);
	draft->rank_first[++draft->n_ranks] = draft->n_actions;
	return 0;
}

int order_draft_end_letters(struct order_draft *draft, size_t row, struct err *err)
{
	int n_seen[ACTION_KINDS] = {0};
	struct order_action *action = draft->actions + draft->rank_first[draft->n_ranks];
	struct order_action *end = draft->actions + draft->n_actions;

	for (; action < end; action++) {
		action->stage = (uint16_t)draft->n_ranks;
		action->microbatch = n_seen[action->kind]++;
	}
	if (n_seen[ACTION_W] > 0) {
		action = draft->actions + draft->rank_first[draft->n_ranks];
		for (; action < end; action++)
			if (action->kind == ACTION_B)
				action->kind = ACTION_I;
	}
	return order_draft_end_rank(draft, row, err);
}

int order_fail(const struct order_draft *draft, const struct order_action *at, struct err *err,
               const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, -EINVAL, "%s: row %u, column %u: %s", draft->name, at->row, at->column,
	               text);
}

const char *action_kind_name(enum action_kind kind)
{
	switch (kind) {
	case ACTION_F:
		return "F";
	case ACTION_I:
		return "I";
	case ACTION_W:
		return "W";
	case ACTION_B:
		return "B";
	case ACTION_SEND_F:
		return "SEND_F";
	case ACTION_RECV_F:
		return "RECV_F";
	case ACTION_SEND_B:
		return "SEND_B";
	case ACTION_RECV_B:
		return "RECV_B";
	}
	return "?";
}

const char *action_text(const struct order_action *action, char out[ACTION_TEXT_BYTES])
{
	snprintf(out, ACTION_TEXT_BYTES, "%u%s%d", action->stage, action_kind_name(action->kind),
	         action->microbatch);
	return out;
}

const char *action_place(const struct order_action *action, char out[ACTION_PLACE_BYTES])
{
	char text[ACTION_TEXT_BYTES];

	snprintf(out, ACTION_PLACE_BYTES, "%s in row %u, column %u", action_text(action, text),
	         action->row, action->column);
	return out;
}

bool action_is_transfer(enum action_kind kind)
{
	return kind >= ACTION_SEND_F;
}
