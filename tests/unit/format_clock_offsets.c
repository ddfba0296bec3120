/* format_clock_offsets.c - clocks of ranks are found by the messages between them, as well as these
 * allow. */
#include "engine/format/clock_offsets.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/tap.h"

enum { N_RANKS = 4, N_MICROBATCHES = 40 };

/* How far each rank's clock is ahead of true time. */
static const int64_t ahead_ns[N_RANKS] = {1000, -7 * NS_PER_MS, INT64_C(3) * NS_PER_S / 2, 42};

static void add(struct observed *observed, enum observed_kind kind, int rank, int microbatch,
                int64_t start_ns, int64_t end_ns)
{
	struct observed_op op = observed_op_of(kind);
	struct err err = {0};

	op.rank = (int16_t)rank;
	op.stage = (int16_t)rank;
	op.microbatch = microbatch;
	op.clock = CLOCK_DEVICE;
	op.start_ns = start_ns + ahead_ns[rank];
	op.end_ns = end_ns + ahead_ns[rank];
	if (observed_add(observed, op, &err))
		tap_ok(false, "an op is added: %s", err.text);
}

/* A message of at least least_ns, sent at sent_ns; the receiver waits from before or comes later,
 * and some messages take much longer. */
static void add_message(struct observed *observed, bool is_forward, int from, int microbatch,
                        int64_t sent_ns, int64_t least_ns)
{
	uint64_t draw = rng_mix((uint64_t)from * 1000 + (uint64_t)microbatch, is_forward);
	int64_t receive_ns = sent_ns + (int64_t)(draw % 2000000) - 1000000;
	int64_t later_ns = receive_ns > sent_ns ? receive_ns : sent_ns;
	int64_t end_ns = later_ns + least_ns + (int64_t)(draw / 2000000 % 3) * 500000;
	int to = from + (is_forward ? 1 : -1);

	add(observed, is_forward ? OBSERVED_SEND_FORWARD : OBSERVED_SEND_BACKWARD, from, microbatch,
	    sent_ns, end_ns);
	add(observed, is_forward ? OBSERVED_RECEIVE_FORWARD : OBSERVED_RECEIVE_BACKWARD, to,
	    microbatch, receive_ns, end_ns);
}

static void add_messages(struct observed *observed, int64_t upward_ns, int64_t downward_ns)
{
	struct err err = {0};

	observed_init(observed, 0);
	observed_begin(observed, "x", 0, -1, &err);
	for (int mb = 0; mb < N_MICROBATCHES; mb++) {
		for (int from = 0; from + 1 < N_RANKS; from++)
			add_message(observed, true, from, mb, mb * 20000000 + from * 5000000,
			            upward_ns);
		for (int from = N_RANKS - 1; from > 0; from--)
			add_message(observed, false, from, mb, mb * 20000000 + from * 3000000,
			            downward_ns);
	}
}

/* The largest error of any op's start against rank 0's clock, true times being known by those of
 * ahead_ns. */
static int64_t worst_ns(const struct observed *observed, const struct observed *before)
{
	int64_t worst = 0;

	for (size_t i = 0; i < observed->n_ops; i++) {
		int64_t want =
			before->ops[i].start_ns - ahead_ns[before->ops[i].rank] + ahead_ns[0];
		int64_t error = llabs(observed->ops[i].start_ns - want);

		worst = error > worst ? error : worst;
	}
	return worst;
}

static void check_found(int64_t upward_ns, int64_t downward_ns)
{
	struct observed observed, before;
	struct clock_offsets offsets = {0};
	struct err err = {0};
	int64_t worst;

	add_messages(&observed, upward_ns, downward_ns);
	add_messages(&before, upward_ns, downward_ns);
	tap_is_int(clock_offsets_apply(&observed, &offsets, &err), 0, "ranks are put on one clock");
	tap_is_int((int64_t)offsets.n_messages, N_MICROBATCHES * 6, "by all messages");
	tap_ok(offsets.n_ranks == N_RANKS && offsets.n_placed == N_RANKS, "all of them");
	worst = worst_ns(&observed, &before);
	tap_ok(worst <= offsets.uncertainty_ns, "times are wrong by %lld ns, known to %lld ns",
	       (long long)worst, (long long)offsets.uncertainty_ns);
	tap_ok(offsets.uncertainty_ns < 3 * (upward_ns + downward_ns),
	       "which is not more than the smallest messages take");
	observed_fini(&observed);
	observed_fini(&before);
}

static void check_waits(void)
{
	struct observed observed;
	struct clock_offsets offsets;
	struct err err = {0};
	int n_right = 0, n = 0;

	add_messages(&observed, 100000, 100000);
	clock_offsets_apply(&observed, &offsets, &err);
	for (size_t i = 0; i + 1 < observed.n_ops; i += 2) {
		const struct observed_op *send = &observed.ops[i], *receive = &observed.ops[i + 1];
		int64_t first_ns = receive->start_ns - send->start_ns;

		n++;
		n_right += first_ns > 0 ? send->wait_ns == first_ns && receive->wait_ns == 0
		                        : receive->wait_ns == -first_ns && send->wait_ns == 0;
	}
	tap_is_int(n_right, n, "of each message the end that began first waited for the other");
	observed_fini(&observed);
}

/* NCCL's kernels without ranges: the k-th send is the k-th receive's. */
static void check_by_order(void)
{
	struct observed observed, before;
	struct clock_offsets offsets;
	struct err err = {0};

	add_messages(&observed, 100000, 90000);
	add_messages(&before, 100000, 90000);
	for (size_t i = 0; i < observed.n_ops; i++) {
		struct observed_op *op = &observed.ops[i];
		bool is_up =
			op->kind == OBSERVED_SEND_FORWARD || op->kind == OBSERVED_RECEIVE_BACKWARD;

		op->microbatch = -1;
		op->peer = (int16_t)(op->rank + (is_up ? 1 : -1));
	}
	clock_offsets_apply(&observed, &offsets, &err);
	tap_is_int((int64_t)offsets.n_messages, N_MICROBATCHES * 6,
	           "without microbatches messages are matched in order");
	tap_ok(worst_ns(&observed, &before) <= offsets.uncertainty_ns, "with the same result");
	/* One receive of rank 1 is lost: which of its sends has none cannot be told. */
	for (size_t i = 0; i < observed.n_ops; i++)
		if (observed.ops[i].kind == OBSERVED_RECEIVE_FORWARD && observed.ops[i].rank == 1) {
			observed.ops[i].kind = OBSERVED_OTHER;
			break;
		}
	clock_offsets_apply(&observed, &offsets, &err);
	tap_is_int((int64_t)offsets.n_messages, N_MICROBATCHES * 5,
	           "where a rank lacks one, none of that pair and direction is");
	tap_is_int(offsets.n_placed, 1, "and a rank that is heard from one way only is not placed");
	observed_fini(&observed);
	observed_fini(&before);
}

static void check_contradiction(void)
{
	struct observed observed;
	struct clock_offsets offsets;
	struct err err = {0};

	add_messages(&observed, 100000, 90000);
	/* Rank 3's clock jumps: what it sends later seems to arrive long before. */
	for (size_t i = 0; i < observed.n_ops; i++)
		if (observed.ops[i].rank == 3 && observed.ops[i].microbatch > 20) {
			observed.ops[i].start_ns += NS_PER_S;
			observed.ops[i].end_ns += NS_PER_S;
		}
	clock_offsets_apply(&observed, &offsets, &err);
	tap_is_int(offsets.n_contradictory, 1, "a clock that jumps contradicts itself");
	tap_is_int(offsets.n_placed, 3, "and its rank is not placed");
	observed_fini(&observed);
}

/* Times that are as far apart as they can be add up to nothing that overflows. */
static void check_extremes(void)
{
	struct observed observed;
	struct clock_offsets offsets;
	struct err err = {0};

	add_messages(&observed, 100000, 90000);
	for (size_t i = 0; i < observed.n_ops; i++) {
		struct observed_op *op = &observed.ops[i];
		bool is_late = op->rank % 2 == 1;

		op->start_ns = is_late ? OBSERVED_TIME_MAX_NS - 5 : OBSERVED_TIME_MIN_NS;
		op->end_ns = op->start_ns + 5;
	}
	tap_is_int(clock_offsets_apply(&observed, &offsets, &err), 0,
	           "clocks from one end of time to the other are looked at");
	tap_is_int(offsets.n_placed, 1, "and not believed");
	observed_fini(&observed);
}

static void check_little(void)
{
	struct observed observed;
	struct clock_offsets offsets = {.n_placed = 7};
	struct err err = {0};

	observed_init(&observed, 0);
	tap_is_int(clock_offsets_apply(&observed, &offsets, &err), 0, "nothing is no mistake");
	tap_is_int(offsets.n_placed + offsets.n_ranks, 0, "and has no ranks");
	observed_begin(&observed, "x", 0, 0, &err);
	add(&observed, OBSERVED_SEND_FORWARD, 0, 0, 5, 6);
	clock_offsets_apply(&observed, &offsets, &err);
	tap_ok(offsets.n_messages == 0 && offsets.n_placed == 1 &&
	               observed.ops[0].start_ns == 5 + ahead_ns[0] && observed.ops[0].wait_ns == -1,
	       "one rank keeps its own clock, and knows of no waiting");
	observed_fini(&observed);
}

int main(void)
{
	check_found(100000, 100000);
	check_found(100000, 20000);
	check_found(5000, 800000);
	check_waits();
	check_by_order();
	check_contradiction();
	check_extremes();
	check_little();
	return tap_done();
}
