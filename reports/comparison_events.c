/* comparison_events.c - each fault event of the scenario, and what it did to every schedule. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"

/* scratch has room for every iteration of the run. */
static double run_p50(const struct run_numbers *numbers, int n_iterations, int first, int last,
                      double *scratch)
{
	size_t n = 0;

	for (int i = first; i <= last && i < n_iterations; i++)
		if (!isnan(numbers->iteration_ms[i]))
			scratch[n++] = numbers->iteration_ms[i];
	return n ? stats_median(scratch, n) : NAN;
}

/* Mean over the repeats that count and got there. */
static double group_p50(const struct run_set *set, const struct run_group *group,
                        const struct comparison_event *event, double *scratch)
{
	double sum = 0;
	size_t n = 0;

	if (event->first_iteration < 0)
		return NAN;
	for (size_t r = 0; r < group->n_counting; r++) {
		size_t member = group->members[r];
		double p50 = run_p50(&set->numbers[member], set->runs[member].n_iterations,
		                     event->first_iteration, event->last_iteration, scratch);

		if (isnan(p50))
			continue;
		sum += p50;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static double published_ms(const struct stored_event *event, const char *schedule)
{
	for (size_t i = 0; i < event->n_published; i++)
		if (strcmp(event->published[i].schedule, schedule) == 0)
			return (double)event->published[i].p50_ns / (double)NS_PER_MS;
	return NAN;
}

static int fill_event(const struct run_set *set, const struct stored_event *event, int n_asked,
                      double *scratch, struct comparison_event *out)
{
	out->event = event->event;
	out->label = strdup(event->label ? event->label : "");
	out->links = strdup(event->links ? event->links : "");
	out->p50_ms = array_new(set->n_groups, sizeof(double));
	out->published_ms = array_new(set->n_groups, sizeof(double));
	if (!out->label || !out->links || !out->p50_ms || !out->published_ms)
		return -ENOMEM;
	out->first_iteration = event->first_iteration < 0 ? -1 : event->first_iteration;
	out->last_iteration = event->last_iteration;
	if (out->first_iteration < 0)
		out->last_iteration = -1;
	else if (out->last_iteration < 0 || out->last_iteration >= n_asked)
		out->last_iteration = n_asked - 1;
	for (size_t g = 0; g < set->n_groups; g++) {
		const char *schedule = set->runs[set->groups[g].members[0]].schedule;

		out->p50_ms[g] = group_p50(set, &set->groups[g], out, scratch);
		out->published_ms[g] = published_ms(event, schedule);
	}
	return 0;
}

static int fill_events(const struct run_set *set, const struct stored_event *events,
                       size_t n_events, struct comparison *out)
{
	double *scratch = array_new((size_t)out->n_iterations_asked, sizeof(*scratch));
	int rc = 0;

	out->events = array_new(n_events, sizeof(*out->events));
	if (!out->events || !scratch)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < n_events; i++) {
		/* An event beyond the iterations asked for did not happen. */
		if (events[i].first_iteration >= out->n_iterations_asked)
			continue;
		rc = fill_event(set, &events[i], out->n_iterations_asked, scratch,
		                &out->events[out->n_events++]);
	}
	free(scratch);
	return rc;
}

int comparison_add_events(const struct run_set *set, struct store *store, struct comparison *out,
                          struct err *err)
{
	struct stored_event *events;
	size_t n_events;
	int rc = store_read_events(store, set->runs[0].run, &events, &n_events, err);

	if (rc)
		return rc;
	if (fill_events(set, events, n_events, out))
		rc = err_set(err, -ENOMEM, "out of memory");
	stored_events_fini(events, n_events);
	return rc;
}
