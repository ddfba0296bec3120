/* monitor.c - finds slow links from measured transfer times, by a threshold with hysteresis.
 *
 * The median of an iteration decides, so that a few late messages raise no alarm. A change-point
 * detector may take the place of the threshold behind the same header. */
#include "engine/monitor/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/stats.h"

enum { SAMPLES_MAX = 4096, DIRECTIONS = 2 };

struct direction {
	int64_t *samples;
	size_t n_samples;
	size_t capacity;
	bool is_slow;
	int n_agreeing;      /* iterations in a row that speak against is_slow */
	int first_agreeing;  /* first of them */
	int since_iteration; /* first_agreeing of the change to is_slow */
	int64_t transfer_ns; /* the last iteration's median */
	int64_t reported_ns; /* what the planner was last told */
};

struct monitor {
	struct monitor_settings settings;
	int64_t *healthy_ns;
	struct direction *directions; /* [2 * link + (1 for backward)] */
	int n_links;
};

int monitor_new(const struct monitor_settings *settings, struct monitor **out, struct err *err)
{
	struct monitor *monitor = array_new(1, sizeof(*monitor));
	int n_links = settings->n_stages - 1;

	if (!monitor)
		return err_set(err, -ENOMEM, "no memory for the straggler detector");
	monitor->settings = *settings;
	monitor->n_links = n_links;
	monitor->healthy_ns = array_copy(settings->healthy_ns, (size_t)n_links, sizeof(int64_t));
	monitor->directions = array_new((size_t)n_links * DIRECTIONS, sizeof(struct direction));
	if (!monitor->healthy_ns || !monitor->directions) {
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
		free(monitor->directions[i].samples);
	free(monitor->directions);
	free(monitor->healthy_ns);
	free(monitor);
}

void monitor_add_transfer(struct monitor *monitor, int from_stage, int to_stage,
                          int64_t transfer_ns)
{
	int link = from_stage < to_stage ? from_stage : to_stage;
	struct direction *direction =
		&monitor->directions[link * DIRECTIONS + (from_stage > to_stage)];

	if (direction->n_samples == SAMPLES_MAX)
		return;
	if (direction->n_samples == direction->capacity) {
		int64_t *samples = array_grow(direction->samples, &direction->capacity,
		                              direction->n_samples + 1, sizeof(*samples));

		/* A sample less is no loss that the caller could mend. */
		if (!samples)
			return;
		direction->samples = samples;
	}
	direction->samples[direction->n_samples++] = transfer_ns;
}

static int64_t excess_ns(const struct monitor *monitor, int i)
{
	return monitor->directions[i].transfer_ns - monitor->healthy_ns[i / DIRECTIONS];
}

/* Does this iteration speak against the state that the direction is in? */
static bool contradicts(const struct monitor *monitor, int i)
{
	int64_t threshold_ns = monitor->settings.threshold_ns;

	if (monitor->directions[i].is_slow)
		return excess_ns(monitor, i) < threshold_ns / 2;
	return excess_ns(monitor, i) > threshold_ns;
}

/* A slow direction's time has moved so far that its plan is no longer made for it. */
static bool has_moved(const struct monitor *monitor, const struct direction *direction)
{
	int64_t change_ns = llabs(direction->transfer_ns - direction->reported_ns);

	return change_ns > direction->reported_ns / 5 && change_ns > monitor->settings.threshold_ns;
}

static bool update_direction(struct monitor *monitor, int i, int iteration)
{
	struct direction *direction = &monitor->directions[i];
	int needed = direction->is_slow ? monitor->settings.clear_iterations
	                                : monitor->settings.confirm_iterations;

	if (direction->n_samples == 0)
		return false;
	direction->transfer_ns = stats_quantile_ns(direction->samples, direction->n_samples, 0.5);
	direction->n_samples = 0;
	if (!contradicts(monitor, i)) {
		bool is_news = direction->is_slow && has_moved(monitor, direction);

		direction->n_agreeing = 0;
		if (is_news)
			direction->reported_ns = direction->transfer_ns;
		return is_news;
	}
	if (direction->n_agreeing++ == 0)
		direction->first_agreeing = iteration;
	if (direction->n_agreeing < needed)
		return false;
	direction->is_slow = !direction->is_slow;
	direction->since_iteration = direction->first_agreeing;
	direction->n_agreeing = 0;
	direction->reported_ns = direction->transfer_ns;
	return true;
}

static struct monitor_link link_state(const struct monitor *monitor, int link)
{
	struct monitor_link state = {.transfer_ns = monitor->healthy_ns[link],
	                             .since_iteration = -1};

	for (int i = link * DIRECTIONS; i < (link + 1) * DIRECTIONS; i++) {
		const struct direction *direction = &monitor->directions[i];

		if (!direction->is_slow)
			continue;
		if (!state.is_slow || direction->since_iteration < state.since_iteration)
			state.since_iteration = direction->since_iteration;
		if (!state.is_slow || direction->reported_ns > state.transfer_ns)
			state.transfer_ns = direction->reported_ns;
		state.is_slow = true;
	}
	return state;
}

bool monitor_edge(struct monitor *monitor, int iteration, struct monitor_link *links_out)
{
	bool is_news = false;

	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++)
		is_news |= update_direction(monitor, i, iteration);
	for (int link = 0; link < monitor->n_links; link++)
		links_out[link] = link_state(monitor, link);
	return is_news;
}

void monitor_drop_iteration(struct monitor *monitor)
{
	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++)
		monitor->directions[i].n_samples = 0;
}

void monitor_reset(struct monitor *monitor)
{
	monitor_drop_iteration(monitor);
	for (int i = 0; i < monitor->n_links * DIRECTIONS; i++) {
		struct direction *direction = &monitor->directions[i];

		direction->is_slow = false;
		direction->n_agreeing = 0;
		direction->transfer_ns = monitor->healthy_ns[i / DIRECTIONS];
		direction->reported_ns = direction->transfer_ns;
	}
}
