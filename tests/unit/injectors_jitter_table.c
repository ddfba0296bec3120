/* injectors_jitter_table.c - the tables that netem draws jitter from have the right shapes. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "injectors/jitter_table.h"
#include "tests/tap.h"

enum { N_DRAWS = 200000 };

static double sigmas[JITTER_TABLE_ENTRIES];

static double deviation(double mean)
{
	double sum = 0;

	for (int i = 0; i < JITTER_TABLE_ENTRIES; i++)
		sum += (sigmas[i] - mean) * (sigmas[i] - mean);
	return sqrt(sum / JITTER_TABLE_ENTRIES);
}

static void load(enum distribution distribution)
{
	int16_t table[JITTER_TABLE_ENTRIES];
	int n_falls = 0;

	jitter_table_fill(distribution, table);
	for (int i = 0; i < JITTER_TABLE_ENTRIES; i++) {
		sigmas[i] = (double)table[i] / JITTER_TABLE_SIGMA;
		n_falls += i > 0 && table[i] < table[i - 1];
	}
	tap_is_int(n_falls, 0, "%s: entries ascend", distribution_name(distribution));
}

static void check_moments(enum distribution distribution, double want_mean, double want_deviation)
{
	double mean = stats_mean(sigmas, JITTER_TABLE_ENTRIES);

	tap_is_number(mean, want_mean, 0.002, "%s: its mean", distribution_name(distribution));
	tap_is_number(deviation(mean), want_deviation, 0.005, "%s: its deviation",
	              distribution_name(distribution));
}

/* The table's quantiles are those of the draws that the simulator makes. */
static void check_draws(enum distribution distribution, double (*draw)(uint64_t bits))
{
	static const double ratios[] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.98};
	double *draws = malloc(N_DRAWS * sizeof(*draws));

	for (int i = 0; i < N_DRAWS; i++)
		draws[i] = draw(rng_mix(3, (uint64_t)i));
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		tap_is_number(stats_quantile(sigmas, JITTER_TABLE_ENTRIES, ratios[i]),
		              stats_quantile(draws, N_DRAWS, ratios[i]), 0.03,
		              "%s: its quantile %g is that of the draws",
		              distribution_name(distribution), ratios[i]);
	free(draws);
}

int main(void)
{
	load(DISTRIBUTION_UNIFORM);
	check_moments(DISTRIBUTION_UNIFORM, 0, 1 / sqrt(3));
	tap_is_number(sigmas[0], -1, 0.001, "uniform: it begins at minus the jitter");
	tap_is_number(sigmas[JITTER_TABLE_ENTRIES - 1], 1, 0.001, "and ends at plus");
	load(DISTRIBUTION_NORMAL);
	check_moments(DISTRIBUTION_NORMAL, 0, 1);
	check_draws(DISTRIBUTION_NORMAL, rng_normal);
	load(DISTRIBUTION_PARETO);
	check_moments(DISTRIBUTION_PARETO, -0.023, 0.737);
	check_draws(DISTRIBUTION_PARETO, rng_pareto);
	tap_is_number(sigmas[JITTER_TABLE_ENTRIES - 1], 4, 0.001, "pareto: it is cut at 4 sigma");
	load(DISTRIBUTION_PARETONORMAL);
	check_moments(DISTRIBUTION_PARETONORMAL, -0.021, 0.774);
	check_draws(DISTRIBUTION_PARETONORMAL, rng_paretonormal);
	return tap_done();
}
