/* world.h - the faults of a scenario as one iteration meets them. */
#ifndef ENGINE_SIM_WORLD_H
#define ENGINE_SIM_WORLD_H

#include "engine/record/record.h"
#include "engine/scenario/scenario.h"
#include "engine/sim/net.h"

struct world;

/* scenario is borrowed until world_free(). seed: of this repeat. */
int world_new(const struct scenario *scenario, uint64_t seed, struct world **out, struct err *err);
void world_free(struct world *world);

/* Time of a message on link when nothing is wrong. */
int64_t world_healthy_ns(const struct world *world);

/* What a window adds to that: on the stream plane a message waits for its own acknowledgements. */
int64_t world_window_ns(const struct world *world, int64_t window_bytes);

/* Ops at which faults start or end, in the order of scenario_list_ops(). When they started, in
 * nanoseconds since the run's start, is kept here, or in memory of the caller's that several worlds
 * share: one number an op, read and written at once; WORLD_NOT_YET before. */
#define WORLD_NOT_YET INT64_MAX
void world_share_ops(struct world *world, int64_t *op_starts);

/* The iteration is about to be run, for the first time or again: none of its ops has started. One
 * of those that share the memory says so, before any of them begins the iteration. */
void world_forget_ops(struct world *world, int iteration);

/* Leave faults out of what world_view() has messages meet: somebody else lets them meet it.
 * is_left: [n_faults], the caller's until world_free(). */
void world_leave(struct world *world, const bool *is_left);

/* When faults were put into force and taken out of it by somebody who takes a moment for that,
 * since the run's start; −1: not yet. times: [n_faults], kept by the caller until world_free().
 * What world_report() says is never earlier. */
struct fault_times {
	int64_t applied_ns;
	int64_t cleared_ns;
	int64_t detected_ns;  /* DOWN: somebody noticed; */
	int64_t recovered_ns; /* and the run went on as if nothing had happened */
};
void world_share_times(struct world *world, const struct fault_times *times);

/* What passed a direction in one iteration, as far as the system says; -1: it does not. */
struct world_packets {
	int64_t n_sent, n_lost; /* lost as asked for */
	int64_t n_resent;       /* by TCP */
	int64_t n_delayed;      /* of those sent; together held for so long: */
	int64_t delay_sum_ns;   /* profile time */
};

/* Measure what passes while faults of links are in force. packets: [sim_direction()], kept by the
 * caller until world_free(), of the iteration that world_account() is about; message_bytes: of a
 * message. */
int world_measure(struct world *world, const struct world_packets *packets, int64_t message_bytes,
                  struct err *err);

/* Is the fault, not a DOWN, in force at now_ns since the run's start, in the iteration in hand? */
bool world_is_on(const struct world *world, size_t fault, int64_t now_ns);

/* When it starts, or ends, as far as that is known in the iteration in hand and is not an
 * iteration's edge; WORLD_NOT_YET. */
int64_t world_change_ns(const struct world *world, size_t fault, bool is_start);

/* The first moment after now_ns, since the run's start, at which that is known to change for any
 * fault in the iteration in hand; WORLD_NOT_YET: none is. */
int64_t world_next_change_ns(const struct world *world, int64_t now_ns);

/* The range of those in the iteration in hand. */
void world_ops_now(const struct world *world, int *first_out, int *n_out);
const struct moment *world_op(const struct world *world, int op);

/* It started start_ns after the start of the iteration in hand. */
void world_set_op(struct world *world, int op, int64_t start_ns);

/* Since the run's start; WORLD_NOT_YET. */
int64_t world_op_ns(const struct world *world, int op);

/* At which of them a fault starts; -1: it does not start at an op. The same of its end. */
int world_start_op(const struct world *world, size_t fault);
int world_end_op(const struct world *world, size_t fault);

/* By the times of the iteration in hand, the first of its ops that has not been set, and when it
 * starts since the iteration's start; -1: all have. What starts then or later changes nothing of
 * that, so it may be set. */
int world_next_op(const struct world *world, const struct plan *plan,
                  const struct sim_op_times *times, int64_t *start_ns_out);

/* -EINVAL: the iteration in hand, which has ended, came to the end of a fault before its start.
 * That is for the schedule to say, so no validation can. */
int world_check_ops(const struct world *world, struct err *err);

/* Put the faults of this iteration, which starts at start_ns, in force. Outages are forgotten. */
void world_begin(struct world *world, int iteration, int64_t start_ns);

/* The rail that a link uses is dead in this iteration: its messages start over at the end. Outages
 * are added in the order in which they begin, of one RNIC at most one a link. */
void world_add_outage(struct world *world, const struct sim_outage *outage);

/* Hand the stream plane's messages to delegates from now_ns of this iteration on. rules NULL: no.
 */
void world_set_switch(struct world *world, const struct plane_rules *rules, int64_t now_ns);

/* Valid until the next call. */
const struct sim_world *world_view(const struct world *world);

/* The truth about a link at the start of this iteration: what one message takes, the slower
 * direction. */
int64_t world_link_ns(const struct world *world, int link);

/* Account the messages of an iteration that was run: which faults they met and how much longer they
 * took. times: [n_timed][op], of as many replicas, which stand for all; ops that started at or
 * after end_ns do not count. */
void world_account(struct world *world, const struct plan *plan, const struct sim_op_times *times,
                   int n_timed, int64_t end_ns);

/* After an attempt, as after a run, nothing is in force. */
enum world_end { WORLD_GOES_ON, WORLD_ATTEMPT_ENDS, WORLD_RUN_ENDS };

/* Where a run is. */
struct world_moment {
	int attempt;
	int iteration;
	int64_t now_ns;
	enum world_end end;
};

/* Report the faults that are no longer in force to sink. One that an attempt's end cuts short was
 * in force until then; the next attempt meets it anew, or does not. */
int world_report(struct world *world, const struct world_moment *moment, struct record_sink *sink,
                 struct err *err);

#endif
