/* comparison_schedules.c - the runs of each schedule become one row. */
#include "reports/comparison_internal.h"
#include "reports/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

/* The numbers that are means over repeats. */
static const struct {
	size_t from, to;
} averaged[] = {
#define AVERAGED(member)                                                                           \
	{                                                                                          \
		offsetof(struct run_numbers, member), offsetof(struct comparison_schedule, member) \
	}
	AVERAGED(total_s),       AVERAGED(p50_ms),       AVERAGED(p95_ms),
	AVERAGED(mean_ms),       AVERAGED(compute_ms),   AVERAGED(wait_ms),
	AVERAGED(blocked_ms),    AVERAGED(bubble_ratio), AVERAGED(blocked_ratio),
	AVERAGED(samples_per_s), AVERAGED(repeated_s),
#undef AVERAGED
};

static double read_double(const void *base, size_t offset)
{
	double value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static void average(const struct run_set *set, const struct run_group *group,
                    struct comparison_schedule *out)
{
	for (size_t i = 0; i < sizeof(averaged) / sizeof(averaged[0]); i++) {
		double sum = 0;

		for (size_t r = 0; r < group->n_counting; r++)
			sum += read_double(&set->numbers[group->members[r]], averaged[i].from);
		sum /= (double)group->n_counting;
		memcpy((char *)out + averaged[i].to, &sum, sizeof(sum));
	}
}

/* The schedule's own name, with a run's number where another group has the same. */
static char *group_name(const struct run_set *set, size_t group)
{
	const struct stored_run *run = &set->runs[set->groups[group].members[0]];
	char *name = NULL;
	bool is_unique = true;

	for (size_t g = 0; g < set->n_groups; g++)
		if (g != group &&
		    strcmp(set->runs[set->groups[g].members[0]].schedule, run->schedule) == 0)
			is_unique = false;
	if (is_unique)
		return strdup(run->schedule);
	return asprintf(&name, "%s #%" PRId64, run->schedule, run->run) < 0 ? NULL : name;
}

/* "done", or the status and the reason of the first run that did not finish. */
static char *group_status(const struct run_set *set, const struct run_group *group)
{
	char *text = NULL;

	for (size_t i = 0; i < group->n_members; i++) {
		const struct stored_run *run = &set->runs[group->members[i]];

		if (strcmp(run->status, "done") == 0)
			continue;
		if (!run->reason || !*run->reason)
			return strdup(run->status);
		return asprintf(&text, "%s: %s", run->status, run->reason) < 0 ? NULL : text;
	}
	return strdup("done");
}

static char *group_plane(const struct run_set *set, const struct run_group *group)
{
	bool has_stream = false, has_delegate = false;

	for (size_t i = 0; i < group->n_members; i++) {
		has_stream |= set->numbers[group->members[i]].has_stream;
		has_delegate |= set->numbers[group->members[i]].has_delegate;
	}
	if (has_stream && has_delegate)
		return strdup("stream, delegate");
	if (!has_stream && !has_delegate)
		return strdup(set->runs[group->members[0]].plane);
	return strdup(plane_kind_name(has_stream ? PLANE_STREAM : PLANE_DELEGATE));
}

/* What the picture and the repeats need: of the first repeat, and of each. */
static int copy_details(const struct run_set *set, const struct run_group *group, int n_asked,
                        struct comparison_schedule *out)
{
	const struct run_numbers *first = &set->numbers[group->members[0]];
	int n_known = set->runs[group->members[0]].n_iterations;

	out->iteration_ms = array_new((size_t)n_asked, sizeof(double));
	out->repeat_total_s = array_new(group->n_counting, sizeof(double));
	out->repeat_p50_ms = array_new(group->n_counting, sizeof(double));
	out->restart_iterations =
		array_copy(first->restart_iterations, first->n_restart_iterations, sizeof(int));
	if (!out->iteration_ms || !out->repeat_total_s || !out->repeat_p50_ms ||
	    !out->restart_iterations)
		return -ENOMEM;
	out->n_restart_iterations = first->n_restart_iterations;
	for (int i = 0; i < n_asked; i++)
		out->iteration_ms[i] = i < n_known ? first->iteration_ms[i] : NAN;
	for (size_t r = 0; r < group->n_counting; r++) {
		out->repeat_total_s[r] = set->numbers[group->members[r]].total_s;
		out->repeat_p50_ms[r] = set->numbers[group->members[r]].p50_ms;
	}
	memcpy(out->loss_digest, first->loss_digest, sizeof(out->loss_digest));
	return 0;
}

static int fill_schedule(const struct run_set *set, size_t g, int n_asked,
                         struct comparison_schedule *out)
{
	const struct run_group *group = &set->groups[g];

	out->name = group_name(set, g);
	out->run = set->runs[group->members[0]].run;
	out->plane = group_plane(set, group);
	out->status = group_status(set, group);
	if (!out->name || !out->plane || !out->status)
		return -ENOMEM;
	out->n_repeats = (int)group->n_counting;
	out->n_iterations = INT_MAX;
	for (size_t r = 0; r < group->n_counting; r++) {
		const struct run_numbers *numbers = &set->numbers[group->members[r]];

		out->n_restarts += numbers->n_restarts;
		if (numbers->n_complete < out->n_iterations)
			out->n_iterations = numbers->n_complete;
	}
	out->is_adaptive = settings_is(set->runs[group->members[0]].settings_json,
	                               "schedule.adaptation", "replans");
	out->n_replans = set->numbers[group->members[0]].n_replans;
	out->first_replan = set->numbers[group->members[0]].first_replan;
	average(set, group, out);
	comparison_add_facts(set, group, out);
	if (copy_details(set, group, n_asked, out))
		return -ENOMEM;
	return comparison_copy_losses(set, g, n_asked, out);
}

int comparison_add_schedules(const struct run_set *set, struct comparison *out, struct err *err)
{
	out->schedules = array_new(set->n_groups, sizeof(*out->schedules));
	if (!out->schedules)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t g = 0; g < set->n_groups; g++) {
		out->n_schedules++;
		if (fill_schedule(set, g, out->n_iterations_asked, &out->schedules[g]))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}
