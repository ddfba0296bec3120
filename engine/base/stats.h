/* stats.h - medians and other summaries of samples. */
#ifndef ENGINE_BASE_STATS_H
#define ENGINE_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* The value below which ratio of the samples lie, by linear interpolation between order statistics
 * (R's type 7). Reorders values. n 0: 0. */
double stats_quantile(double *values, size_t n, double ratio);
double stats_median(double *values, size_t n);
double stats_mean(const double *values, size_t n);

/* The same over nanoseconds, rounded half up. Reorders values. */
int64_t stats_quantile_ns(int64_t *values, size_t n, double ratio);

#endif
