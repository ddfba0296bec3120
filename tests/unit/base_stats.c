/* base_stats.c - checks medians, quantiles and means against known values. */
#include "engine/base/stats.h"

#include <math.h>

#include "tests/tap.h"

static void check_quantiles(void)
{
	/* R: quantile(c(3, 1, 4, 1, 5, 9, 2, 6), c(0, .1, .25, .5, .9, .95, 1)) */
	static const double ratios[] = {0, 0.1, 0.25, 0.5, 0.9, 0.95, 1};
	static const double wanted[] = {1, 1, 1.75, 3.5, 6.9, 7.95, 9};

	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		double values[] = {3, 1, 4, 1, 5, 9, 2, 6};

		tap_is_number(stats_quantile(values, 8, ratios[i]), wanted[i], 1e-12,
		              "quantile %g agrees with R", ratios[i]);
	}
}

static void check_edges(void)
{
	double one[] = {7}, two[] = {4, 2}, infinite[] = {1, INFINITY, 2},
	       nans[] = {NAN, 3, NAN, 1};

	tap_is_number(stats_quantile(NULL, 0, 0.5), 0, 0, "no samples have quantile 0");
	tap_is_number(stats_mean(NULL, 0), 0, 0, "no samples have mean 0");
	tap_is_int(stats_quantile_ns(NULL, 0, 0.5), 0, "no times have quantile 0");
	tap_is_number(stats_quantile(one, 1, 0.95), 7, 0, "one sample is every quantile");
	tap_is_number(stats_median(two, 2), 3, 0, "the median of two lies between them");
	tap_is_number(two[0], 2, 0, "values are sorted afterwards");
	tap_is_number(stats_quantile(two, 2, -1), 2, 0, "a ratio below 0 is 0");
	tap_is_number(stats_quantile(two, 2, 7), 4, 0, "a ratio above 1 is 1");
	tap_is_number(stats_median(infinite, 3), 2, 0, "an infinite neighbour is not touched");
	tap_is_number(stats_quantile(nans, 4, 0), 1, 0, "what is no number goes last");
	tap_ok(isnan(stats_quantile(nans, 4, 1)), "and is found there");
}

static void check_means(void)
{
	double values[] = {1, 2, 4}, tiny[1000];

	for (int i = 0; i < 1000; i++)
		tiny[i] = 0.1;
	tap_is_number(stats_mean(values, 3), 7.0 / 3, 1e-15, "the mean is the mean");
	tap_is_number(stats_mean(tiny, 1000), 0.1, 0, "a mean of equals is exact");
}

static void check_ns(void)
{
	int64_t four[] = {40, 10, 30, 20}, two[] = {1, 2}, negative[] = {-1, -2};
	int64_t wide[] = {INT64_MAX, INT64_MIN}, large[] = {INT64_MAX, INT64_MAX - 2};

	tap_is_int(stats_quantile_ns(four, 4, 0.5), 25, "the median of four times");
	tap_is_int(stats_quantile_ns(four, 4, 1), 40, "the last of four times");
	tap_is_int(stats_quantile_ns(two, 2, 0.5), 2, "a half is rounded up");
	tap_is_int(stats_quantile_ns(two, 2, 0.49), 1, "less than a half is rounded down");
	tap_is_int(stats_quantile_ns(negative, 2, 0.5), -1, "up is up below zero, too");
	tap_is_int(stats_quantile_ns(wide, 2, 0.5), 0, "the widest gap does not overflow");
	tap_is_int(stats_quantile_ns(wide, 2, 0), INT64_MIN, "the smallest time is kept");
	tap_is_int(stats_quantile_ns(large, 2, 0.5), INT64_MAX - 1, "large times stay exact");
}

int main(void)
{
	check_quantiles();
	check_edges();
	check_means();
	check_ns();
	return tap_done();
}
