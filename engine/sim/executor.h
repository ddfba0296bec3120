/* executor.h - who runs an iteration in place of the simulator's arithmetic.
 *
 * Planning, adaptation, restarts and the record are the same in virtual and in real time; only what
 * an iteration takes is computed in the one and measured in the other. All times are profile time
 * since the iteration's start, in nanoseconds. */
#ifndef ENGINE_SIM_EXECUTOR_H
#define ENGINE_SIM_EXECUTOR_H

#include "engine/scenario/plane.h"
#include "engine/schedule/plan.h"
#include "engine/sim/net.h"

/* An RNIC that dies if the iteration is still running at at_ns, or if it comes to an op. */
struct executor_outage {
	int fault; /* of the scenario */
	int stage;
	int rail;
	int op;           /* begins when that one does, of executor.op_starts; -1: at at_ns */
	int64_t at_ns;    /* WORLD_NOT_YET: when op starts is not known before */
	bool is_fatal;    /* the job stops; otherwise messages go on over the next rail */
	bool is_spare;    /* not the rail in use: nothing else happens */
	int64_t lasts_ns; /* back that long after, before anybody gives up on it; -1: not */
};

struct executor_job {
	const struct plan *plan;
	int plan_version; /* another one when plan or plane are others */
	enum plane_kind plane;
	const struct plane_rules *rules; /* by plane kind */
	int attempt;
	int iteration;
	int64_t start_ns;      /* since the run's start */
	int64_t failover_ns;   /* what a dead rail had under way is sent again this long after */
	bool wants_checkpoint; /* of the state after this iteration */
	const struct executor_outage *outages; /* those at ops first, then by at_ns */
	size_t n_outages;
	const bool *is_down; /* [stage * rails + rail]: dead before the iteration begins */
};

struct executor_result {
	/* The caller's, [replica][op], plan order. Of an iteration in which the job died not all is
	 * known: what is not is INT64_MAX for an op's start, end and input, −1 for its message. */
	struct sim_op_times *times;
	bool *has_fired; /* the caller's, [n_outages] */
	int64_t died_ns; /* -1: the iteration is complete */
	int64_t makespan_ns;
	double loss;
};

struct executor;

struct executor_ops {
	/* Run one iteration and wait for it, with a time limit of its own. -EINTR: the user wants
	 * to stop; any other error ends the run. */
	int (*run)(struct executor *executor, const struct executor_job *job,
	           struct executor_result *out, struct err *err);

	/* The job died: stop what is left, wait cost_ns of profile time, and start again with the
	 * state before iteration. */
	int (*restart)(struct executor *executor, int attempt, int iteration, int64_t cost_ns,
	               struct err *err);
};

struct executor {
	const struct executor_ops *ops;
	int64_t message_bytes;
	int64_t noise_ns; /* by which a healthy message may look slower than it is */
	/* Messages that slow links were looked for in, and those of which nobody can tell how long
	 * they took (monitor_can_tell()), which do not count; the simulator's. */
	int64_t n_judged, n_unsure;
	int64_t *op_starts; /* when ops at which faults start or end did (world.h); run() sets those
	                       of its iteration that start. NULL: it can run no such faults */
	const struct fault_times *fault_times; /* [n_faults] of the scenario (world.h); NULL: what
	                                          is asked for is in force at once */
	const struct world_packets *packets;   /* [sim_direction()] (world.h); run() sets those of
	                                          its iteration. NULL: nobody measures what passes
	                                          while faults are in force */
};

#endif
