/* format_observed_record.c - what was observed becomes whole iterations with their messages, and
 * whatever was observed, a record's numbers hold together. */
#include "engine/format/observed_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "tests/tap.h"

enum { RANDOM_ROUNDS = 400, MS = 1000000 };

static struct observed begin(int n_segments)
{
	struct observed observed;
	struct err err = {0};

	observed_init(&observed, 0);
	for (int segment = 0; segment < n_segments; segment++)
		if (observed_begin(&observed, "a file", segment, -1, &err))
			abort();
	return observed;
}

static void add(struct observed *observed, enum observed_kind kind, int iteration, int stage,
                int microbatch, int64_t start_ms, int64_t ms)
{
	struct observed_op op = observed_op_of(kind);
	struct err err = {0};

	op.iteration = iteration;
	op.stage = op.rank = (int16_t)stage;
	op.microbatch = microbatch;
	op.start_ns = start_ms * MS;
	op.end_ns = (start_ms + ms) * MS;
	op.clock = CLOCK_DEVICE;
	if (observed_add(observed, op, &err))
		abort();
}

/* F and whole backward of one microbatch on two stages from start_ms on, 40 ms. */
static void add_iteration(struct observed *observed, int iteration, int64_t start_ms)
{
	add(observed, OBSERVED_FORWARD, iteration, 0, 0, start_ms, 10);
	add(observed, OBSERVED_SEND_FORWARD, iteration, 0, 0, start_ms + 9, 3);
	add(observed, OBSERVED_RECEIVE_FORWARD, iteration, 1, 0, start_ms + 2, 11);
	add(observed, OBSERVED_FORWARD, iteration, 1, 0, start_ms + 13, 5);
	add(observed, OBSERVED_BACKWARD, iteration, 1, 0, start_ms + 18, 7);
	add(observed, OBSERVED_RECEIVE_BACKWARD, iteration, 0, 0, start_ms + 20, 8);
	add(observed, OBSERVED_BACKWARD, iteration, 0, 0, start_ms + 28, 12);
}

static const struct record_op *find(const struct record_iteration *iteration, int stage,
                                    enum op_kind kind)
{
	for (size_t i = 0; i < iteration->n_ops; i++)
		if (iteration->ops[i].stage == stage && iteration->ops[i].kind == kind)
			return &iteration->ops[i];
	return NULL;
}

static void check_messages(const struct record_iteration *iteration)
{
	const struct record_op *f0 = find(iteration, 0, OP_F), *b1 = find(iteration, 1, OP_B);
	const struct record_op *b0 = find(iteration, 0, OP_B);

	if (!f0 || !b1 || !b0) {
		tap_ok(false, "every op is there");
		return;
	}
	tap_is_int(f0->message_request_ns - iteration->start_ns, 10 * MS,
	           "an activation is handed over once its forward has ended");
	tap_is_int(f0->message_end_ns - iteration->start_ns, 12 * MS, "ends with its send");
	tap_is_int(f0->message_arrive_ns - iteration->start_ns, 13 * MS,
	           "and arrives with its receive");
	tap_is_int(b1->message_request_ns - iteration->start_ns, 25 * MS,
	           "a gradient of which only the receive was seen leaves when its backward ends");
	tap_is_int(b1->message_arrive_ns - iteration->start_ns, 28 * MS,
	           "and arrives all the same");
	tap_is_int(b0->message_request_ns, -1, "what sends nothing has no message");
}

static void test_record(void)
{
	struct observed observed = begin(1);
	struct observed_record record;
	struct record_iteration iteration;
	struct err err = {0};

	for (int i = 0; i < 4; i++)
		add_iteration(&observed, 120 + i, 1000 + 50 * i);
	add(&observed, OBSERVED_FORWARD, 124, 0, 0, 1200, 10);
	if (observed_record_make(&observed, 0, &record, &err)) {
		tap_ok(false, "a record is made: %s", err.text);
		return;
	}
	tap_is_int((int64_t)record.n_iterations, 4, "whole iterations are kept");
	tap_is_int((int64_t)record.n_left_out, 1, "one that lacks ops is left out");
	tap_is_int(record.iterations[3].number, 123, "and the source's numbers are known");
	tap_is_int(record.n_stages * 100 + record.n_replicas * 10 + record.n_microbatches, 211,
	           "two stages, one replica, one microbatch");
	tap_is_int(record.n_warmup, 2, "the first two are the warm-up");
	tap_is_int(record.timer, TIMER_CUDA_EVENT, "devices timed them");
	tap_ok(record.has_messages && record.has_whole_backwards && !record.is_laid_out,
	       "there are messages, whole backwards, and one clock");
	iteration = observed_record_iteration(&record, 2);
	tap_is_int(iteration.iteration, 2, "iterations count from 0");
	tap_is_int(iteration.start_ns, 100 * MS, "from the start of the first");
	tap_is_int(iteration.duration_ns, 40 * MS, "and last from their first op to their last");
	tap_is_int(iteration.compute_ns, 34 * MS, "computation is what ops took");
	tap_is_int(iteration.wait_ns, 46 * MS, "and all else is waiting");
	check_messages(&iteration);
	observed_record_fini(&record);
	observed_fini(&observed);
}

/* Logs whose times begin at zero in every iteration. */
static void test_laid_out(void)
{
	struct observed observed = begin(1);
	struct observed_record record;
	struct err err = {0};

	add_iteration(&observed, 6, 1);
	add_iteration(&observed, 14, 3);
	if (observed_record_make(&observed, 0, &record, &err)) {
		tap_ok(false, "a record is made: %s", err.text);
		return;
	}
	tap_ok(record.is_laid_out, "a clock that starts anew is noticed");
	tap_is_int(record.iterations[1].start_ns, 40 * MS, "iterations then follow each other");
	observed_record_fini(&record);
	observed_fini(&observed);
}

/* Ops that overlap count once; ranks of one stage are replicas. */
static void test_replicas(void)
{
	struct observed observed = begin(1);
	struct observed_record record;
	struct record_iteration iteration;
	struct err err = {0};

	for (int rank = 4; rank >= 3; rank--)
		for (int kind = OBSERVED_FORWARD; kind <= OBSERVED_BACKWARD; kind++) {
			struct observed_op op = observed_op_of((enum observed_kind)kind);

			op.iteration = 0;
			op.stage = 0;
			op.microbatch = 0;
			op.rank = (int16_t)rank;
			op.start_ns = kind * 6 * MS;
			op.end_ns = op.start_ns + 10 * MS;
			if (observed_add(&observed, op, &err))
				abort();
		}
	if (observed_record_make(&observed, 0, &record, &err)) {
		tap_ok(false, "a record is made: %s", err.text);
		return;
	}
	iteration = observed_record_iteration(&record, 0);
	tap_is_int(record.n_replicas, 2, "two ranks of one stage are two replicas");
	tap_is_int(iteration.compute_ns, 32 * MS, "what overlaps counts once");
	tap_is_int(iteration.wait_ns, 0, "and nothing was idle");
	observed_record_fini(&record);
	observed_fini(&observed);
}

static void check_refused(const struct observed *observed, int segment, const char *want)
{
	struct observed_record record;
	struct err err = {0};

	tap_is_int(observed_record_make(observed, segment, &record, &err), -EINVAL, "refused: %s",
	           want);
	tap_contains(err.text, want, "and said");
}

static void test_refusals(void)
{
	struct observed observed = begin(2);

	check_refused(&observed, 0, "a record is made of ops");
	add(&observed, OBSERVED_FORWARD, 0, 1, 0, 0, 5);
	tap_is_int(observed_n_segments(&observed), 2, "runs of a file are counted");
	check_refused(&observed, 0, "a record is made of ops");
	check_refused(&observed, 1, "stage 0 by 0; is a rank's file missing?");
	add(&observed, OBSERVED_FORWARD, 0, 0, 1, 0, 5);
	check_refused(&observed, 1, "no whole iteration of 2 microbatches on 2 stages");
	for (int i = 0; i < 3; i++)
		for (int stage = 0; stage < 2; stage++)
			add(&observed, OBSERVED_BACKWARD, 0, stage, 0, 0, 5);
	check_refused(&observed, 1, "no iteration has every forward and backward");
	observed_fini(&observed);
}

static struct observed random_observed(uint64_t seed)
{
	struct observed observed = begin(1);
	uint64_t n = 0;
	int n_stages = 1 + (int)(rng_mix(seed, n++) % 3), n_mb = 1 + (int)(rng_mix(seed, n++) % 3);

	for (int iteration = 0; iteration < 3; iteration++)
		for (int stage = 0; stage < n_stages; stage++)
			for (int mb = 0; mb < n_mb; mb++)
				for (int kind = 0; kind < OBSERVED_ALL_REDUCE; kind++) {
					uint64_t chance = rng_mix(seed, n++), start, length;

					if (kind == OBSERVED_BACKWARD || chance % 37 == 0)
						continue;
					start = rng_mix(seed, n++) % 200;
					length = rng_mix(seed, n++) % 20;
					add(&observed, (enum observed_kind)kind, iteration, stage,
					    mb, (int64_t)start, (int64_t)length);
				}
	return observed;
}

static const char *broken_op(const struct record_iteration *iteration, const struct record_op *op)
{
	int64_t end_ns = iteration->start_ns + iteration->duration_ns;

	if (op->start_ns < iteration->start_ns || op->end_ns > end_ns || op->end_ns < op->start_ns)
		return "an op is outside of its iteration";
	if (op->message_request_ns < 0)
		return op->message_start_ns < 0 && op->message_end_ns < 0 &&
		                       op->message_arrive_ns < 0
		               ? NULL
		               : "a message is there in part";
	if (op->message_request_ns < op->end_ns || op->message_end_ns < op->message_start_ns ||
	    op->message_arrive_ns < op->message_start_ns)
		return "a message goes backwards";
	return NULL;
}

static const char *broken_rule(struct observed_record *record)
{
	size_t n_least = (size_t)record->n_stages * (size_t)record->n_microbatches * 2;

	for (size_t i = 0; i < record->n_iterations; i++) {
		const struct record_iteration iteration = observed_record_iteration(record, i);

		if (iteration.n_ops < n_least)
			return "an iteration is not whole";
		if (iteration.wait_ns < 0 ||
		    iteration.compute_ns + iteration.wait_ns !=
		            iteration.duration_ns * record->n_stages * record->n_replicas)
			return "shares do not add up";
		for (size_t k = 0; k < iteration.n_ops; k++) {
			const char *rule = broken_op(&iteration, &iteration.ops[k]);

			if (rule)
				return rule;
		}
	}
	return NULL;
}

static void test_random(void)
{
	int n_broken = 0, n_made = 0;

	for (uint64_t seed = 1; seed <= RANDOM_ROUNDS; seed++) {
		struct observed observed = random_observed(seed);
		struct observed_record record;
		struct err err = {0};

		if (observed_record_make(&observed, 0, &record, &err) == 0) {
			const char *rule = broken_rule(&record);

			n_made++;
			if (rule) {
				tap_note("seed %" PRIu64 ": %s", seed, rule);
				n_broken++;
			}
			observed_record_fini(&record);
		}
		observed_fini(&observed);
	}
	tap_ok(n_made > RANDOM_ROUNDS / 4, "%d of %d made by chance are records", n_made,
	       RANDOM_ROUNDS);
	tap_is_int(n_broken, 0, "whose numbers hold together");
}

int main(void)
{
	test_record();
	test_laid_out();
	test_replicas();
	test_refusals();
	test_random();
	return tap_done();
}
