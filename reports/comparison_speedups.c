/* comparison_speedups.c - each pair of schedules becomes a speedup. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/interval.h"

static const double CONFIDENCE = 0.95;

/* Ratios of the repeats that both have, paired by their numbers: interleaved repeats share the
 * machine's mood. */
static int paired_ratios(const struct run_set *set, const struct run_group *of,
                         const struct run_group *over, double *ratios)
{
	int n = 0;

	for (size_t i = 0; i < of->n_counting; i++) {
		for (size_t j = 0; j < over->n_counting; j++) {
			if (set->runs[of->members[i]].repeat != set->runs[over->members[j]].repeat)
				continue;
			ratios[n++] = set->numbers[over->members[j]].total_s /
			              set->numbers[of->members[i]].total_s;
			break;
		}
	}
	return n;
}

static int fill_speedup(const struct run_set *set, const struct comparison *comparison,
                        struct comparison_speedup *out)
{
	const struct comparison_schedule *of = &comparison->schedules[out->of];
	const struct comparison_schedule *over = &comparison->schedules[out->over];
	struct interval interval;
	double *ratios;

	out->ratio = out->low = out->high = NAN;
	if (!comparison_is_done(of) || !comparison_is_done(over) || !(of->total_s > 0))
		return 0;
	ratios = array_new(set->n_runs, sizeof(*ratios));
	if (!ratios)
		return -ENOMEM;
	out->ratio = over->total_s / of->total_s;
	out->pairs = paired_ratios(set, &set->groups[out->of], &set->groups[out->over], ratios);
	interval = interval_of_ratio(ratios, (size_t)out->pairs, CONFIDENCE);
	out->low = interval.low;
	out->high = interval.high;
	free(ratios);
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
