/* beside.c - a live comparison beside the same in virtual time. */
#include "reports/beside.h"

#include <math.h>
#include <string.h>

/* Index of the schedule of that name; n_schedules: none. */
static size_t find_schedule(const struct comparison *comparison, const char *name)
{
	size_t i = 0;

	while (i < comparison->n_schedules && strcmp(comparison->schedules[i].name, name) != 0)
		i++;
	return i;
}

/* Events have no names of their own: what they do and when tells them apart. */
static const struct comparison_event *find_event(const struct comparison *comparison,
                                                 const struct comparison_event *like)
{
	for (size_t i = 0; i < comparison->n_events; i++) {
		const struct comparison_event *event = &comparison->events[i];

		if (event->first_iteration == like->first_iteration &&
		    event->last_iteration == like->last_iteration &&
		    strcmp(event->label, like->label) == 0 &&
		    strcmp(event->links, like->links) == 0)
			return event;
	}
	return NULL;
}

/* Numbers of runs that did not come to their end are over other iterations. */
static struct beside pair(const struct comparison_schedule *live,
                          const struct comparison_schedule *simulated, double measured_value,
                          double simulated_value)
{
	bool are_done = comparison_is_done(live) && comparison_is_done(simulated);

	return (struct beside){
		.measured = measured_value,
		.simulated = simulated_value,
		.error_ratio = are_done ? measured_value / simulated_value - 1 : NAN,
	};
}

struct beside beside_total_s(const struct comparison *live, const struct comparison *simulated,
                             size_t schedule)
{
	const struct comparison_schedule *mine = &live->schedules[schedule];
	size_t i = find_schedule(simulated, mine->name);

	if (i == simulated->n_schedules)
		return (struct beside){mine->total_s, NAN, NAN};
	return pair(mine, &simulated->schedules[i], mine->total_s, simulated->schedules[i].total_s);
}

struct beside beside_p50_ms(const struct comparison *live, const struct comparison *simulated,
                            size_t schedule)
{
	const struct comparison_schedule *mine = &live->schedules[schedule];
	size_t i = find_schedule(simulated, mine->name);

	if (i == simulated->n_schedules)
		return (struct beside){mine->p50_ms, NAN, NAN};
	return pair(mine, &simulated->schedules[i], mine->p50_ms, simulated->schedules[i].p50_ms);
}

struct beside beside_event_ms(const struct comparison *live, const struct comparison *simulated,
                              size_t event, size_t schedule)
{
	const struct comparison_schedule *mine = &live->schedules[schedule];
	const struct comparison_event *other = find_event(simulated, &live->events[event]);
	double measured = live->events[event].p50_ms[schedule];
	size_t i = find_schedule(simulated, mine->name);

	if (i == simulated->n_schedules || !other)
		return (struct beside){measured, NAN, NAN};
	return pair(mine, &simulated->schedules[i], measured, other->p50_ms[i]);
}
