/* format_observed.c - ops from foreign files are kept up to a limit, counted by kind, and know
 * where they came from. */
#include <errno.h>
#include <string.h>

#include "engine/format/observed.h"
#include "tests/tap.h"

static void skip(struct observed *observed, const char *name)
{
	observed_skip(observed, name, strlen(name));
}

static const struct observed_tally *tally_named(const struct observed_tally *tallies,
                                                const char *name)
{
	for (size_t i = 0; i < OBSERVED_TALLIES; i++)
		if (tallies[i].name != NULL && strcmp(tallies[i].name, name) == 0)
			return &tallies[i];
	return NULL;
}

static void check_ops(void)
{
	struct observed observed;
	struct observed_op op = observed_op_of(OBSERVED_FORWARD);
	struct err err = {0};

	observed_init(&observed, 3);
	tap_is_int(observed_begin(&observed, "a.log", 0, 2, &err), 0, "a source is begun");
	tap_is_int(op.microbatch + op.stage + op.bytes + op.wait_ns + op.busy_ns + op.peer, -6,
	           "what an op does not say is -1");
	op.end_ns = 7;
	op.place = 12;
	for (int i = 0; i < 2; i++)
		tap_is_int(observed_add(&observed, op, &err), 0, "op %d is added", i);
	observed_begin(&observed, "b.log", 1, 3, &err);
	op.kind = OBSERVED_BACKWARD;
	tap_is_int(observed_add(&observed, op, &err), 0, "an op of another source is added");
	tap_is_int(observed.ops[2].source, 1, "and knows that source");
	tap_is_str(observed.sources[1].name, "b.log", "which has its name");
	tap_is_int(observed.sources[1].segment, 1, "and its segment");
	tap_is_int((int64_t)observed.n_read[OBSERVED_FORWARD], 2, "ops are counted by kind");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD], 1, "each of them");
	tap_is_int(observed_add(&observed, op, &err), -EFBIG, "more than the limit are refused");
	tap_is_str(err.text, "b.log: record 12: more than 3 ops", "with source and place");
	observed.ops_max = 4;
	op.end_ns = -1;
	tap_is_int(observed_add(&observed, op, &err), -EINVAL, "a negative duration is refused");
	tap_contains(err.text, "b.log: record 12: a negative duration", "with source and place");
	op.end_ns = INT64_MAX;
	tap_is_int(observed_add(&observed, op, &err), -EINVAL, "so is the end of all times");
	tap_contains(err.text, "not within a hundred years of 1970", "with what is one");
	tap_is_int((int64_t)observed.n_ops, 3, "and none of them was kept");
	observed_fini(&observed);
}

static void check_other_limits(void)
{
	struct observed observed;
	struct err err = {0};

	observed_init(&observed, 1);
	observed_begin(&observed, "a.log", 0, -1, &err);
	observed_add_iteration(&observed, (struct observed_iteration){.place = 5}, &err);
	tap_is_int(observed_add_iteration(&observed, (struct observed_iteration){.place = 6}, &err),
	           -EFBIG, "iterations have the same limit");
	tap_is_str(err.text, "a.log: record 6: more than 1 iterations", "told the same way");
	observed_add_timer(&observed, (struct observed_timer){.place = 7}, &err);
	tap_is_int(observed_add_timer(&observed, (struct observed_timer){.place = 8}, &err), -EFBIG,
	           "as have timers");
	observed_fini(&observed);
}

static void check_tallies(void)
{
	struct observed observed;
	char name[] = "name 00";

	observed_init(&observed, 0);
	skip(&observed, "kernel");
	skip(&observed, "kern");
	skip(&observed, "kernel");
	observed_skip(&observed, "kernels and more", 6);
	observed_reject(&observed, "kernel");
	tap_is_int((int64_t)tally_named(observed.skipped, "kernel")->n, 3,
	           "skipped records are counted by name");
	tap_is_int((int64_t)tally_named(observed.skipped, "kern")->n, 1,
	           "a name that begins another is its own");
	tap_is_int((int64_t)observed_n_rejected(&observed), 1, "rejected ones stand apart");
	for (int i = 0; i < 100; i++) {
		name[5] = (char)('0' + i / 10);
		name[6] = (char)('0' + i % 10);
		skip(&observed, name);
	}
	tap_is_int((int64_t)observed_n_skipped(&observed), 104,
	           "more names than there is room for are counted all the same");
	tap_is_int((int64_t)tally_named(observed.skipped, "others")->n, 100 - 61, "as others");
	observed_fini(&observed);
}

static void check_names(void)
{
	for (int kind = 0; kind < OBSERVED_KINDS; kind++)
		tap_ok(observed_kind_name((enum observed_kind)kind) != NULL, "kind %d has a name",
		       kind);
	tap_is_str(observed_kind_name(OBSERVED_BACKWARD_INPUT), "BWD_IN",
	           "names are those of the neutral record");
	tap_is_str(observed_clock_name(CLOCK_HOST_REALTIME), "host_realtime", "clocks' too");
	tap_ok(observed_is_transfer(OBSERVED_RECEIVE_BACKWARD) &&
	               observed_is_transfer(OBSERVED_SEND_FORWARD) &&
	               !observed_is_transfer(OBSERVED_ALL_REDUCE) &&
	               !observed_is_transfer(OBSERVED_BACKWARD_WEIGHT),
	       "sends and receives are transfers, and nothing else is");
}

int main(void)
{
	check_ops();
	check_other_limits();
	check_tallies();
	check_names();
	return tap_done();
}
