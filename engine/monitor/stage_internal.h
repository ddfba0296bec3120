/* stage_internal.h - how long one stage's operators take, against what they took when quiet. */
#ifndef ENGINE_MONITOR_STAGE_INTERNAL_H
#define ENGINE_MONITOR_STAGE_INTERNAL_H

#include "engine/monitor/alarm_internal.h"
#include "engine/monitor/monitor.h"

struct stage {
	struct samples samples[OP_KINDS];
	struct alarm alarm;
	unsigned kinds;   /* a bit for each kind that the baseline is of; 0: no baseline */
	double quiet;     /* the baseline, a level */
	bool is_learning; /* it still follows what the stage takes */
	int n_faster;     /* iterations in a row that speak for a lower baseline */
	bool has_changed; /* at the last edge: slow, healthy, or its factor moved */
};

void stage_fini(struct stage *stage);

/* The edge after iteration. settings: ratio and the numbers of iterations. */
void stage_edge(struct stage *stage, const struct monitor_settings *settings, int iteration);

struct monitor_stage stage_state(const struct stage *stage);

/* Forget the iteration; forget what is believed, but not the baseline. */
void stage_drop_iteration(struct stage *stage);
void stage_reset(struct stage *stage);

#endif
