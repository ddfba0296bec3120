/* base_rng.c - checks the distributions of rng.h.
 *
 * Moments are summed over equal strata of the bits, not over random draws: the sums converge fast
 * and give the same numbers every time. */
#include "engine/base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/tap.h"

enum { N_STRATA = 1 << 20 };

struct moments {
	double mean;
	double variance;
};

static uint64_t stratum(int i)
{
	return ((uint64_t)i << 44) + (UINT64_C(1) << 43);
}

static struct moments moments_of(double (*draw)(uint64_t bits), bool is_hashed)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < N_STRATA; i++) {
		double x = draw(is_hashed ? rng_mix(5, (uint64_t)i) : stratum(i));

		sum += x;
		squares += x * x;
	}
	return (struct moments){sum / N_STRATA, squares / N_STRATA - pow(sum / N_STRATA, 2)};
}

static void check_mix(void)
{
	double n_flipped = 0;
	int n_equal = 0;

	tap_ok(rng_mix(1, 2) == rng_mix(1, 2), "the same seed and key draw the same");
	tap_ok(rng_mix(1, 2) != rng_mix(2, 1), "seed and key do not change places");
	tap_ok(rng_mix(0, 0) != 0, "zeros are mixed, too");
	for (uint64_t seed = 0; seed < 300; seed++)
		for (uint64_t key = 0; key < 300; key++)
			n_equal += rng_mix(seed, key) == rng_mix(seed + 1, key) ||
			           rng_mix(seed, key) == rng_mix(seed + 1, key + 1) ||
			           rng_mix(seed, key) == rng_mix(seed + 1, key - 1);
	tap_is_int(n_equal, 0, "neighbours draw different values");
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t i = 0; i < 64; i++) {
			uint64_t flip = UINT64_C(1) << bit;

			n_flipped += __builtin_popcountll(rng_mix(i, 7) ^ rng_mix(i ^ flip, 7));
			n_flipped += __builtin_popcountll(rng_mix(7, i) ^ rng_mix(7, i ^ flip));
		}
	tap_is_number(n_flipped / (64 * 64 * 2), 32, 0.2,
	              "one bit of seed or key flips half of the bits");
}

static void check_uniform(void)
{
	struct moments m = moments_of(rng_uniform, true);

	tap_is_number(rng_uniform(0), 0, 0, "the smallest uniform is 0");
	tap_ok(rng_uniform(UINT64_MAX) < 1, "the largest uniform is below 1");
	tap_is_number(m.mean, 0.5, 0.002, "hashed keys have a uniform's mean");
	tap_is_number(m.variance, 1.0 / 12, 0.001, "hashed keys have a uniform's variance");
}

static void check_normal(void)
{
	double worst = 0;
	struct moments m = moments_of(rng_normal, false);

	tap_is_number(m.mean, 0, 1e-9, "normal has mean 0");
	tap_is_number(m.variance, 1, 1e-4, "normal has variance 1");
	m = moments_of(rng_normal, true);
	tap_is_number(m.mean, 0, 0.005, "normal of hashed keys has mean 0");
	tap_is_number(m.variance, 1, 0.01, "normal of hashed keys has variance 1");
	for (int i = 0; i < N_STRATA; i += 97) {
		double p = (double)(stratum(i) >> 12) * 0x1p-52 + 0x1p-53;
		double x = rng_normal(stratum(i));
		double density = exp(-x * x / 2) / sqrt(2 * M_PI);
		double error = (erfc(-x / sqrt(2)) / 2 - p) / density;

		/* Near 0 only the absolute error means anything. */
		worst = tap_worst(worst, fabs(error) / fmax(fabs(x), 0.01));
	}
	tap_ok(worst < 1.2e-9, "the inverse is right to 1.2e-9, found %.3g", worst);
	tap_is_number(rng_normal(0), -8.2095, 0.001, "the lowest draw is finite");
	tap_is_number(rng_normal(UINT64_MAX), 8.2095, 0.001, "the highest draw is finite");
}

static void check_heavy_tails(void)
{
	struct moments m = moments_of(rng_pareto, false);
	int n_below = 0;

	/* The variance is in the tail: the strata cannot hold the last per cent of it. */
	tap_is_number(m.mean, 0, 0.001, "pareto has mean 0");
	tap_is_number(m.variance, 1, 0.03, "pareto has variance 1");
	tap_is_number(rng_pareto(UINT64_MAX), -0.5 / sqrt(0.75), 1e-9,
	              "pareto's lowest value is its scale's");
	tap_ok(isfinite(rng_pareto(0)), "pareto's highest value is finite");
	tap_is_number(rng_pareto(UINT64_C(1) << 63), (cbrt(2) - 1.5) / sqrt(0.75), 1e-9,
	              "pareto's median is the cube root of 2, shifted and scaled");

	m = moments_of(rng_paretonormal, true);
	tap_is_number(m.mean, 0, 0.005, "paretonormal has mean 0");
	tap_is_number(m.variance, 1, 0.05, "paretonormal has variance 1");
	for (int i = 0; i < N_STRATA; i++)
		n_below += rng_paretonormal(rng_mix(9, (uint64_t)i)) < 0;
	tap_ok(n_below > 0.6 * N_STRATA,
	       "paretonormal leans to the left, with a tail to the right");
	tap_ok(isfinite(rng_paretonormal(0)) && isfinite(rng_paretonormal(UINT64_MAX)),
	       "paretonormal's ends are finite");
}

int main(void)
{
	check_mix();
	check_uniform();
	check_normal();
	check_heavy_tails();
	return tap_done();
}
