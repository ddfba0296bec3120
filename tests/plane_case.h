/* plane_case.h - one iteration on the data planes themselves: null devices, loopback and a clock
 * that jumps, so that it can be compared with the simulator to the nanosecond. */
#ifndef TESTS_PLANE_CASE_H
#define TESTS_PLANE_CASE_H

#include "engine/dataplane/dataplane.h"
#include "engine/transport/shaped.h"
#include "tests/net_case.h"

enum { PLANE_CASE_TENSOR_BYTES = 32 };

/* A stage's host, as a worker's is: it issues ops in the plan's order. */
struct plane_stage {
	struct device *device;
	struct device_stream *compute;
	struct dataplane *plane;
	struct device_event **begin, **end; /* [3 N] */
	int n_issued, n_ended;
	int64_t last_end_ns;
};

/* net holds the plan and what ops and messages take. Change rules between _init and _run. */
struct plane_case {
	struct net_case *net;
	struct plane_rules rules;
	int64_t payload_bytes;
	int n_rails;
	bool uses_exchanges;   /* pair_exchange.h */
	bool occupies_streams; /* holds stand in front of sends, and the transport knows none */
	int64_t failover_ns;
	int64_t now_ns;
	int64_t start_ns;
	struct transport *transport;
	struct plan unit_copy;
	struct plane_stage stages[NET_CASE_STAGES_MAX];
	struct sim_op_times *times;     /* of the iteration, as the planes have them */
	int rails[NET_CASE_STAGES_MAX]; /* of links, in use after it; 0: nothing died */
	struct err err;

	/* Called once at alarm_ns of the iteration, before anything else of that moment; NULL. It
	 * may set another one. What it returns ends the iteration unless it is 0. */
	int (*on_alarm)(struct plane_case *c);
	int64_t alarm_ns;
	int alarm; /* the caller's */
};

/* Addresses that transport_connect() wants; loopback has none. */
const struct transport_address *plane_case_addresses(void);

bool plane_case_init(struct plane_case *c, struct net_case *net, const struct plane_rules *rules);
void plane_case_fini(struct plane_case *c);

/* Run an iteration; returns 0, what a plane returned, or -EDEADLK when nothing happens any more. */
int plane_case_run(struct plane_case *c, int iteration);

/* From within on_alarm: hand the planes what the transport has to tell by now. */
int plane_case_poll(struct plane_case *c);

/* Is every time, and every message's queue, rail and number of resends, what sim says? One check;
 * what differs first is shown. */
bool plane_case_is_like_sim(struct plane_case *c, const char *name, ...)
	__attribute__((format(printf, 2, 3)));

const struct sim_op_times *plane_case_op(const struct plane_case *c, int stage, enum op_kind kind,
                                         int microbatch);

#endif
