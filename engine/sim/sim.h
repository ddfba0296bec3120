/* sim.h - a scenario under one schedule, in virtual time. */
#ifndef ENGINE_SIM_SIM_H
#define ENGINE_SIM_SIM_H

#include "engine/record/record.h"
#include "engine/scenario/scenario.h"
#include "engine/schedule/schedule.h"
#include "engine/sim/executor.h"

/* Borrowed for the time of the call. */
struct sim_request {
	const struct scenario *scenario;
	const struct schedule_ops *schedule;
	const struct plan *order; /* csv:FILE's; else NULL */
	const char *name;         /* the schedule's in the scenario; NULL: its own */
	const struct plane_rules *
		rules; /* of the stream plane, instead of the schedule's preset; NULL: the preset */
	struct executor *executor; /* runs the iterations; NULL: they are computed */
	int repeat;                /* draws from scenario_repeat_seed() */
	bool is_oracle; /* adaptation is told the injected delays at their first iteration */
};

struct sim_totals {
	int64_t total_ns; /* first start to last end: warm-up, restarts and repeats included */
	int64_t n_ops;
	int n_restarts;
};

/* Can virtual time say what the scenario asks for? It has whole messages only. -ENOTSUP: a fault is
 * of packets, err says what to use instead. */
int sim_check(const struct scenario *scenario, struct err *err);

/* Run all iterations and hand each to sink. Same request, same bytes. Memory is linear in one
 * iteration. -EINTR: the user interrupted between iterations; all before is with the sink. -EINVAL:
 * the schedule has no plan for this scenario. -ENOTSUP: as sim_check(). -ENETDOWN: a stage has no
 * rail left. *out is set on success, -EINTR and -ENETDOWN. */
int sim_run(const struct sim_request *request, struct record_sink *sink, struct sim_totals *out,
            struct err *err);

/* The plan and plane in force at an iteration, as a run reaches it for the first time. plan_out is
 * the caller's. -ENOTSUP: as sim_check(), unless it is the first iteration. */
int sim_plan_at(const struct sim_request *request, int iteration, struct plan *plan_out,
                enum plane_kind *plane_out, struct err *err);

/* Largest delay on link (both directions, latency) for which the makespan of plan grows by at most
 * twice the delay, all other links healthy; exact, because a fixed order's makespan is convex in
 * the delay. *out −1: it never grows by more. */
int sim_tolerated_delay(const struct plan *plan, const struct plan_times *times, int link,
                        int64_t *out, struct err *err);

#endif
