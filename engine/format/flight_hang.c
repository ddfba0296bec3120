/* flight_hang.c - says what a hang hangs on.
 *
 * Every rank waits for the peer of its oldest op that is not done. Followed from rank to rank this
 * ends at a rank that waits for nobody, or goes round in a circle. Two ranks that wait for the two
 * ends of one message are no circle but a transfer that does not end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/flight_recorder.h"

enum { WAITS_FOR_NOBODY = -1 };

struct waits {
	int n_ranks;
	const struct flight_op *oldest[TOPOLOGY_STAGES_MAX]; /* NULL: nothing that is not done */
};

static const struct flight_dump *dump_of(const struct flight_recorder *recorder, int rank)
{
	for (size_t i = 0; i < recorder->n_dumps; i++)
		if (recorder->dumps[i].rank == rank)
			return &recorder->dumps[i];
	return NULL;
}

static const struct flight_op *oldest_of(const struct flight_dump *dump)
{
	for (size_t i = 0; dump != NULL && i < dump->n_ops; i++)
		if (!dump->ops[i].is_done)
			return &dump->ops[i];
	return NULL;
}

static int next_of(const struct waits *waits, int rank)
{
	const struct flight_op *op = waits->oldest[rank];

	if (op == NULL)
		return WAITS_FOR_NOBODY;
	return op->is_send ? op->to : op->from;
}

/* Where waiting leads to from rank: the lowest rank of a circle, or who waits for nobody. */
static int end_of(const struct waits *waits, int rank)
{
	int at = rank, lowest;

	/* After as many steps as there are ranks it is in the circle, if there is one. */
	for (int i = 0; i < waits->n_ranks; i++) {
		if (next_of(waits, at) == WAITS_FOR_NOBODY)
			return at;
		at = next_of(waits, at);
	}
	lowest = at;
	for (int i = next_of(waits, at); i != at; i = next_of(waits, i))
		if (i < lowest)
			lowest = i;
	return lowest;
}

/* The rank at which most of the waiting ends; −1: nobody waits. */
static int find_end(const struct waits *waits, int *n_waiting_out)
{
	int n_at[TOPOLOGY_STAGES_MAX] = {0};
	int found = -1;

	for (int rank = 0; rank < waits->n_ranks; rank++)
		if (next_of(waits, rank) != WAITS_FOR_NOBODY)
			n_at[end_of(waits, rank)]++;
	for (int rank = 0; rank < waits->n_ranks; rank++)
		if (n_at[rank] > (found < 0 ? 0 : n_at[found]))
			found = rank;
	*n_waiting_out = found < 0 ? 0 : n_at[found];
	return found;
}

static void set_kind(const struct waits *waits, int end, struct hang *out)
{
	const struct flight_op *op = waits->oldest[end], *other;
	int peer = next_of(waits, end);

	out->ranks[0] = end;
	out->n_ranks = 1;
	if (peer == WAITS_FOR_NOBODY) {
		out->kind = HANG_RANK;
		return;
	}
	other = waits->oldest[peer];
	for (int rank = peer; rank != end; rank = next_of(waits, rank))
		out->ranks[out->n_ranks++] = rank;
	out->kind = HANG_CIRCLE;
	if (out->n_ranks == 2 && op->from == other->from && op->to == other->to) {
		out->kind = HANG_TRANSFER;
		out->ranks[0] = op->from;
		out->ranks[1] = op->to;
	}
}

static bool is_of_pair(const struct flight_op *op, const struct flight_op *send, bool is_send)
{
	return op->is_send == is_send && op->from == send->from && op->to == send->to;
}

/* How many receives of the send's pair there are; of those not done if from a torn buffer. */
static size_t count_receives(const struct flight_dump *dump, const struct flight_op *send,
                             bool is_whole)
{
	size_t n = 0;

	for (size_t i = 0; dump != NULL && i < dump->n_ops; i++)
		n += is_of_pair(&dump->ops[i], send, false) && (is_whole || !dump->ops[i].is_done);
	return n;
}

/* The k-th send has the k-th receive. Where a ring buffer has lost the oldest, only those that are
 * not done can be counted. NULL: each has one. */
static const struct flight_op *first_unmatched(const struct flight_recorder *recorder,
                                               const struct flight_dump *dump,
                                               const struct flight_op *first)
{
	const struct flight_dump *other = dump_of(recorder, first->to);
	bool is_whole = dump->is_whole && (other == NULL || other->is_whole);
	size_t n_receives = count_receives(other, first, is_whole), n = 0;

	for (size_t i = 0; i < dump->n_ops; i++) {
		const struct flight_op *op = &dump->ops[i];

		if (!is_of_pair(op, first, true) || (!is_whole && op->is_done))
			continue;
		if (n >= n_receives && !op->is_done)
			return op;
		n++;
	}
	return NULL;
}

static int add_send(struct hang *hang, size_t *capacity, const struct flight_op *op,
                    struct err *err)
{
	struct hang_send *sends =
		array_grow(hang->sends, capacity, hang->n_sends + 1, sizeof(*sends));

	if (sends == NULL)
		return err_set(err, -ENOMEM, "out of memory");
	hang->sends = sends;
	sends[hang->n_sends++] = (struct hang_send){op->from, op->to, op->sequence};
	return 0;
}

static int find_sends(const struct flight_recorder *recorder, struct hang *out, struct err *err)
{
	size_t capacity = 0;
	int rc = 0;

	for (size_t d = 0; d < recorder->n_dumps; d++) {
		const struct flight_dump *dump = &recorder->dumps[d];
		bool was_met[TOPOLOGY_STAGES_MAX] = {false};

		for (size_t i = 0; i < dump->n_ops && rc == 0; i++) {
			const struct flight_op *op = &dump->ops[i];

			if (!op->is_send || was_met[op->to])
				continue;
			was_met[op->to] = true;
			op = first_unmatched(recorder, dump, op);
			if (op != NULL)
				rc = add_send(out, &capacity, op, err);
		}
	}
	return rc;
}

int flight_recorder_find_hang(const struct flight_recorder *recorder, struct hang *out,
                              struct err *err)
{
	struct waits waits = {.n_ranks = recorder->n_ranks};
	struct hang hang = {.kind = HANG_NONE};
	int end, rc;

	for (int rank = 0; rank < waits.n_ranks; rank++)
		waits.oldest[rank] = oldest_of(dump_of(recorder, rank));
	end = find_end(&waits, &hang.n_waiting);
	if (end >= 0)
		set_kind(&waits, end, &hang);
	rc = find_sends(recorder, &hang, err);
	if (rc < 0)
		hang_fini(&hang);
	else
		*out = hang;
	return rc;
}

void hang_fini(struct hang *hang)
{
	free(hang->sends);
	hang->sends = NULL;
	hang->n_sends = 0;
}
