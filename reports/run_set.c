/* run_set.c - which runs of a comparison are repeats of each other. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

/* The group that run belongs to; n_groups: none yet. */
static size_t find_group(const struct run_set *set, const struct stored_run *run)
{
	for (size_t g = 0; g < set->n_groups; g++) {
		const struct stored_run *first = &set->runs[set->groups[g].members[0]];

		if (first->comparison == run->comparison && first->is_control == run->is_control &&
		    strcmp(first->schedule, run->schedule) == 0)
			return g;
	}
	return set->n_groups;
}

/* Finished repeats come first, and only they count when there are any. */
static void order_members(const struct run_set *set, struct run_group *group)
{
	size_t n_done = 0;

	for (size_t i = 0; i < group->n_members; i++) {
		size_t member = group->members[i];

		if (strcmp(set->runs[member].status, "done") != 0)
			continue;
		memmove(&group->members[n_done + 1], &group->members[n_done],
		        (i - n_done) * sizeof(*group->members));
		group->members[n_done++] = member;
	}
	group->n_counting = n_done ? n_done : group->n_members;
}

/* Take the control out of the groups, if the schedule that it repeats is among them. */
static void set_control_apart(struct run_set *set)
{
	for (size_t g = 0; g < set->n_groups; g++) {
		const struct stored_run *run = &set->runs[set->groups[g].members[0]];
		struct stored_run base = *run;
		size_t controlled;

		base.is_control = false;
		controlled = find_group(set, &base);
		if (!run->is_control || controlled == set->n_groups)
			continue;
		set->control = set->groups[g];
		memmove(&set->groups[g], &set->groups[g + 1],
		        (--set->n_groups - g) * sizeof(*set->groups));
		set->controlled = controlled - (controlled > g);
		return;
	}
}

int run_set_group(struct run_set *set, struct err *err)
{
	set->groups = array_new(set->n_runs, sizeof(*set->groups));
	if (!set->groups)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < set->n_runs; i++) {
		size_t g = find_group(set, &set->runs[i]);
		struct run_group *group = &set->groups[g];

		if (g == set->n_groups) {
			group->members = array_new(set->n_runs, sizeof(*group->members));
			if (!group->members)
				return err_set(err, -ENOMEM, "out of memory");
			set->n_groups++;
		}
		group->members[group->n_members++] = i;
	}
	for (size_t g = 0; g < set->n_groups; g++)
		order_members(set, &set->groups[g]);
	if (set->is_whole)
		set_control_apart(set);
	return 0;
}

void run_set_fini(struct run_set *set)
{
	for (size_t i = 0; set->numbers && i < set->n_runs; i++)
		run_numbers_fini(&set->numbers[i]);
	for (size_t g = 0; g < set->n_groups; g++)
		free(set->groups[g].members);
	free(set->control.members);
	free(set->numbers);
	free(set->groups);
	*set = (struct run_set){0};
}
