/* iteration.h - an iteration and its ops, as they were run; a part of record.h. */
#ifndef ENGINE_RECORD_ITERATION_H
#define ENGINE_RECORD_ITERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/scenario/plane.h"
#include "engine/schedule/plan.h"

/* An op and the message that leaves after it. In virtual time, where replicas do not differ, those
 * of replica 0 stand for all; live, each has its own. message_*: −1 where it sends none, or did
 * not. */
struct record_op {
	int stage;
	int replica;
	enum op_kind kind;
	int microbatch;
	int64_t start_ns;
	int64_t end_ns;
	int64_t message_request_ns; /* handed to the data plane */
	int64_t message_start_ns;   /* entered its channel or queue */
	int64_t message_end_ns;     /* the sender was rid of it */
	int64_t message_arrive_ns;  /* the last byte was there */
	int message_rail;           /* over which it left last; −1: not known */
	int message_queue; /* of the delegates; −1: a channel of the stream plane, or not known */
	int message_n_resends; /* how often it left again, since a rail had died */
	int64_t late_ns; /* seen that long after end_ns, which pacing keeps to; 0 in virtual time */
};

/* The three shares are sums over stages and replicas and add up to duration × stages × replicas.
 * compute: an op ran. blocked: an op could have run, since its input was there, but the device's
 * queue was held by a transfer. wait: all else, the idle end of the iteration included. */
struct record_iteration {
	int attempt; /* 0, one more after every restart */
	int iteration;
	bool is_complete; /* false: a failure ended it; duration_ns then runs to the failure */
	enum plane_kind plane;
	int64_t start_ns;
	int64_t duration_ns;
	int64_t compute_ns;
	int64_t wait_ns;
	int64_t blocked_ns;
	double loss;           /* NaN: there is none */
	int64_t message_bytes; /* of each of its messages; 0: not known */
	/* NULL when the sink wants none; the producer's, valid during the call. */
	const struct record_op *ops;
	size_t n_ops;
};

#endif
