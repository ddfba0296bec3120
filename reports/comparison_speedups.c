/* comparison_speedups.c - each pair of schedules becomes a speedup, over all and in the steady
 * iterations. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

/* The two runs of one repeat. */
struct pair {
	size_t of, over;
};

/* Repeats that both have, paired by their numbers: interleaved repeats share the machine's mood
 * and the draws of the jitter. */
static size_t find_pairs(const struct run_set *set, const struct run_group *of,
                         const struct run_group *over, struct pair *out)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n_counting; i++) {
		for (size_t j = 0; j < over->n_counting; j++) {
			if (set->runs[of->members[i]].repeat != set->runs[over->members[j]].repeat)
				continue;
			out[n++] = (struct pair){of->members[i], over->members[j]};
			break;
		}
	}
	return n;
}

static struct paired paired_total(const struct run_set *set, const struct pair *pairs, size_t n,
                                  double *ratios)
{
	for (size_t i = 0; i < n; i++)
		ratios[i] = set->numbers[pairs[i].over].total_s / set->numbers[pairs[i].of].total_s;
	return paired_of(ratios, n);
}

static struct paired paired_steady(const struct run_set *set, const struct pair *pairs, size_t n,
                                   double *ratios)
{
	for (size_t i = 0; i < n; i++) {
		const struct stored_run *of = &set->runs[pairs[i].of];
		const struct stored_run *over = &set->runs[pairs[i].over];

		ratios[i] = set->numbers[pairs[i].over].p50_ms / set->numbers[pairs[i].of].p50_ms;
		if (of->n_warmup != over->n_warmup)
			ratios[i] = NAN;
	}
	return paired_of(ratios, n);
}

static int compare_groups(const struct run_set *set, const struct run_group *of,
                          const struct run_group *over, struct paired *total_out,
                          struct paired *steady_out)
{
	struct pair *pairs = array_new(set->n_runs, sizeof(*pairs));
	double *ratios = array_new(set->n_runs, sizeof(*ratios));
	int rc = -ENOMEM;

	if (pairs && ratios) {
		size_t n = find_pairs(set, of, over, pairs);

		*total_out = paired_total(set, pairs, n, ratios);
		*steady_out = paired_steady(set, pairs, n, ratios);
		rc = 0;
	}
	free(pairs);
	free(ratios);
	return rc;
}

static int fill_speedup(const struct run_set *set, const struct comparison *comparison,
                        struct comparison_speedup *out)
{
	const struct comparison_schedule *of = &comparison->schedules[out->of];
	const struct comparison_schedule *over = &comparison->schedules[out->over];
	struct paired total;
	double no_pair;

	out->ratio = out->low = out->high = NAN;
	out->steady = paired_of(&no_pair, 0);
	if (!comparison_is_done(of) || !comparison_is_done(over) || !(of->total_s > 0))
		return 0;
	if (compare_groups(set, &set->groups[out->of], &set->groups[out->over], &total,
	                   &out->steady))
		return -ENOMEM;
	out->ratio = over->total_s / of->total_s;
	out->pairs = total.pairs;
	out->low = total.low;
	out->high = total.high;
	return 0;
}

int comparison_add_speedups(const struct run_set *set, struct comparison *out, struct err *err)
{
	out->speedups = array_new(out->n_schedules * out->n_schedules, sizeof(*out->speedups));
	if (!out->speedups)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t of = 0; of < out->n_schedules; of++) {
		for (size_t over = 0; over < out->n_schedules; over++) {
			struct comparison_speedup *speedup = &out->speedups[out->n_speedups];

			if (of == over)
				continue;
			*speedup = (struct comparison_speedup){.of = of, .over = over};
			if (fill_speedup(set, out, speedup))
				return err_set(err, -ENOMEM, "out of memory");
			out->n_speedups++;
		}
	}
	return 0;
}

int comparison_add_control(const struct run_set *set, struct comparison *out, struct err *err)
{
	struct comparison_control *control = &out->control;

	if (set->control.n_members == 0)
		return 0;
	control->schedule = strdup(set->runs[set->control.members[0]].schedule);
	if (!control->schedule || compare_groups(set, &set->control, &set->groups[set->controlled],
	                                         &control->total, &control->steady))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}
