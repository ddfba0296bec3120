/* alarm_internal.h - is a level slow? Evidence that is apart in value and in time for yes and no.
 */
#ifndef ENGINE_MONITOR_ALARM_INTERNAL_H
#define ENGINE_MONITOR_ALARM_INTERNAL_H

#include "engine/monitor/change_point.h"
#include "engine/monitor/samples_internal.h"

struct alarm {
	struct change_point belief;
	double variance; /* of a middle, over the last iterations; 0: not known */
	bool is_slow;
	int n_agreeing;      /* iterations in a row that speak against is_slow */
	int since_iteration; /* when is_slow: the most probable beginning */
	int64_t reported_ns; /* when is_slow: the level that was last news */
};

struct alarm_rules {
	double slow_above; /* levels: */
	double healthy_below;
	int confirm_iterations; /* in a row with evidence, to become slow */
	int clear_iterations;   /* and to become healthy */
	int64_t least_move_ns;  /* less is no news */
};

/* home_error: how well home is known, relative. */
void alarm_init(struct alarm *alarm, double home, double home_error);

/* One iteration's middle. true: it became slow or healthy; or it stays slow, and its level moved by
 * more than a fifth and more than the least move. */
bool alarm_step(struct alarm *alarm, const struct alarm_rules *rules, int iteration,
                const struct middle *seen);

#endif
