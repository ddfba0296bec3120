/* observed.h - what foreign files say happened: ops, iterations, and how much of the files that is.
 *
 * Every importer adds to it, and what is made of an import (a profile, an order, a table) is made
 * of it alone. An op is the record of FORMATS.md 1.1. Times are on the clock the op names; only
 * those of one source can be compared until clock_offsets_apply() put the sources on one clock. */
#ifndef ENGINE_FORMAT_OBSERVED_H
#define ENGINE_FORMAT_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum observed_kind {
	OBSERVED_FORWARD,
	OBSERVED_BACKWARD, /* whole: for the input and for the weights */
	OBSERVED_BACKWARD_INPUT,
	OBSERVED_BACKWARD_WEIGHT,
	OBSERVED_SEND_FORWARD,
	OBSERVED_RECEIVE_FORWARD,
	OBSERVED_SEND_BACKWARD,
	OBSERVED_RECEIVE_BACKWARD,
	OBSERVED_ALL_REDUCE,
	OBSERVED_OPTIMIZER,
	OBSERVED_WAIT,
	OBSERVED_FAULT,
	OBSERVED_OTHER,
};
enum { OBSERVED_KINDS = OBSERVED_OTHER + 1 };
enum { OBSERVED_OPS_MAX = 8 << 20, OBSERVED_SOURCES_MAX = 4096, OBSERVED_TALLIES = 64 };

/* What an op's times lie within: a hundred years from the epoch, and differences fit. */
#define OBSERVED_TIME_MAX_NS (INT64_MAX / 3)
#define OBSERVED_TIME_MIN_NS (-(INT64_MAX / 8))

enum observed_clock { CLOCK_DEVICE, CLOCK_HOST_MONOTONIC, CLOCK_HOST_REALTIME, CLOCK_SIMULATED };

/* −1 in stage, microbatch, peer, bytes, wait_ns, busy_ns, stream: the source does not say. */
struct observed_op {
	int64_t start_ns;
	int64_t end_ns;
	int64_t busy_ns; /* of the interval, in which the device computed */
	int64_t wait_ns; /* of the interval, before the peer was ready */
	int64_t bytes;
	uint64_t place;    /* line or event of the source, from 1 */
	int32_t iteration; /* as the source counts */
	int32_t microbatch;
	int32_t stream;
	int16_t stage;
	int16_t rank;
	int16_t peer; /* the other rank of a transfer */
	int16_t chunk;
	uint16_t source; /* index in sources */
	uint8_t kind;
	uint8_t clock;
};

/* The mean over n_iterations up to and including iteration, as training logs have it. */
struct observed_iteration {
	int64_t mean_ns;
	uint64_t place;
	int32_t iteration;
	int32_t n_iterations;
	uint16_t source;
	bool was_skipped; /* no optimizer step */
};

/* A named time of a training log, of one rank or, with rank −1, from the fastest to the slowest. */
struct observed_timer {
	const char *name; /* static */
	int64_t low_ns;
	int64_t high_ns;
	uint64_t place;
	int32_t iteration;
	int16_t rank;
	uint16_t source;
};

/* One run in one file: a log to which several were appended is several. */
struct observed_source {
	char *name;
	int segment; /* from 0 in its file */
	int rank;    /* −1: not known, or all */
};

struct observed_tally {
	char *name;
	uint64_t n;
};

/* Start with observed_init(); owns all. An importer that fails leaves what it added: throw it away
 * whole. */
struct observed {
	struct observed_op *ops;
	size_t n_ops;
	size_t ops_capacity;
	size_t ops_max;
	struct observed_iteration *iterations;
	size_t n_iterations;
	size_t iterations_capacity;
	struct observed_timer *timers;
	size_t n_timers;
	size_t timers_capacity;
	struct observed_source *sources;
	size_t n_sources;
	size_t sources_capacity;
	struct observed_tally skipped[OBSERVED_TALLIES];  /* known, and of no use here */
	struct observed_tally rejected[OBSERVED_TALLIES]; /* of use, had they been whole */
	uint64_t n_read[OBSERVED_KINDS];
	uint64_t n_bytes;  /* of text, unpacked */
	bool is_intrusive; /* measuring slowed down what was measured */
	uint32_t last_skipped;
};

/* ops_max 0: OBSERVED_OPS_MAX. */
void observed_init(struct observed *observed, size_t ops_max);
void observed_fini(struct observed *observed);

/* A new source: what is added next belongs to it. */
int observed_begin(struct observed *observed, const char *name, int segment, int rank,
                   struct err *err);

/* -EFBIG: more than ops_max; -EINVAL: it ends before it starts, or its times are none. All name the
 * source and place. The op's source is set to the last begun. */
int observed_add(struct observed *observed, struct observed_op op, struct err *err);

/* The same; ops_max is the limit for each. */
int observed_add_iteration(struct observed *observed, struct observed_iteration iteration,
                           struct err *err);
int observed_add_timer(struct observed *observed, struct observed_timer timer, struct err *err);

/* Count a record under a name, of name_bytes; names beyond OBSERVED_TALLIES count as "others". */
void observed_skip(struct observed *observed, const char *name, size_t name_bytes);
void observed_reject(struct observed *observed, const char *name);

uint64_t observed_n_skipped(const struct observed *observed);
uint64_t observed_n_rejected(const struct observed *observed);

/* An op of which nothing is known but what is given. */
struct observed_op observed_op_of(enum observed_kind kind);

/* "FWD", "BWD_FULL", …; "device", "host_monotonic", … */
const char *observed_kind_name(enum observed_kind kind);
const char *observed_clock_name(enum observed_clock clock);
bool observed_is_transfer(enum observed_kind kind);

#endif
