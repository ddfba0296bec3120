/* net_case.h - one iteration on the simulator's network, with storage of its own. */
#ifndef TESTS_NET_CASE_H
#define TESTS_NET_CASE_H

#include "engine/schedule/schedule.h"
#include "engine/sim/net.h"

enum { NET_CASE_STAGES_MAX = 16 };

/* Fill op_ns, messages and world between _init and _run. The world points into the case, so it must
 * not be copied. */
struct net_case {
	int64_t op_ns[OP_KINDS][NET_CASE_STAGES_MAX];
	int64_t link_ns[NET_CASE_STAGES_MAX]; /* what the plan was made for */
	struct shape messages[SIM_DIRECTIONS * NET_CASE_STAGES_MAX];
	struct sim_world world;
	struct plan plan;
	struct sim_op_times *times;
	struct sim_outcome outcome;
};

/* A plan of the schedule for ops of op_ns and links that take nothing. false and a failed check:
 * there is none; then net_case_fini() is not needed. */
bool net_case_init(struct net_case *c, const char *schedule, int n_stages, int n_microbatches,
                   int64_t op_ns);

/* The same from letters, one string a stage. */
bool net_case_letters(struct net_case *c, const char *const *letters, int n_stages,
                      int n_microbatches, int64_t op_ns);

/* A plan that the case owns from now on, for the times in c->op_ns. */
bool net_case_adopt(struct net_case *c, struct plan plan);

void net_case_fini(struct net_case *c);

/* Time the iteration under these rules; checks that the shares add up. */
bool net_case_run(struct net_case *c, const struct plane_rules *rules);

const struct sim_op_times *net_case_op(const struct net_case *c, int stage, enum op_kind kind,
                                       int microbatch);

#endif
