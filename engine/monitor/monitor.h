/* monitor.h - finds slow links and slow stages from what was measured.
 *
 * Callers feed it all through an iteration and ask at its edge. Two things must be kept apart, or a
 * slow stage is blamed on a link and a slow link on a stage:
 *
 * - a transfer is from entering its channel or queue (record_op.message_start_ns) to its arrival
 *   (message_arrive_ns). Waiting for the channel before it, and waiting for a busy receiver after
 *   it, are no part of it, nor is what the stream plane's window adds on a healthy link;
 * - an op's duration is from its start on the device to its end, as a pair of events tells. Waiting
 *   for input or for the device's queue is no part of it, nor is what a delegate charges to the op
 *   (plane_rules.message_cost_ns), which comes and goes with the data plane.
 *
 * A message is late, too, when a worker at its ends had no core. That is no news of the link, so
 * what nobody can tell for that reason is left out (monitor_can_tell()); an iteration of which
 * nothing is left says nothing.
 *
 * Each direction of a link, and each stage, has a change-point detector (change_point.h) over the
 * median of every iteration. A link is slow when, in confirm_iterations in a row, its level exceeds
 * the healthy time by more than the threshold with a probability of 0.9, and healthy again when, in
 * clear_iterations in a row, it exceeds it by less than half the threshold with one of 0.7. Without
 * noise that is at the first such edge; with noise it takes an iteration more where the limit is
 * near. One message a direction and iteration is no median: confirm more then. Samples are fed in
 * the order in which they were measured. Answers depend on nothing but what was fed. */
#ifndef ENGINE_MONITOR_MONITOR_H
#define ENGINE_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/schedule/plan.h"

struct monitor;

/* healthy_ns: n_stages − 1 transfer times without a fault, copied. threshold_ns: above the healthy
 * time. stage_ratio: a stage is slow when its ops take more than 1 + stage_ratio times what they
 * took when quiet; 0 stands for 0.2. */
struct monitor_settings {
	int n_stages;
	const int64_t *healthy_ns;
	int64_t threshold_ns;
	int confirm_iterations;
	int clear_iterations;
	double stage_ratio;
};

int monitor_new(const struct monitor_settings *settings, struct monitor **out, struct err *err);
void monitor_free(struct monitor *monitor);

/* One message from_stage -> to_stage took transfer_ns. Never fails: a direction keeps at most 4,096
 * samples an iteration. */
void monitor_add_transfer(struct monitor *monitor, int from_stage, int to_stage,
                          int64_t transfer_ns);

/* A transfer looked transfer_ns long, and may have been shorter by up to unsure_ns, for a worker at
 * its ends had not looked. Does it tell anything of its link? What does not is not to be added: the
 * doubt is more than half the threshold, and more than a quarter of what was seen. */
bool monitor_can_tell(const struct monitor *monitor, int64_t transfer_ns, int64_t unsure_ns);

/* One op of stage took duration_ns. Never fails: at most 4,096 of a kind count. */
void monitor_add_op(struct monitor *monitor, int stage, enum op_kind kind, int64_t duration_ns);

/* What is believed of a link after an edge: the slower direction counts. */
struct monitor_link {
	bool is_slow;
	int64_t transfer_ns; /* the planner's delay for this link: level of the slow direction
	                        since it changed, or healthy_ns */
	int since_iteration; /* most probably the first slow one; −1 when healthy */
};

/* What is believed of a stage after an edge, against its own quiet iterations: F, B and W together.
 * What it took in its first iterations is quiet, until it takes less. */
struct monitor_stage {
	bool is_slow;
	double factor;       /* its ops take that many times what they took; 1 when healthy */
	int since_iteration; /* as a link's */
};

/* End of iteration: decide. links_out: n_stages − 1. Returns true when a link became slow or
 * healthy, or the transfer time of a slow one moved by more than a fifth and more than the
 * threshold. */
bool monitor_edge(struct monitor *monitor, int iteration, struct monitor_link *links_out);

/* The stages at the last edge. stages_out: n_stages. Returns true when that edge made one slow or
 * healthy, or its ops moved by more than a fifth and more than stage_ratio. */
bool monitor_stages(const struct monitor *monitor, struct monitor_stage *stages_out);

/* Forget this iteration's samples (it was aborted) or all that is believed (restart); what stages
 * take when quiet is kept. */
void monitor_drop_iteration(struct monitor *monitor);
void monitor_reset(struct monitor *monitor);

#endif
