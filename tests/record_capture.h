/* record_capture.h - a sink that keeps everything, and runs of the simulator into it. */
#ifndef TESTS_RECORD_CAPTURE_H
#define TESTS_RECORD_CAPTURE_H

#include "engine/record/record.h"
#include "engine/sim/sim.h"

enum { CAPTURE_TEXT_BYTES = 160 };

/* The strings of a decision are copies in the arrays beside it. */
struct captured_decision {
	struct record_decision row;
	char warmups[CAPTURE_TEXT_BYTES];
	char clamped[CAPTURE_TEXT_BYTES];
	char reason[CAPTURE_TEXT_BYTES];
};

/* Start with capture_init(). ops holds those of all iterations; first_op[i] is where iteration i's
 * begin. digest is of every field that a sink is given, in order. */
struct capture {
	struct record_sink base;
	struct record_iteration *iterations;
	size_t *first_op;
	size_t n_iterations;
	struct record_op *ops;
	size_t n_ops;
	struct record_fault *faults;
	size_t n_faults;
	struct captured_decision *decisions;
	size_t n_decisions;
	size_t iterations_capacity, first_op_capacity, ops_capacity, faults_capacity;
	size_t decisions_capacity;
	uint64_t digest;
	size_t n_until_refused; /* iterations after which the sink fails with -ENOSPC; 0: never */
	struct sim_totals totals;
	struct err err;
};

void capture_init(struct capture *capture, bool wants_ops);
void capture_fini(struct capture *capture);

/* Run the scenario under one schedule, with ops; returns what sim_run() does. capture_fini() in any
 * case. */
int capture_run(struct capture *capture, const struct scenario *scenario, const char *schedule);

/* The same with all of a request but scenario and schedule filled by the caller. */
int capture_request(struct capture *capture, struct sim_request request,
                    const struct scenario *scenario, const char *schedule);

/* An op of the i-th iteration in the record; NULL: it has none. */
const struct record_op *capture_op(const struct capture *capture, size_t i, int stage,
                                   enum op_kind kind, int microbatch);

/* Decisions of a kind; *first_out is the first of them, NULL when there is none. */
int capture_count(const struct capture *capture, enum decision_kind kind,
                  const struct captured_decision **first_out);

/* Do the shares of every iteration add up, do they follow one another without a gap but for
 * restarts, is the total theirs, do all their ops and messages lie inside, and the faults in the
 * run? Checks with a sentence each. */
void capture_check(const struct capture *capture, const struct scenario *scenario);

#endif
