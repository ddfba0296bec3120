/* interval.h - how far a mean of a few repeats can be trusted. */
#ifndef REPORTS_INTERVAL_H
#define REPORTS_INTERVAL_H

#include <stddef.h>

/* Student's t: the value below which ratio of the distribution with freedom degrees lies; ratio in
 * (0, 1), freedom ≥ 1. Accurate to 1e-9 of the value. */
double interval_t_quantile(double ratio, double freedom);

/* Chance of a value above t, t ≥ 0. */
double interval_t_tail(double t, double freedom);

/* Mean and two-sided confidence interval of the mean of n values; low and high are NaN for n < 2.
 */
struct interval {
	double mean;
	double low;
	double high;
};

struct interval interval_of_mean(const double *values, size_t n, double confidence);

/* The same for ratios: computed over their logarithms, so that a over b is 1 / (b over a).
 * Overwrites ratios. */
struct interval interval_of_ratio(double *ratios, size_t n, double confidence);

#endif
