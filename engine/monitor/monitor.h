/* monitor.h - finds slow links from measured transfer times.
 *
 * It is fed the transfer time of every message (from entering its channel or queue to its arrival,
 * waiting for either left out) and asked at iteration edges. A direction is slow when its median of
 * an iteration exceeds the healthy time by more than the threshold in confirm_iterations iterations
 * in a row, and healthy again when it stays below half the threshold for clear_iterations:
 * thresholds apart in value and in time keep it from flapping. */
#ifndef ENGINE_MONITOR_MONITOR_H
#define ENGINE_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/scenario/scenario.h"

struct monitor;

/* healthy_ns: n_stages − 1 transfer times without a fault, copied. threshold_ns: above the healthy
 * time. */
struct monitor_settings {
	int n_stages;
	const int64_t *healthy_ns;
	int64_t threshold_ns;
	int confirm_iterations;
	int clear_iterations;
};

int monitor_new(const struct monitor_settings *settings, struct monitor **out, struct err *err);
void monitor_free(struct monitor *monitor);

/* One message from_stage -> to_stage took transfer_ns. Never fails: a direction keeps at most 4,096
 * samples an iteration. */
void monitor_add_transfer(struct monitor *monitor, int from_stage, int to_stage,
                          int64_t transfer_ns);

/* What is believed of a link after an edge: the slower direction counts. */
struct monitor_link {
	bool is_slow;
	int64_t transfer_ns; /* the planner's delay for this link: median of the slow directions, or
	                        healthy_ns */
	int since_iteration; /* first iteration of the run of evidence that made it slow; −1 when
	                        healthy */
};

/* End of iteration: decide. links_out: n_stages − 1. Returns true when a link became slow or
 * healthy, or the transfer time of a slow one moved by more than a fifth and more than the
 * threshold. */
bool monitor_edge(struct monitor *monitor, int iteration, struct monitor_link *links_out);

/* Forget this iteration's samples (it was aborted) or everything (restart). */
void monitor_drop_iteration(struct monitor *monitor);
void monitor_reset(struct monitor *monitor);

#endif
