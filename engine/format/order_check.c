/* order_check.c - what must hold of an order's actions before a plan can be made of it
 * (FORMATS.md 4.3).
 *
 * One pass over the actions of each stage, noting where each kind has each microbatch; memory is
 * one stage's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/order_internal.h"

/* Of one microbatch on one stage: index of the action of each kind in the draft, plus 1; 0: none.
 */
struct seen {
	uint32_t at[ACTION_KINDS];
};

/* On one stage and microbatch, where both are there. */
static const struct {
	uint8_t first;
	uint8_t second;
} orders[] = {
	{ACTION_F, ACTION_I},      {ACTION_F, ACTION_B},      {ACTION_I, ACTION_W},
	{ACTION_RECV_F, ACTION_F}, {ACTION_RECV_B, ACTION_I}, {ACTION_RECV_B, ACTION_B},
	{ACTION_F, ACTION_SEND_F}, {ACTION_I, ACTION_SEND_B}, {ACTION_B, ACTION_SEND_B},
};

static const struct order_action *first_action(const struct order_draft *draft, int rank)
{
	return &draft->actions[draft->rank_first[rank]];
}

static size_t n_rank_actions(const struct order_draft *draft, int rank)
{
	return draft->rank_first[rank + 1] - draft->rank_first[rank];
}

static int check_one_stage(const struct order_draft *draft, int rank, struct err *err)
{
	const struct order_action *first = first_action(draft, rank);

	for (size_t i = 1; i < n_rank_actions(draft, rank); i++)
		if (first[i].stage != first->stage)
			return order_fail(
				draft, &first[i], err,
				"stage %u on a rank that runs stage %u; several stages a rank "
				"(interleaved, V-shaped) are not supported here",
				first[i].stage, first->stage);
	return 0;
}

/* As many rows as stages, each on one row: then all of 0 … S − 1 are there. */
static int check_ranks(const struct order_draft *draft, struct err *err)
{
	int rank_of_stage[TOPOLOGY_STAGES_MAX];

	for (int rank = 0; rank < draft->n_ranks; rank++)
		rank_of_stage[rank] = -1;
	for (int rank = 0; rank < draft->n_ranks; rank++) {
		const struct order_action *first = first_action(draft, rank);
		int rc = check_one_stage(draft, rank, err);

		if (rc < 0)
			return rc;
		if (first->stage >= draft->n_ranks)
			return order_fail(draft, first, err,
			                  "stage %u in a file of %d rows; wanted stages 0 to %d",
			                  first->stage, draft->n_ranks, draft->n_ranks - 1);
		if (rank_of_stage[first->stage] >= 0)
			return order_fail(draft, first, err, "stage %u is that of row %u already",
			                  first->stage,
			                  first_action(draft, rank_of_stage[first->stage])->row);
		rank_of_stage[first->stage] = rank;
	}
	return 0;
}

static size_t count_forwards(const struct order_draft *draft, int rank)
{
	const struct order_action *first = first_action(draft, rank);
	size_t n = 0;

	for (size_t i = 0; i < n_rank_actions(draft, rank); i++)
		n += first[i].kind == ACTION_F;
	return n;
}

static int count_microbatches(const struct order_draft *draft, int *out, struct err *err)
{
	size_t n = count_forwards(draft, 0);

	for (int rank = 0; rank < draft->n_ranks; rank++) {
		const struct order_action *first = first_action(draft, rank);
		size_t n_here = count_forwards(draft, rank);

		if (n_here == 0 || n_here > SCENARIO_MICROBATCHES_MAX)
			return err_set(err, -EINVAL,
			               "%s: row %u: %zu forwards of stage %u; wanted 1 to %d",
			               draft->name, first->row, n_here, first->stage,
			               SCENARIO_MICROBATCHES_MAX);
		if (n_here != n)
			return err_set(err, -EINVAL,
			               "%s: row %u: %zu forwards of stage %u, but %zu of stage %u; "
			               "every stage runs every microbatch once",
			               draft->name, first->row, n_here, first->stage, n,
			               first_action(draft, 0)->stage);
	}
	*out = (int)n;
	return 0;
}

/* Note one action, which must be the only one of its kind and have a partner. */
static int note_action(const struct order_draft *draft, size_t index, struct seen *seen,
                       int n_microbatches, struct err *err)
{
	const struct order_action *action = &draft->actions[index];
	bool is_upward = action->kind == ACTION_RECV_F || action->kind == ACTION_SEND_B;
	char text[ACTION_TEXT_BYTES];
	char place[ACTION_PLACE_BYTES];
	uint32_t *at;

	action_text(action, text);
	if (action->microbatch >= n_microbatches)
		return order_fail(draft, action, err,
		                  "%s, but the stage has %d forwards; wanted microbatches 0 to %d",
		                  text, n_microbatches, n_microbatches - 1);
	at = &seen[action->microbatch].at[action->kind];
	if (*at != 0)
		return order_fail(draft, action, err, "%s for a second time; the first is %s", text,
		                  action_place(&draft->actions[*at - 1], place));
	if (action_is_transfer(action->kind) &&
	    action->stage == (is_upward ? 0 : draft->n_ranks - 1))
		return order_fail(draft, action, err, "%s, but stage %u has no neighbour there",
		                  text, action->stage);
	*at = (uint32_t)index + 1;
	return 0;
}

static int missing(const struct order_draft *draft, int rank, enum action_kind kind, int microbatch,
                   struct err *err)
{
	const struct order_action *first = first_action(draft, rank);

	return err_set(err, -EINVAL, "%s: row %u: %u%s%d is missing", draft->name, first->row,
	               first->stage, action_kind_name(kind), microbatch);
}

/* One F, and either I and W or B. */
static int check_computations(const struct order_draft *draft, int rank, const struct seen *seen,
                              int microbatch, struct err *err)
{
	const uint32_t *at = seen[microbatch].at;
	char text[ACTION_TEXT_BYTES];
	char place[ACTION_PLACE_BYTES];

	if (at[ACTION_F] == 0)
		return missing(draft, rank, ACTION_F, microbatch, err);
	if (at[ACTION_B] == 0 && at[ACTION_I] == 0 && at[ACTION_W] == 0)
		return missing(draft, rank, ACTION_B, microbatch, err);
	if (at[ACTION_B] == 0 && at[ACTION_I] == 0)
		return missing(draft, rank, ACTION_I, microbatch, err);
	if (at[ACTION_B] == 0 && at[ACTION_W] == 0)
		return missing(draft, rank, ACTION_W, microbatch, err);
	if (at[ACTION_B] != 0 && (at[ACTION_I] != 0 || at[ACTION_W] != 0)) {
		const struct order_action *half =
			&draft->actions[at[ACTION_I] ? at[ACTION_I] - 1 : at[ACTION_W] - 1];

		return order_fail(draft, half, err,
		                  "%s, but that microbatch has a whole backward, %s",
		                  action_text(half, text),
		                  action_place(&draft->actions[at[ACTION_B] - 1], place));
	}
	return 0;
}

static int check_order(const struct order_draft *draft, const uint32_t *at, struct err *err)
{
	char place[ACTION_PLACE_BYTES];
	char text[ACTION_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		uint32_t first = at[orders[i].first];
		uint32_t second = at[orders[i].second];

		if (first == 0 || second == 0 || first < second)
			continue;
		return order_fail(draft, &draft->actions[second - 1], err, "%s comes before %s",
		                  action_text(&draft->actions[second - 1], text),
		                  action_place(&draft->actions[first - 1], place));
	}
	return 0;
}

/* With all that are needed there, none twice and none too many, every send has its receive. */
static int check_transfers(const struct order_draft *draft, int rank, const struct seen *seen,
                           int microbatch, struct err *err)
{
	int stage = first_action(draft, rank)->stage;

	for (int kind = ACTION_SEND_F; kind < ACTION_KINDS; kind++) {
		bool is_upward = kind == ACTION_RECV_F || kind == ACTION_SEND_B;

		if (seen[microbatch].at[kind] == 0 && stage != (is_upward ? 0 : draft->n_ranks - 1))
			return missing(draft, rank, (enum action_kind)kind, microbatch, err);
	}
	return 0;
}

static int check_rank(const struct order_draft *draft, int rank, struct seen *seen,
                      int n_microbatches, struct err *err)
{
	int rc = 0;

	memset(seen, 0, (size_t)n_microbatches * sizeof(*seen));
	for (size_t i = draft->rank_first[rank]; i < draft->rank_first[rank + 1] && rc == 0; i++)
		rc = note_action(draft, i, seen, n_microbatches, err);
	for (int microbatch = 0; microbatch < n_microbatches && rc == 0; microbatch++) {
		rc = check_computations(draft, rank, seen, microbatch, err);
		if (rc == 0)
			rc = check_order(draft, seen[microbatch].at, err);
		if (rc == 0 && draft->has_transfers)
			rc = check_transfers(draft, rank, seen, microbatch, err);
	}
	return rc;
}

int order_check(const struct order_draft *draft, int *n_microbatches_out, struct err *err)
{
	struct seen *seen;
	int n_microbatches = 0;
	int rc = check_ranks(draft, err);

	if (rc == 0)
		rc = count_microbatches(draft, &n_microbatches, err);
	if (rc < 0)
		return rc;
	seen = array_new((size_t)n_microbatches, sizeof(*seen));
	if (seen == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", draft->name);
	for (int rank = 0; rank < draft->n_ranks && rc == 0; rank++)
		rc = check_rank(draft, rank, seen, n_microbatches, err);
	free(seen);
	if (rc == 0)
		*n_microbatches_out = n_microbatches;
	return rc;
}
