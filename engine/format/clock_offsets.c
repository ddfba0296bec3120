/* clock_offsets.c - puts what several ranks observed on one clock, by the messages between them. */
#include "engine/format/clock_offsets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

/* Clocks are not further apart; with it, no sum of times overflows (OBSERVED_TIME_MAX_NS). */
#define PLACED_MAX_NS (INT64_MAX / 16)

/* One end of a message. Both ends of one have equal keys: which stage receives it, in which
 * direction, iteration and microbatch; or, where only NCCL's kernels are known, the how many-th it
 * is between two ranks. */
struct message_end {
	int32_t receiver; /* stage; or rank, when by order */
	int32_t sender;   /* −1; or rank, when by order */
	int32_t iteration;
	int32_t number; /* microbatch, or the how many-th */
	bool is_forward;
	bool is_send;
	struct observed_op *op;
};

/* Smallest gaps between ranks low < high; INT64_MAX: no message. */
struct gap {
	int low;
	int high;
	int64_t upward_ns;
	int64_t downward_ns;
};

struct message {
	struct observed_op *send;
	struct observed_op *receive;
};

/* A rank, and how far its clock is ahead of the lowest rank's. */
struct place {
	int rank;
	bool is_known;
	int64_t offset_ns;
	int64_t uncertainty_ns;
};

struct placement {
	struct observed *observed;
	struct message_end *ends;
	size_t n_ends;
	struct message *messages;
	size_t n_messages;
	struct gap *gaps;
	size_t n_gaps;
	size_t gaps_capacity;
	struct place *places; /* sorted by rank */
	size_t n_places;
};

static int compare_int(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_keys(const struct message_end *x, const struct message_end *y)
{
	int order = compare_int(x->receiver, y->receiver);

	if (order == 0)
		order = compare_int(x->sender, y->sender);
	if (order == 0)
		order = compare_int(x->is_forward, y->is_forward);
	if (order == 0)
		order = compare_int(x->iteration, y->iteration);
	return order != 0 ? order : compare_int(x->number, y->number);
}

static int compare_ends(const void *a, const void *b)
{
	const struct message_end *x = a, *y = b;
	int order = compare_keys(x, y);

	if (order == 0)
		order = compare_int(y->is_send, x->is_send);
	return order != 0 ? order : compare_int(x->op->start_ns, y->op->start_ns);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return compare_int(x->rank, y->rank);
}

static struct place *place_of(const struct placement *placement, int rank)
{
	struct place key = {.rank = rank};

	return bsearch(&key, placement->places, placement->n_places, sizeof(key), compare_places);
}

static bool is_placeable(const struct observed_op *op)
{
	return op->clock == CLOCK_DEVICE && op->rank >= 0;
}

/* The ranks that have a device's clock, each once. */
static void collect_ranks(struct placement *placement)
{
	const struct observed *observed = placement->observed;
	struct place *places = placement->places;
	size_t n = 0;

	for (size_t i = 0; i < observed->n_ops; i++)
		if (is_placeable(&observed->ops[i]) &&
		    (n == 0 || places[n - 1].rank != observed->ops[i].rank))
			places[n++].rank = observed->ops[i].rank;
	if (n > 1)
		qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n; i++)
		if (placement->n_places == 0 ||
		    places[i].rank != places[placement->n_places - 1].rank)
			places[placement->n_places++].rank = places[i].rank;
}

static struct message_end end_of(struct observed_op *op)
{
	bool is_send = op->kind == OBSERVED_SEND_FORWARD || op->kind == OBSERVED_SEND_BACKWARD;
	bool is_forward = op->kind == OBSERVED_SEND_FORWARD || op->kind == OBSERVED_RECEIVE_FORWARD;
	int step = is_forward ? 1 : -1;
	struct message_end end = {.is_forward = is_forward, .is_send = is_send, .op = op};

	if (op->microbatch >= 0) {
		end.receiver = op->stage + (is_send ? step : 0);
		end.sender = -1;
		end.iteration = op->iteration;
		end.number = op->microbatch;
	} else {
		end.receiver = is_send ? op->peer : op->rank;
		end.sender = is_send ? op->rank : op->peer;
	}
	return end;
}

/* Ends known by order only: sorted by key and time, they are counted off. Where a rank has more of
 * them than its peer, which are missing cannot be told, and none is matched. */
static void number_ends(struct placement *placement)
{
	struct message_end *ends = placement->ends;
	size_t n_sends, n_all;

	for (size_t at = 0; at < placement->n_ends; at += n_all) {
		n_sends = 0;
		n_all = 0;
		while (at + n_all < placement->n_ends &&
		       compare_keys(&ends[at], &ends[at + n_all]) == 0)
			n_sends += ends[at + n_all++].is_send;
		if (ends[at].sender < 0)
			continue;
		for (size_t i = 0; i < n_all; i++) {
			struct message_end *end = &ends[at + i];

			/* Sends come first. Unequal numbers get odd and even ones: never equal. */
			end->number = (int32_t)(i < n_sends ? i : i - n_sends);
			if (2 * n_sends != n_all)
				end->number = 2 * end->number + end->is_send;
		}
	}
}

static void sort_ends(struct placement *placement)
{
	if (placement->n_ends > 1)
		qsort(placement->ends, placement->n_ends, sizeof(*placement->ends), compare_ends);
}

/* A message is a send and a receive of one key, and no third end. */
static void match(struct placement *placement)
{
	const struct message_end *ends = placement->ends;
	size_t n;

	for (size_t at = 0; at < placement->n_ends; at += n) {
		n = 1;
		while (at + n < placement->n_ends && compare_keys(&ends[at], &ends[at + n]) == 0)
			n++;
		if (n == 2 && ends[at].is_send && !ends[at + 1].is_send &&
		    ends[at].op->rank != ends[at + 1].op->rank)
			placement->messages[placement->n_messages++] =
				(struct message){ends[at].op, ends[at + 1].op};
	}
}

static int collect_messages(struct placement *placement, struct err *err)
{
	struct observed *observed = placement->observed;

	for (size_t i = 0; i < observed->n_ops; i++) {
		struct observed_op *op = &observed->ops[i];

		if (observed_is_transfer((enum observed_kind)op->kind) && is_placeable(op) &&
		    (op->microbatch >= 0 ? op->stage >= 0 : op->peer >= 0))
			placement->ends[placement->n_ends++] = end_of(op);
	}
	sort_ends(placement);
	number_ends(placement);
	sort_ends(placement);
	placement->messages = array_new(placement->n_ends / 2, sizeof(*placement->messages));
	if (placement->messages == NULL)
		return err_set(err, -ENOMEM, "out of memory for messages");
	match(placement);
	return 0;
}

/* Few pairs of ranks exchange messages, and neighbours in time are of one pair. */
static struct gap *gap_of(struct placement *placement, int low, int high, struct err *err)
{
	struct gap *gaps = placement->gaps;

	for (size_t i = placement->n_gaps; i > 0; i--)
		if (gaps[i - 1].low == low && gaps[i - 1].high == high)
			return &gaps[i - 1];
	gaps = array_grow(gaps, &placement->gaps_capacity, placement->n_gaps + 1, sizeof(*gaps));
	if (gaps == NULL) {
		err_set(err, -ENOMEM, "out of memory for messages");
		return NULL;
	}
	placement->gaps = gaps;
	gaps[placement->n_gaps] = (struct gap){low, high, INT64_MAX, INT64_MAX};
	return &gaps[placement->n_gaps++];
}

static int collect_gaps(struct placement *placement, struct err *err)
{
	for (size_t i = 0; i < placement->n_messages; i++) {
		const struct observed_op *send = placement->messages[i].send;
		const struct observed_op *receive = placement->messages[i].receive;
		bool is_upward = send->rank < receive->rank;
		struct gap *gap = gap_of(placement, is_upward ? send->rank : receive->rank,
		                         is_upward ? receive->rank : send->rank, err);
		int64_t gap_ns = receive->end_ns - send->start_ns;
		int64_t *smallest;

		if (gap == NULL)
			return -ENOMEM;
		smallest = is_upward ? &gap->upward_ns : &gap->downward_ns;
		if (gap_ns < *smallest)
			*smallest = gap_ns;
	}
	return 0;
}

static bool is_two_way(const struct gap *gap)
{
	return gap->upward_ns < INT64_MAX && gap->downward_ns < INT64_MAX;
}

/* Half of the sum of the gaps; negative: no offset explains both. */
static int64_t uncertainty_of(const struct gap *gap)
{
	return (gap->upward_ns + gap->downward_ns) / 2;
}

/* Place by a gap next to known: whose offset or uncertainty grows beyond all clocks is not. */
static bool place_beside(const struct gap *gap, const struct place *known, bool is_low_known,
                         struct place *out)
{
	int64_t ahead_ns = (gap->upward_ns - gap->downward_ns) / 2;

	out->offset_ns = known->offset_ns + (is_low_known ? ahead_ns : -ahead_ns);
	out->uncertainty_ns = known->uncertainty_ns + uncertainty_of(gap);
	out->is_known = true;
	return llabs(out->offset_ns) <= PLACED_MAX_NS && out->uncertainty_ns <= PLACED_MAX_NS;
}

/* Place the rank that can be placed best next to one that is; false: none can. */
static bool place_next(struct placement *placement)
{
	struct place *best = NULL;
	struct place found = {.uncertainty_ns = INT64_MAX};

	for (size_t i = 0; i < placement->n_gaps; i++) {
		const struct gap *gap = &placement->gaps[i];
		struct place *low = place_of(placement, gap->low);
		struct place *high = place_of(placement, gap->high);
		struct place beside = {0};

		if (!is_two_way(gap) || uncertainty_of(gap) < 0 || low->is_known == high->is_known)
			continue;
		if (!place_beside(gap, low->is_known ? low : high, low->is_known, &beside) ||
		    beside.uncertainty_ns >= found.uncertainty_ns)
			continue;
		best = low->is_known ? high : low;
		found = beside;
	}
	if (best == NULL)
		return false;
	found.rank = best->rank;
	*best = found;
	return true;
}

static void shift(struct placement *placement)
{
	struct observed *observed = placement->observed;

	for (size_t i = 0; i < observed->n_ops; i++) {
		struct observed_op *op = &observed->ops[i];
		const struct place *place = is_placeable(op) ? place_of(placement, op->rank) : NULL;

		if (place == NULL || !place->is_known)
			continue;
		op->start_ns -= place->offset_ns;
		op->end_ns -= place->offset_ns;
	}
}

static void set_wait(struct observed_op *early, const struct observed_op *late)
{
	int64_t wait_ns = late->start_ns - early->start_ns;
	int64_t length_ns = early->end_ns - early->start_ns;

	early->wait_ns = wait_ns < length_ns ? wait_ns : length_ns;
}

static void set_waits(struct placement *placement)
{
	for (size_t i = 0; i < placement->n_messages; i++) {
		struct observed_op *send = placement->messages[i].send;
		struct observed_op *receive = placement->messages[i].receive;

		if (!place_of(placement, send->rank)->is_known ||
		    !place_of(placement, receive->rank)->is_known)
			continue;
		send->wait_ns = receive->wait_ns = 0;
		if (send->start_ns < receive->start_ns)
			set_wait(send, receive);
		else
			set_wait(receive, send);
	}
}

static void summarise(const struct placement *placement, struct clock_offsets *out)
{
	*out = (struct clock_offsets){.n_messages = placement->n_messages,
	                              .n_ranks = (int)placement->n_places};
	for (size_t i = 0; i < placement->n_places; i++) {
		const struct place *place = &placement->places[i];

		out->n_placed += place->is_known;
		if (place->is_known && place->uncertainty_ns > out->uncertainty_ns)
			out->uncertainty_ns = place->uncertainty_ns;
	}
	for (size_t i = 0; i < placement->n_gaps; i++)
		out->n_contradictory +=
			is_two_way(&placement->gaps[i]) && uncertainty_of(&placement->gaps[i]) < 0;
}

int clock_offsets_apply(struct observed *observed, struct clock_offsets *out, struct err *err)
{
	struct placement placement = {.observed = observed};
	int rc = 0;

	placement.places = array_new(observed->n_ops, sizeof(*placement.places));
	placement.ends = array_new(observed->n_ops, sizeof(*placement.ends));
	if (placement.places == NULL || placement.ends == NULL)
		rc = err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	if (rc == 0) {
		collect_ranks(&placement);
		rc = collect_messages(&placement, err);
	}
	if (rc == 0)
		rc = collect_gaps(&placement, err);
	if (rc == 0) {
		if (placement.n_places > 0)
			placement.places[0].is_known = true;
		while (place_next(&placement))
			continue;
		shift(&placement);
		set_waits(&placement);
		summarise(&placement, out);
	}
	free(placement.gaps);
	free(placement.messages);
	free(placement.ends);
	free(placement.places);
	return rc;
}
