/* record.h - what happened, handed on one iteration at a time.
 *
 * Sim and the live engine produce it, the store keeps it. Nothing here grows with the length of a
 * run: a producer fills one iteration, gives it to the sink and starts over. All times are integer
 * nanoseconds since the run's start, in profile time (live: measured × speed). */
#ifndef ENGINE_RECORD_RECORD_H
#define ENGINE_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/record/iteration.h"
#include "engine/scenario/plane.h"

enum record_timer { TIMER_VIRTUAL, TIMER_HOST, TIMER_CUDA_EVENT };

/* What passed the way of a fault of a link while that was in force, measured. -1: not known. */
struct record_traffic {
	/* Half, and 95 of 100, of the messages that arrived took no more extra time. */
	int64_t extra_p50_ns, extra_p95_ns;
	/* Of those messages; and for how long one of them or more was under way, summed over
	 * replicas. */
	int64_t payload_bytes, busy_ns;
	/* Packets in the iterations in which it was in force, part of one counting as a whole: got
	 * through, lost as asked for, how long those that somebody held were held, in the mean;
	 * and what TCP sent again. */
	int64_t n_packets, n_lost, packet_delay_ns, n_resent;
};

/* A fault as it was in force; one row each time it was put into the world. */
struct record_fault {
	size_t fault; /* index in the scenario's faults */
	int attempt;
	int64_t asked_ns;    /* when the scenario wanted it; −1: never reached */
	int64_t applied_ns;  /* when it was in force */
	int64_t cleared_ns;  /* −1: to the end of the run */
	int64_t measured_ns; /* mean extra time of those that it hit and that arrived; −1: none */
	int64_t n_messages;  /* hit by it, of all replicas */
	/* An RNIC that really went down: when a worker noticed, and when messages went over another
	 * rail, what was lost had arrived, or the job had started again. 0: not known. */
	int64_t detected_ns, recovered_ns;
	const struct record_traffic *traffic; /* valid during the call; NULL: nobody measured it */
};

enum decision_kind {
	DECISION_REPLAN,
	DECISION_SWITCH_PLANE,
	DECISION_RESTART,
	DECISION_FAILOVER,
	DECISION_RECOVER,
};

/* What the engine decided at the edge before iteration. Strings are valid during the call. */
struct record_decision {
	enum decision_kind kind;
	int attempt;
	int iteration; /* the first that runs under it */
	int64_t at_ns;
	int link;                /* joins stages link and link + 1; −1: none in particular */
	int64_t seen_ns;         /* transfer time that the detector saw on it; −1: none */
	int64_t since_iteration; /* where the detector puts the change; −1: unknown */
	enum plane_kind plane;   /* from now on */
	const char *warmups;     /* "13 11 9 …" of the plan from now on */
	const char *clamped;     /* what the planner asked for and did not get; "" when nothing */
	const char *reason;      /* one sentence */
};

const char *decision_kind_name(enum decision_kind kind);
const char *record_timer_name(enum record_timer timer); /* "virtual", "host", "cuda_event" */

/* The run's own row: every independent variable. Borrowed strings. */
struct record_run {
	const char *scenario_title;
	const char *scenario_path;
	const char *scenario_digest;
	uint64_t workload_fingerprint;
	const char *schedule;
	enum plane_kind plane; /* at the start */
	const char *mode;      /* "sim", "live" or "imported" */
	const char *device, *transport, *injector;
	enum record_timer timer;
	uint64_t seed, repeat_seed; /* the scenario's; what this repeat draws from */
	int repeat, place;          /* both from 0; place: in the order of running */
	int n_stages, n_replicas, n_microbatches;
	int samples_per_iteration;
	int n_iterations, n_warmup;
	bool is_oracle, is_control; /* control: the schedule once more in the same repeat */
	double speed;
	const char *host;
	const char *version;
	const char *settings_json; /* all effective settings, one JSON object */
};

/* Where a record goes. All return 0 or −errno; a producer stops at the first error. */
struct record_sink;

struct record_sink_ops {
	int (*iteration)(struct record_sink *sink, const struct record_iteration *iteration,
	                 struct err *err);
	int (*fault)(struct record_sink *sink, const struct record_fault *fault, struct err *err);
	int (*decision)(struct record_sink *sink, const struct record_decision *decision,
	                struct err *err);
};

struct record_sink {
	const struct record_sink_ops *ops;
	bool wants_ops; /* else producers leave record_iteration.ops NULL */
};

static inline int record_put_iteration(struct record_sink *sink,
                                       const struct record_iteration *iteration, struct err *err)
{
	return sink->ops->iteration(sink, iteration, err);
}

static inline int record_put_fault(struct record_sink *sink, const struct record_fault *fault,
                                   struct err *err)
{
	return sink->ops->fault(sink, fault, err);
}

static inline int record_put_decision(struct record_sink *sink,
                                      const struct record_decision *decision, struct err *err)
{
	return sink->ops->decision(sink, decision, err);
}

/* A sink that keeps nothing, for benchmarks and studies. */
struct record_sink record_null_sink(void);

#endif
