/* order_transfers.c - does an order with explicit transfers end?
 *
 * Two replays without time. In the first a send goes at once and a receive waits for it: if that
 * stops, the order deadlocks. In the second a send waits until its receive is the peer's next
 * action: if only that stops, the order ends only as long as the transport buffers. A rank runs
 * until it has to wait and is looked at again when its neighbour moved, so the work is linear in
 * the actions. Whole computations need no look: their inputs are on the same rank, and
 * order_check() saw them before them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/order_internal.h"

struct replay {
	const struct order_draft *draft;
	int n_microbatches;
	bool waits_for_receive;
	int rank_of_stage[TOPOLOGY_STAGES_MAX];
	size_t next[TOPOLOGY_STAGES_MAX]; /* by rank */
	int waiting[TOPOLOGY_STAGES_MAX]; /* ranks to look at, a stack */
	bool is_waiting[TOPOLOGY_STAGES_MAX];
	int n_waiting;
	bool *is_sent; /* by receiving stage and microbatch, forwards then backwards */
};

static void look_at(struct replay *replay, int rank)
{
	if (replay->is_waiting[rank])
		return;
	replay->is_waiting[rank] = true;
	replay->waiting[replay->n_waiting++] = rank;
}

static enum action_kind partner_of(enum action_kind kind)
{
	switch (kind) {
	case ACTION_SEND_F:
		return ACTION_RECV_F;
	case ACTION_RECV_F:
		return ACTION_SEND_F;
	case ACTION_SEND_B:
		return ACTION_RECV_B;
	case ACTION_RECV_B:
		return ACTION_SEND_B;
	case ACTION_F:
	case ACTION_I:
	case ACTION_W:
	case ACTION_B:
		break;
	}
	return kind;
}

static int peer_stage(const struct order_action *action)
{
	bool is_upward = action->kind == ACTION_RECV_F || action->kind == ACTION_SEND_B;

	return is_upward ? action->stage - 1 : action->stage + 1;
}

static const struct order_action *next_action(const struct replay *replay, int rank)
{
	if (replay->next[rank] == replay->draft->rank_first[rank + 1])
		return NULL;
	return &replay->draft->actions[replay->next[rank]];
}

static bool *sent_mark(const struct replay *replay, const struct order_action *action)
{
	bool is_send = action->kind == ACTION_SEND_F || action->kind == ACTION_SEND_B;
	bool is_backward = action->kind == ACTION_SEND_B || action->kind == ACTION_RECV_B;
	int receiver = is_send ? peer_stage(action) : action->stage;
	size_t row = (size_t)receiver + (is_backward ? (size_t)replay->draft->n_ranks : 0);

	return &replay->is_sent[row * (size_t)replay->n_microbatches + (size_t)action->microbatch];
}

/* Can the transfer be done now? A send leaves its mark; meeting ranks both move on. */
static bool do_transfer(struct replay *replay, const struct order_action *action)
{
	int peer = replay->rank_of_stage[peer_stage(action)];
	const struct order_action *theirs = next_action(replay, peer);

	if (!replay->waits_for_receive) {
		if (action->kind == ACTION_RECV_F || action->kind == ACTION_RECV_B)
			return *sent_mark(replay, action);
		*sent_mark(replay, action) = true;
		look_at(replay, peer);
		return true;
	}
	if (theirs == NULL || theirs->kind != partner_of(action->kind) ||
	    theirs->microbatch != action->microbatch || peer_stage(theirs) != action->stage)
		return false;
	replay->next[peer]++;
	look_at(replay, peer);
	return true;
}

/* Whether all ranks came to their end. */
static bool run(struct replay *replay, bool waits_for_receive)
{
	replay->waits_for_receive = waits_for_receive;
	for (int rank = 0; rank < replay->draft->n_ranks; rank++) {
		replay->next[rank] = replay->draft->rank_first[rank];
		look_at(replay, rank);
	}
	while (replay->n_waiting > 0) {
		int rank = replay->waiting[--replay->n_waiting];
		const struct order_action *action;

		replay->is_waiting[rank] = false;
		while ((action = next_action(replay, rank)) != NULL) {
			if (action_is_transfer(action->kind) && !do_transfer(replay, action))
				break;
			replay->next[rank]++;
		}
	}
	for (int rank = 0; rank < replay->draft->n_ranks; rank++)
		if (next_action(replay, rank) != NULL)
			return false;
	return true;
}

/* "0RECV_B0 in row 1, column 3; …", as much as fits. */
static void describe_stop(const struct replay *replay, char *out, size_t n_bytes)
{
	char place[ACTION_PLACE_BYTES];
	size_t n = 0;

	out[0] = '\0';
	for (int rank = 0; rank < replay->draft->n_ranks; rank++) {
		const struct order_action *action = next_action(replay, rank);

		if (action == NULL)
			continue;
		action_place(action, place);
		if (n + strlen(place) + sizeof("; ...") > n_bytes) {
			strcpy(out + n, "...");
			return;
		}
		n += (size_t)snprintf(out + n, n_bytes - n, "%s%s", n > 0 ? "; " : "", place);
	}
}

static int replay_twice(struct replay *replay, char *warning, struct err *err)
{
	char stop[ERR_TEXT_BYTES / 2];
	char first_stop[PLAN_WARNING_BYTES / 2];

	if (!run(replay, false)) {
		describe_stop(replay, stop, sizeof(stop));
		return err_set(err, -EINVAL,
		               "%s: deadlocks even when sends are buffered; waiting: %s",
		               replay->draft->name, stop);
	}
	warning[0] = '\0';
	if (!run(replay, true)) {
		describe_stop(replay, first_stop, sizeof(first_stop));
		snprintf(warning, PLAN_WARNING_BYTES,
		         "ends only because sends are buffered; a send that waits for its receive "
		         "deadlocks at %s",
		         first_stop);
	}
	return 0;
}

int order_check_transfers(const struct order_draft *draft, int n_microbatches, char *warning,
                          struct err *err)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int rc = -ENOMEM;

	if (replay == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", draft->name);
	replay->draft = draft;
	replay->n_microbatches = n_microbatches;
	for (int rank = 0; rank < draft->n_ranks; rank++)
		replay->rank_of_stage[draft->actions[draft->rank_first[rank]].stage] = rank;
	replay->is_sent = array_new(2 * (size_t)draft->n_ranks * (size_t)n_microbatches,
	                            sizeof(*replay->is_sent));
	if (replay->is_sent != NULL)
		rc = replay_twice(replay, warning, err);
	else
		err_set(err, rc, "%s: out of memory", draft->name);
	free(replay->is_sent);
	free(replay);
	return rc;
}
