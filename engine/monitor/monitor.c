/* monitor.c - finds slow links and slow stages: the directions of all links, and the stages. */
#include "engine/monitor/monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/monitor/stage_internal.h"

enum { DIRECTIONS = 2 };

static const double STAGE_RATIO = 0.2;

struct direction {
	struct samples samples;
	struct alarm alarm;
};

struct monitor {
	struct monitor_settings settings;
	int64_t *healthy_ns;
	struct direction *directions; /* [2 * link + (1 for backward)] */
	struct stage *stages;
	int n_links;
};

int monitor_new(const struct monitor_settings *settings, struct monitor **out, struct err *err)
{
	struct monitor *monitor = array_new(1, sizeof(*monitor));
	int n_links = settings->n_stages - 1;

	if (!monitor)
		return err_set(err, -ENOMEM, "no memory for the straggler detector");
	monitor->settings = *settings;
	if (monitor->settings.stage_ratio <= 0)
		monitor->settings.stage_ratio = STAGE_RATIO;
	monitor->n_links = n_links;
	monitor->healthy_ns = array_copy(settings->healthy_ns, (size_t)n_links, sizeof(int64_t));
	monitor->directions = array_new((size_t)n_links * DIRECTIONS, sizeof(struct direction));
	monitor->stages = array_new((size_t)settings->n_stages, sizeof(struct stage));
	if (!monitor->healthy_ns || !monitor->directions || !monitor->stages) {
		monitor_free(monitor);
		return err_set(err, -ENOMEM, "no memory for the straggler detector");
	}
	monitor->settings.healthy_ns = monitor->healthy_ns;
	monitor_reset(monitor);
	*out = monitor;
	return 0;
}

void monitor_free(struct monitor *monitor)
{
	if (!monitor)
		return;
	for (int i = 0; monitor->directions && i < monitor->n_links * DIRECTIONS; i++)
		samples_fini(&monitor->directions[i].samples);
	for (int i = 0; monitor->stages && i < monitor->settings.n_stages; i++)
		stage_fini(&monitor->stages[i]);
	free(monitor->stages);
	free(monitor->directions);
	free(monitor->healthy_ns);
	free(monitor);
}

void monitor_add_transfer(struct monitor *monitor, int from_stage, int to_stage,
                          int64_t transfer_ns)
{
	int link = from_stage < to_stage ? from_stage : to_stage;

	samples_add(&monitor->directions[link * DIRECTIONS + (from_stage > to_stage)].samples,
	            transfer_ns);
}

bool monitor_can_tell(const struct monitor *monitor, int64_t transfer_ns, int64_t unsure_ns)
{
	return unsure_ns <= monitor->settings.threshold_ns / 2 || unsure_ns <= transfer_ns / 4;
}

void monitor_add_op(struct monitor *monitor, int stage, enum op_kind kind, int64_t duration_ns)
{
	samples_add(&monitor->stages[stage].samples[kind], duration_ns);
}

static struct alarm_rules rules_for(const struct monitor *monitor, int link)
{
	const struct monitor_settings *settings = &monitor->settings;
	double healthy_ns = (double)monitor->healthy_ns[link],
	       threshold_ns = (double)settings->threshold_ns;

	return (struct alarm_rules){
		.slow_above = level_of_ns(healthy_ns + threshold_ns),
		.healthy_below = level_of_ns(healthy_ns + threshold_ns / 2),
		.confirm_iterations = settings->confirm_iterations,
		.clear_iterations = settings->clear_iterations,
		.least_move_ns = settings->threshold_ns,
	};
}

static bool direction_edge(const struct monitor *monitor, int i, int iteration)
{
	struct direction *direction = &monitor->directions[i];
	struct alarm_rules rules = rules_for(monitor, i / DIRECTIONS);
	struct middle seen;

	return samples_take(&direction->samples, &seen) &&
	       alarm_step(&direction->alarm, &rules, iteration, &seen);
}

static struct monitor_link link_state(const struct monitor *monitor, int link)
{
	struct monitor_link state = {.transfer_ns = monitor->healthy_ns[link],
	                             .since_iteration = -1};

	for (int i = link * DIRECTIONS; i < (link + 1) * DIRECTIONS; i++) {
		const struct alarm *alarm = &monitor->directions[i].alarm;

		if (!alarm->is_slow)
			continue;
		if (!state.is_slow || alarm->since_iteration < state.since_iteration)
			state.since_iteration = alarm->since_iteration;
		if (!state.is_slow || alarm->reported_ns > state.transfer_ns)
			state.transfer_ns = alarm->reported_ns;
		state.is_slow = true;
	}
	return state;
}

bool monitor_edge(struct monitor *monitor, int iteration, struct monitor_link *links_out)
{
	bool is_news = false;

	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++)
		is_news |= direction_edge(monitor, i, iteration);
	for (int stage = 0; stage < monitor->settings.n_stages; stage++)
		stage_edge(&monitor->stages[stage], &monitor->settings, iteration);
	for (int link = 0; link < monitor->n_links; link++)
		links_out[link] = link_state(monitor, link);
	return is_news;
}

bool monitor_stages(const struct monitor *monitor, struct monitor_stage *stages_out)
{
	bool is_news = false;

	for (int stage = 0; stage < monitor->settings.n_stages; stage++) {
		stages_out[stage] = stage_state(&monitor->stages[stage]);
		is_news |= monitor->stages[stage].has_changed;
	}
	return is_news;
}

void monitor_drop_iteration(struct monitor *monitor)
{
	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++)
		monitor->directions[i].samples.n = 0;
	for (int stage = 0; stage < monitor->settings.n_stages; stage++)
		stage_drop_iteration(&monitor->stages[stage]);
}

void monitor_reset(struct monitor *monitor)
{
	monitor_drop_iteration(monitor);
	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++)
		alarm_init(&monitor->directions[i].alarm,
		           level_of_ns((double)monitor->healthy_ns[i / DIRECTIONS]), 0);
	for (int stage = 0; stage < monitor->settings.n_stages; stage++)
		stage_reset(&monitor->stages[stage]);
}
