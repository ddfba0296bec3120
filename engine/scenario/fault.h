/* fault.h - what goes wrong, where, when. */
#ifndef ENGINE_SCENARIO_FAULT_H
#define ENGINE_SCENARIO_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/scenario/op.h"

enum fault_kind { FAULT_DELAY, FAULT_RATE, FAULT_SLOW_STAGE, FAULT_DOWN, FAULT_LOSS };
enum { FAULT_KINDS = 5 };

/* No delay, and no message with its jitter, is longer: a day. A slow stage is at most this many
 * times slower. */
#define FAULT_DELAY_MAX_NS INT64_C(86400000000000)
enum { FAULT_SLOWDOWN_MAX = 1000 };

/* Less cannot be said to a kernel. */
#define FAULT_LOSS_MIN 1e-9

/* DESIGN.md section 2: the three meanings of "this link got slower". */
enum delay_model { DELAY_LATENCY, DELAY_RATE, DELAY_OCCUPANCY };

/* How jitter is drawn; netem's names. Draws that would make a delay negative count as 0. */
enum distribution {
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_NORMAL,
	DISTRIBUTION_PARETO,
	DISTRIBUTION_PARETONORMAL
};

enum moment_kind { MOMENT_ITERATION, MOMENT_TIME, MOMENT_NEVER, MOMENT_OP };

enum { MOMENT_TEXT_BYTES = 48 };

/* A moment or a length: an iteration (0-based), nanoseconds since the run's start, or the start of
 * an op inside an iteration. MOMENT_NEVER as the end: lasts to the end of the run.
 *
 * At an op the order is this: what its stage sent before has left, then the moment comes, then the
 * op starts. So a message that enters its channel or queue at that very nanosecond belongs to
 * before, an op that starts at it to after. */
struct moment {
	enum moment_kind kind;
	int64_t value; /* MOMENT_OP: the iteration of the op */
	int stage;     /* MOMENT_OP, from here on */
	enum op_kind op;
	int microbatch;
};

/* One fault on one target. [start, end): in force from start, no longer at end. One that starts at
 * a time ends at a time. One that starts at an iteration or at an op ends at an iteration or at an
 * op; or, if it starts at an op or is a DOWN, a time after its start. */
struct fault {
	enum fault_kind kind;
	int event;       /* faults of one statement of the scenario share it */
	int script_line; /* 0: not from a script */
	struct moment start;
	struct moment end;              /* MOMENT_TIME when start is not: that long after it */
	int from_stage;                 /* DELAY, RATE, LOSS: from_stage -> to_stage, neighbours. */
	int to_stage;                   /* SLOW_STAGE, DOWN: both are the stage */
	enum delay_model model;         /* DELAY */
	int64_t delay_ns;               /* DELAY: added to what the healthy link takes */
	int64_t jitter_ns;              /* DELAY: standard deviation; half width when uniform */
	enum distribution distribution; /* DELAY, when jitter_ns > 0 */
	bool allows_reordering;         /* DELAY of the path with jitter: packets may overtake */
	int64_t rate_bits_per_s;        /* RATE: the link carries no more than this */
	double slowdown;                /* SLOW_STAGE: op times are multiplied by it; at least 1 */
	int rail;                       /* DOWN */
	bool is_permanent;              /* DOWN: a restart does not bring the RNIC back */
	double loss_ratio;              /* LOSS: of packets, above 0, to 1 */
	/* LOSS: how much of each draw is the one before, as netem mixes them; 0 to below 1. Losses
	 * come in rows then, and are fewer than loss_ratio. */
	double loss_correlation_ratio;
};

const char *fault_kind_name(enum fault_kind kind);
const char *delay_model_name(enum delay_model model);
const char *distribution_name(enum distribution distribution);

/* Is it about packets rather than whole messages: a loss, or packets that overtake each other? */
bool fault_is_of_packets(const struct fault *fault);

/* Is it about messages between two stages? Others are about one stage. */
bool fault_is_on_link(const struct fault *fault);

/* "F4 of stage 3", of MOMENT_OP; written to text, which it returns. */
const char *moment_op_text(const struct moment *moment, char text[MOMENT_TEXT_BYTES]);

/* Of two ops of one iteration: does a start before b under every schedule, or are they the same?
 * Ops wait for their inputs, and stages run each kind in microbatch order. */
bool moment_op_precedes(const struct moment *a, const struct moment *b);

/* Does start or end depend on when an op starts? */
bool fault_has_op(const struct fault *fault);

/* Is the fault in force? One that starts at an iteration is asked by iteration, repeated ones
 * included; one that starts at a time by now_ns. A DOWN that ends a time after its start is in
 * force from its start on: when it ends is known to who saw it start. Not for a fault that has an
 * op: when that starts is known to who runs the iteration. */
bool fault_is_active(const struct fault *fault, int iteration, int64_t now_ns);

/* Can the fault be in force at some moment of the iteration? Errs on the side of yes. */
bool fault_may_be_active(const struct fault *fault, int iteration);

/* The delay that fault adds to one message: delay_ns plus its jitter, at least 0; the same for the
 * same seed, iteration, direction and microbatch in every schedule. */
int64_t fault_delay_ns(const struct fault *fault, uint64_t seed, int iteration, int microbatch);

#endif
