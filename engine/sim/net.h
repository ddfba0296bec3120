/* net.h - one iteration: a plan under the rules of a data plane, compiled once, timed many times.
 *
 * Compiling turns plan and rules into a list of ops in which every op comes after all that it can
 * wait for, so that timing is one pass without a queue of events. Only a channel in request order
 * needs to look at times first: who comes first depends on them. */
#ifndef ENGINE_SIM_NET_H
#define ENGINE_SIM_NET_H

#include "engine/scenario/fault.h"
#include "engine/scenario/plane.h"
#include "engine/schedule/plan.h"
#include "engine/transport/link_model.h"

struct sim_net;

/* -EDEADLK: the order cannot run; err names each stage's next op. */
int sim_net_new(const struct plan *plan, const struct plane_rules *rules, struct sim_net **out,
                struct err *err);
void sim_net_free(struct sim_net *net);

/* The link is dead in [from_ns, until_ns): a message under way then starts over at the end. */
struct sim_outage {
	int link;
	int64_t from_ns;
	int64_t until_ns;
	int rail; /* that died */
};

enum { SIM_DIRECTIONS = 2 };

/* Index of a direction's message: 2 * link, + 1 for stage link + 1 -> link. */
static inline int sim_direction(int link, bool is_backward)
{
	return SIM_DIRECTIONS * link + is_backward;
}

static inline int sim_opposite(int direction)
{
	return direction ^ 1;
}

/* The world during one iteration, whose start is 0. Borrowed. */
struct sim_world {
	const int64_t *op_ns[OP_KINDS]; /* [kind][stage] */
	/* [sim_direction()]: what a message meets unless ask_message says otherwise. */
	const struct shape *messages;
	int64_t message_bytes; /* 0: not known, then no window holds anything */

	/* NULL: nothing depends on time or microbatch. now_ns is when the message enters its
	 * channel or queue; *message starts as messages[direction]. */
	void (*ask_message)(void *context, int direction, int microbatch, int64_t now_ns,
	                    struct shape *message);

	/* NULL: op_ns holds. Returns the duration of an op that starts at now_ns; whether that was
	 * noted for it (world.h) makes no difference. */
	int64_t (*ask_op)(void *context, int stage, enum op_kind kind, int microbatch,
	                  int64_t now_ns);
	void *context;

	/* In the order in which they begin. */
	const struct sim_outage *outages;
	int n_outages;

	/* From here on a stream plane's messages go over delegates with these rules, and so do
	 * those that still wait for their channel. NULL: never. */
	const struct plane_rules *switch_rules;
	int64_t switch_ns;
};

/* Of one op, in plan order; message times are −1 where it sends none. */
struct sim_op_times {
	int64_t start_ns;
	int64_t end_ns;
	int64_t ready_ns;          /* its input was there */
	int64_t transfer_start_ns; /* its message entered the channel or queue; it asked for that at
	                              end_ns */
	int64_t transfer_end_ns;   /* the sender was rid of it */
	int64_t arrive_ns;
	int64_t late_ns; /* seen that long after its scheduled end, end_ns; 0 in virtual time */
	/* Of its transfer, 0 in virtual time: so much of it may be the sending worker's, and so
	 * much the receiving one's, which had not looked for that long. */
	int64_t left_late_ns, unseen_ns;
	/* Of its message; what is not of the simulation itself is sim_net_rails()'s. */
	int queue;         /* of the delegates; −1: a channel of the stream plane, or none */
	int16_t rail;      /* when it left last */
	int16_t n_resends; /* how often it left again, since a rail had died */
};

/* Sums over stages: compute + wait + blocked = makespan × stages. */
struct sim_outcome {
	int64_t makespan_ns;
	int64_t compute_ns;
	int64_t wait_ns;
	int64_t blocked_ns;
};

/* Time one iteration; times (n_stages * 3 * N, plan order) may be NULL when only the outcome is
 * wanted. */
void sim_net_run(struct sim_net *net, const struct sim_world *world, struct sim_op_times *times,
                 struct sim_outcome *out);

/* Over which rail every message went, and how often again: rails has the one in use after the
 * iteration for each link, world the outages in it. */
void sim_net_rails(const struct plan *plan, const struct sim_world *world, const int *rails,
                   struct sim_op_times *times);

/* The outcome of the part of an iteration before end_ns, from its times. */
void sim_outcome_until(const struct plan *plan, const struct sim_op_times *times, int64_t end_ns,
                       struct sim_outcome *out);

#endif
