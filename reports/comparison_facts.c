/* comparison_facts.c - what the live runs of a schedule were like, over its repeats. */
#include "reports/comparison_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "reports/settings.h"

static const double FOREIGN_CORES_MAX = 0.25;

enum way { WAY_MEAN, WAY_SUM, WAY_MOST };

/* Where each fact stands in a run's row, and how repeats become one number. */
static const struct {
	const char *key;
	size_t at;
	enum way way;
} facts[] = {
	{"workers", offsetof(struct comparison_facts, n_workers), WAY_MEAN},
	{"speed", offsetof(struct comparison_facts, speed), WAY_MEAN},
	{"lowered_from", offsetof(struct comparison_facts, lowered_from), WAY_MEAN},
	{"payload_bytes", offsetof(struct comparison_facts, payload_bytes), WAY_MEAN},
	{"ops", offsetof(struct comparison_facts, n_ops), WAY_SUM},
	{"late_mean_us", offsetof(struct comparison_facts, late_mean_us), WAY_MEAN},
	{"late_max_us", offsetof(struct comparison_facts, late_max_us), WAY_MOST},
	{"overruns", offsetof(struct comparison_facts, n_overruns), WAY_SUM},
	{"op_cpu_us", offsetof(struct comparison_facts, op_cpu_us), WAY_MEAN},
	{"foreign_cores", offsetof(struct comparison_facts, foreign_cores), WAY_MOST},
	{"between_s", offsetof(struct comparison_facts, between_s), WAY_SUM},
	{"applied", offsetof(struct comparison_facts, n_applied), WAY_SUM},
	{"apply_mean_us", offsetof(struct comparison_facts, apply_mean_us), WAY_MEAN},
	{"apply_max_us", offsetof(struct comparison_facts, apply_max_us), WAY_MOST},
	{"outages", offsetof(struct comparison_facts, n_outages), WAY_SUM},
	{"notice_max_us", offsetof(struct comparison_facts, notice_max_us), WAY_MOST},
	{"recover_max_ms", offsetof(struct comparison_facts, recover_max_ms), WAY_MOST},
	{"packets", offsetof(struct comparison_facts, n_packets), WAY_SUM},
	{"lost", offsetof(struct comparison_facts, n_lost), WAY_SUM},
	{"dropped", offsetof(struct comparison_facts, n_dropped), WAY_SUM},
	{"relayed", offsetof(struct comparison_facts, n_relayed), WAY_SUM},
	{"relay_mean_us", offsetof(struct comparison_facts, relay_mean_us), WAY_MEAN},
	{"relay_p99_us", offsetof(struct comparison_facts, relay_p99_us), WAY_MOST},
	{"relay_max_us", offsetof(struct comparison_facts, relay_max_us), WAY_MOST},
};

enum { N_FACTS = sizeof(facts) / sizeof(facts[0]) };

/* One fact over the repeats that count and know it. */
static double combine(const struct run_set *set, const struct run_group *group, size_t fact)
{
	double sum = 0, most = -INFINITY;
	int n = 0;

	for (size_t r = 0; r < group->n_counting; r++) {
		const struct stored_run *run = &set->runs[group->members[r]];
		double value = settings_number(run->facts_json, facts[fact].key);

		if (!isfinite(value))
			continue;
		sum += value;
		most = fmax(most, value);
		n++;
	}
	if (n == 0)
		return NAN;
	switch (facts[fact].way) {
	case WAY_MEAN:
		return sum / n;
	case WAY_SUM:
		return sum;
	case WAY_MOST:
		return most;
	}
	return NAN;
}

/* The list that facts have, as JSON; NULL: none, or they are no JSON. */
static char *copy_timeline(const char *facts_json)
{
	struct setting *read = NULL;
	char *timeline = NULL;
	size_t n = 0;

	if (settings_read(facts_json, &read, &n, NULL))
		return NULL;
	for (size_t i = 0; i < n && !timeline; i++)
		if (strcmp(read[i].path, "timeline") == 0)
			timeline = strdup(read[i].value);
	settings_free(read, n);
	return timeline;
}

void comparison_add_facts(const struct run_set *set, const struct run_group *group,
                          struct comparison_schedule *out)
{
	out->timeline_json = copy_timeline(set->runs[group->members[0]].facts_json);
	for (size_t i = 0; i < N_FACTS; i++) {
		double value = combine(set, group, i);

		memcpy((char *)&out->facts + facts[i].at, &value, sizeof(value));
		out->has_facts |= !isnan(value);
	}
}

bool comparison_is_crowded(double foreign_cores)
{
	return foreign_cores > FOREIGN_CORES_MAX;
}
