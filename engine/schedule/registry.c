/* registry.c - the schedules there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/schedule/policy_internal.h"

static const struct schedule_ops *const schedules[] = {
	&gpipe_ops,
	&one_f_one_b_ops,
	&zb_ops,
	&zb_cpu_ops,
	&adaptra_ops,
	&adaptra_cpu_ops,
	&adaptra_search_ops,
	&hold_ops,
	&csv_ops,
	&adaptra_published_ops,
	&adaptra_static_ops,
	NULL,
};

enum { N_SCHEDULES = sizeof(schedules) / sizeof(schedules[0]) - 1 };

static const char csv_prefix[] = "csv:";

const struct schedule_ops *const *schedule_list(void)
{
	return schedules;
}

const struct schedule_ops *schedule_find(const char *name, struct err *err)
{
	const char *names[N_SCHEDULES];

	if (strncmp(name, csv_prefix, strlen(csv_prefix)) == 0) {
		if (name[strlen(csv_prefix)])
			return &csv_ops;
		(void)err_set(err, -ENOENT, "schedule 'csv:' names no file; write csv:FILE");
		return NULL;
	}
	for (int i = 0; i < N_SCHEDULES; i++) {
		if (strcmp(schedules[i]->name, name) == 0)
			return schedules[i];
		names[i] = schedules[i] == &csv_ops ? "csv:FILE" : schedules[i]->name;
	}
	(void)nearest_refuse("schedule", name, names, N_SCHEDULES, err);
	return NULL;
}

struct plane_rules schedule_plane_rules(const struct schedule_ops *ops, enum plane_kind kind)
{
	switch (kind) {
	case PLANE_STREAM:
		return ops->is_batched ? plane_batched() : plane_unbatched();
	case PLANE_DELEGATE:
		break;
	}
	return plane_delegate();
}
