/* run_internal.h - the state of one simulated run; run.c, adapt.c, outage.c and rails.c share it.
 */
#ifndef ENGINE_SIM_RUN_INTERNAL_H
#define ENGINE_SIM_RUN_INTERNAL_H

#include "engine/monitor/monitor.h"
#include "engine/sim/sim.h"
#include "engine/sim/world.h"

/* What became of a DOWN. It fires once per run. */
struct outage {
	int64_t since_ns; /* −1: not yet */
	int64_t until_ns; /* INT64_MAX: no clock knows */
	int attempt;
	bool is_reported;
};

struct sim {
	const struct sim_request *request;
	const struct scenario *scenario;
	struct record_sink *sink;
	uint64_t seed;
	struct world *world;

	/* What runs now. */
	struct plan plan;
	int plan_version;
	struct sim_net *net;
	enum plane_kind plane;
	enum plane_kind start_plane;
	struct plane_rules rules[2]; /* by plane kind */

	/* Inputs of the planner. */
	int64_t *op_ns;       /* [kind][stage], of the profile */
	int64_t *stage_op_ns; /* the same, as believed now */
	int64_t *healthy_ns;  /* per link */
	int64_t *link_ns;     /* per link, as believed now */
	int *limits;

	/* Adaptation. */
	struct monitor *monitor; /* NULL: the schedule is fixed, or the oracle tells */
	struct monitor_link *links;
	struct monitor_stage *stages;
	bool is_pinned; /* failed over: there is no way back to the stream plane */

	/* Outages. */
	int *rails;             /* in use, per link */
	bool *is_down;          /* [stage * n_rails + rail] */
	struct outage *outages; /* per fault; only those of DOWNs are used */

	/* Where the run is. */
	int attempt;
	int iteration;
	int64_t now_ns;
	struct sim_totals totals;
	int n_timed; /* replicas whose ops are timed; in virtual time one stands for all */
	struct sim_op_times *times; /* [n_timed][op] */
	struct record_op *ops;      /* NULL: the sink wants none */
};

static inline int sim_n_ops(const struct sim *sim)
{
	return sim->plan.n_stages * OP_KINDS * sim->plan.n_microbatches;
}

static inline const struct sim_op_times *sim_times(const struct sim *sim, int replica)
{
	return sim->times + (size_t)replica * (size_t)sim_n_ops(sim);
}

/* adapt.c: make the plan for what is believed of links and stages now, and put it in force on
 * plane. */
int sim_make_plan(struct sim *sim, bool has_straggler, enum plane_kind plane, struct err *err);

/* adapt.c: the plan in force goes on over plane. */
int sim_set_plane(struct sim *sim, enum plane_kind plane, struct err *err);

/* adapt.c: tell the detector what the iteration that just ended measured, and decide for the next.
 */
int sim_adapt(struct sim *sim, struct err *err);

/* adapt.c: the planner's op times from what is believed of the stages. */
void sim_believe_stages(struct sim *sim);

/* adapt.c: with the oracle, decide at the first iteration that meets a fault. */
int sim_adapt_by_oracle(struct sim *sim, struct err *err);

/* adapt.c: put a decision into the record; its at_ns counts from the iteration's start, attempt,
 * plane and plan are what is in force from now on. */
int sim_decide(struct sim *sim, const struct record_decision *decision, struct err *err);

/* execute.c: run the iteration for real. *is_over: the job died in it and has started again. */
int sim_execute(struct sim *sim, struct sim_outcome *out, double *loss_out, bool *is_over,
                struct err *err);

/* run.c: what the iteration before end_ns was spent on, summed over stages and timed replicas. */
void sim_sum_until(const struct sim *sim, int64_t end_ns, struct sim_outcome *out);

/* run.c: put the part of an iteration before at_ns, at which fault ended it, into the record and
 * start again. */
int sim_end_by_restart(struct sim *sim, int fault, int64_t at_ns, struct err *err);

/* rails.c: the entry of the RNIC of stage on rail. */
bool *sim_is_down(const struct sim *sim, int stage, int rail);

/* rails.c: do messages of one of the links of stage go over rail? */
bool sim_uses_rail(const struct sim *sim, int stage, int rail);

/* rails.c: has every link that uses the RNIC another rail, up at both its ends? */
bool sim_has_spare(const struct sim *sim, const struct fault *down);

/* rails.c: the links that use the RNIC are dead in [from_ns, until_ns) of this iteration. Unless it
 * is back by then they go over to their next rail, which they must have. */
void sim_leave_rail(struct sim *sim, const struct fault *down, int64_t from_ns, int64_t until_ns,
                    bool is_back);

/* rails.c: every link begins with the first rail that both its ends have. -ENETDOWN: there is none,
 * err says where. */
int sim_choose_rails(struct sim *sim, struct err *err);

/* outage.c: all that have not fired and may come in the iteration in hand, by their time.
 * *outages_out is the caller's. */
int sim_list_outages(const struct sim *sim, struct executor_outage **outages_out, size_t *n_out,
                     struct err *err);

/* outage.c: the first DOWN that has not fired and comes before end_ns of the iteration in hand. −1:
 * none. *at_ns_out: since the iteration's start. */
int sim_next_outage(const struct sim *sim, int64_t end_ns, int64_t *at_ns_out);

/* outage.c: can the run go on without a restart when this fault fires? */
bool sim_can_fail_over(const struct sim *sim, const struct fault *fault);

/* outage.c: the fault fires at at_ns of this iteration and messages go on over the next rail. The
 * iteration is to be timed again. */
int sim_fail_over(struct sim *sim, int fault, int64_t at_ns, struct err *err);

/* outage.c: the job dies at at_ns of this iteration and starts again from its last checkpoint. */
int sim_restart(struct sim *sim, int fault, int64_t at_ns, struct err *err);

/* outage.c: at the edge before an iteration, rails whose outage has ended are spares again, and the
 * sink is told; traffic stays where it is. */
int sim_mend_rails(struct sim *sim, struct err *err);

/* outage.c: the run ends; tell the sink of the outages that it has not been told of. */
int sim_report_outages(struct sim *sim, struct err *err);

#endif
