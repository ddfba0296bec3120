/* alarm.c - turns the belief about a level into slow or healthy, with hysteresis.
 *
 * Evidence is a posterior probability that the level is past its limit. Which change explains the
 * observations is for the change-point detector to say; a stray iteration that fits the old level
 * is not believed. The limits differ and evidence has to last, so nothing flaps. */
#include "engine/monitor/alarm_internal.h"

#include <math.h>
#include <stdlib.h>

/* An alarm changes a plan that is right for all other iterations, so it has to be sure. A recovery
 * is confirmed by more iterations anyhow. */
static const double SLOW_EVIDENCE = 0.9, HEALTHY_EVIDENCE = 0.7;

/* A fault every 250 iterations, which lasts or stays the same for 50. The answers hardly depend on
 * it. */
static const double HAZARD = 1.0 / 250, AWAY_HAZARD = 1.0 / 50;

/* A healthy level is met again to within 2 %; another one may well be 1,000 times as high, like
 * that of a link of 5 us with a delay of milliseconds. */
static const double HOME_ERROR = 0.02, SPREAD = 5;

/* Variances that differ by less than a factor are of one kind; so many are remembered. */
static const double LIKE = 6, REMEMBERED = 16;

void alarm_init(struct alarm *alarm, double home, double home_error)
{
	struct change_point_settings settings = {.hazard = HAZARD,
	                                         .away_hazard = AWAY_HAZARD,
	                                         .home = home,
	                                         .first_sd = fmax(home_error, HOME_ERROR),
	                                         .home_sd = HOME_ERROR,
	                                         .spread_sd = SPREAD};

	*alarm = (struct alarm){.since_iteration = -1};
	change_point_init(&alarm->belief, &settings);
}

/* One iteration's estimate of its variance errs by a factor of up to two or three; as long as it is
 * like those before, their mean is better. */
static double usual_variance(struct alarm *alarm, double variance)
{
	bool is_like = variance < LIKE * alarm->variance && alarm->variance < LIKE * variance;

	if (is_like)
		alarm->variance += (variance - alarm->variance) / REMEMBERED;
	else
		alarm->variance = variance;
	return alarm->variance;
}

/* Does what is believed speak against the state that the alarm is in? */
static bool contradicts(const struct alarm *alarm, const struct alarm_rules *rules)
{
	if (alarm->is_slow)
		return change_point_above(&alarm->belief, rules->healthy_below) <
		       1 - HEALTHY_EVIDENCE;
	return change_point_above(&alarm->belief, rules->slow_above) > SLOW_EVIDENCE;
}

static void turn(struct alarm *alarm)
{
	const struct change_point_run *best = change_point_best(&alarm->belief);

	alarm->is_slow = !alarm->is_slow;
	alarm->n_agreeing = 0;
	alarm->since_iteration = alarm->is_slow ? best->start : -1;
	alarm->reported_ns = level_to_ns(best->level);
}

/* The level of a slow one has moved so far that a plan is no longer made for it. */
static bool follow(struct alarm *alarm, const struct alarm_rules *rules)
{
	int64_t level_ns = level_to_ns(change_point_best(&alarm->belief)->level);
	int64_t change_ns = llabs(level_ns - alarm->reported_ns);

	if (change_ns <= alarm->reported_ns / 5 || change_ns <= rules->least_move_ns)
		return false;
	alarm->reported_ns = level_ns;
	return true;
}

bool alarm_step(struct alarm *alarm, const struct alarm_rules *rules, int iteration,
                const struct middle *seen)
{
	int n_needed = alarm->is_slow ? rules->clear_iterations : rules->confirm_iterations;

	change_point_add(&alarm->belief, iteration, level_of_ns((double)seen->median_ns),
	                 usual_variance(alarm, seen->variance));
	if (!contradicts(alarm, rules)) {
		alarm->n_agreeing = 0;
		return alarm->is_slow && follow(alarm, rules);
	}
	if (++alarm->n_agreeing < n_needed)
		return false;
	turn(alarm);
	return true;
}
