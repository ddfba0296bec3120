/* stats.c - medians and other summaries of samples. */
#include "engine/base/stats.h"

#include <math.h>
#include <stdlib.h>

/* Where a quantile lies among n sorted samples: between below and the next, nearer by weight. */
struct place {
	size_t below;
	double weight;
};

static struct place place_of(size_t n, double ratio)
{
	double position = (double)(n - 1) * fmin(fmax(ratio, 0), 1);
	struct place place = {.below = (size_t)position};

	if (place.below >= n - 1)
		return (struct place){.below = n - 1};
	place.weight = position - (double)place.below;
	return place;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	/* Values that are no numbers go last, so that the order is one. */
	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

double stats_quantile(double *values, size_t n, double ratio)
{
	struct place place;

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_doubles);
	place = place_of(n, ratio);
	/* Not computed when exact: an infinite neighbour times 0 is no number. */
	if (place.weight == 0)
		return values[place.below];
	return values[place.below] + place.weight * (values[place.below + 1] - values[place.below]);
}

double stats_median(double *values, size_t n)
{
	return stats_quantile(values, n, 0.5);
}

double stats_mean(const double *values, size_t n)
{
	long double sum = 0;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return (double)(sum / (long double)n);
}

int64_t stats_quantile_ns(int64_t *values, size_t n, double ratio)
{
	struct place place;
	uint64_t gap;

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_ns);
	place = place_of(n, ratio);
	if (place.weight == 0)
		return values[place.below];
	/* Unsigned: the gap between two int64_t may not fit into one. */
	gap = (uint64_t)values[place.below + 1] - (uint64_t)values[place.below];
	gap = (uint64_t)floorl((long double)gap * place.weight + 0.5L);
	return (int64_t)((uint64_t)values[place.below] + gap);
}
