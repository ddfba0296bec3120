/* stage.c - finds out whether a stage is slow, from its operators' durations.
 *
 * One F, one B and one W together are what is watched: a slow GPU is slow in all of them, and one
 * level for three has less noise. The baseline is what the stage itself took when quiet: at first
 * its first level, and any lower one as soon as that lasts, since a stage may begin slow, be it
 * because its caches are cold. It never rises: what rises is the stage that got slow. */
#include "engine/monitor/stage_internal.h"

#include <math.h>

/* Nothing is known of a stage before its first iteration. */
static const double UNKNOWN = 2;

/* A lower level is one that is lower by more than this. */
static const double LEAST_GAIN = 0.01;
static const double CERTAIN = 0.99;

void stage_fini(struct stage *stage)
{
	for (int kind = 0; kind < OP_KINDS; kind++)
		samples_fini(&stage->samples[kind]);
}

/* The sum of the kinds' medians; variances are relative. Returns the kinds there were. */
static unsigned take_sum(struct stage *stage, struct middle *out)
{
	double sum_ns = 0, variance_ns2 = 0;
	unsigned kinds = 0;

	for (int kind = 0; kind < OP_KINDS; kind++) {
		struct middle middle;

		if (!samples_take(&stage->samples[kind], &middle))
			continue;
		kinds |= 1u << kind;
		sum_ns += (double)middle.median_ns;
		variance_ns2 += middle.variance * ((double)middle.median_ns + 1) *
		                ((double)middle.median_ns + 1);
	}
	out->median_ns = level_to_ns(level_of_ns(sum_ns));
	out->variance = variance_ns2 / ((sum_ns + 1) * (sum_ns + 1));
	return kinds;
}

static void set_baseline(struct stage *stage, double level, double error)
{
	stage->quiet = level;
	stage->is_learning = true;
	stage->n_faster = 0;
	alarm_init(&stage->alarm, level, error);
}

/* A baseline is known better with every iteration until something changes, and a lower one takes
 * its place. */
static void update_baseline(struct stage *stage, const struct monitor_settings *settings)
{
	const struct change_point_run *best = change_point_best(&stage->alarm.belief);
	bool is_faster =
		!stage->alarm.is_slow && !best->is_home &&
		change_point_above(&stage->alarm.belief, stage->quiet - LEAST_GAIN) < 1 - CERTAIN;

	stage->is_learning = stage->is_learning && best->is_home;
	if (stage->is_learning)
		stage->quiet = best->mean;
	stage->n_faster = is_faster ? stage->n_faster + 1 : 0;
	if (stage->n_faster > settings->clear_iterations)
		set_baseline(stage, best->mean, 0);
}

static struct alarm_rules rules_for(const struct stage *stage,
                                    const struct monitor_settings *settings)
{
	return (struct alarm_rules){
		.slow_above = stage->quiet + log1p(settings->stage_ratio),
		.healthy_below = stage->quiet + log1p(settings->stage_ratio / 2),
		.confirm_iterations = settings->confirm_iterations,
		.clear_iterations = settings->clear_iterations,
		.least_move_ns = level_to_ns(stage->quiet + log(settings->stage_ratio)),
	};
}

void stage_edge(struct stage *stage, const struct monitor_settings *settings, int iteration)
{
	struct alarm_rules rules;
	struct middle seen;
	unsigned kinds = take_sum(stage, &seen);

	stage->has_changed = false;
	if (stage->kinds == 0 && kinds != 0) {
		stage->kinds = kinds;
		set_baseline(stage, level_of_ns((double)seen.median_ns), UNKNOWN);
	}
	/* A sum of other kinds cannot be compared. */
	if (kinds == 0 || kinds != stage->kinds)
		return;
	rules = rules_for(stage, settings);
	stage->has_changed = alarm_step(&stage->alarm, &rules, iteration, &seen);
	update_baseline(stage, settings);
}

struct monitor_stage stage_state(const struct stage *stage)
{
	const struct alarm *alarm = &stage->alarm;

	if (stage->kinds == 0 || !alarm->is_slow)
		return (struct monitor_stage){.factor = 1, .since_iteration = -1};
	return (struct monitor_stage){
		.is_slow = true,
		.factor = exp(level_of_ns((double)alarm->reported_ns) - stage->quiet),
		.since_iteration = alarm->since_iteration,
	};
}

void stage_drop_iteration(struct stage *stage)
{
	for (int kind = 0; kind < OP_KINDS; kind++)
		stage->samples[kind].n = 0;
}

void stage_reset(struct stage *stage)
{
	stage_drop_iteration(stage);
	stage->has_changed = false;
	if (stage->kinds != 0)
		set_baseline(stage, stage->quiet, 0);
}
