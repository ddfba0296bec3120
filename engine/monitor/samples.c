/* samples.c - median and its error, of the samples of one iteration.
 *
 * The error follows from the samples' noise as for normal noise; a wrong one is what the
 * change-point detector learns about. There are two estimates of the noise. The median absolute
 * deviation bears that up to half the samples are late by any amount. The difference between
 * neighbours in time does not see what comes again in every iteration: where messages queue for a
 * slow link, each takes longer than the one before, and the median is exact all the same. When they
 * disagree, one of both is the case, and the smaller is right; else both together err less. */
#include "engine/monitor/samples_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

enum { SAMPLES_MAX = 4096, INSERTION_MAX = 64 };

/* For normal noise: its standard deviation over the median absolute deviation and over the mean
 * difference of two samples, and a median's error over a mean's. */
static const double SD_OF_DEVIATION = 1.4826, SD_OF_DIFFERENCE = 0.8862, ERROR_OF_MEDIAN = 1.2533;

/* Differences of normal noise are hardly ever this many times its standard deviation; and the two
 * estimates hardly ever differ by this factor. */
static const double MOST_DIFFERENCE = 4, DISAGREEMENT = 2.5;

/* What is equal to within this is the same: clocks tick. And no spread says more than nothing. */
static const double LEAST_ERROR = 2e-4, MOST_ERROR = 1;

void samples_fini(struct samples *samples)
{
	free(samples->values);
	*samples = (struct samples){0};
}

void samples_add(struct samples *samples, int64_t value_ns)
{
	if (samples->n == SAMPLES_MAX)
		return;
	if (2 * samples->n + 2 > samples->capacity) {
		int64_t *values = array_grow(samples->values, &samples->capacity,
		                             2 * samples->n + 2, sizeof(*values));

		if (!values)
			return;
		samples->values = values;
	}
	samples->values[samples->n++] = value_ns < 0 ? 0 : value_ns;
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A pipeline's tens of messages are sorted faster without a call for every comparison. */
static void sort(int64_t *values, size_t n)
{
	if (n > INSERTION_MAX) {
		qsort(values, n, sizeof(*values), compare_ns);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		int64_t value = values[i];
		size_t at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

static int64_t median_of_sorted(const int64_t *values, size_t n)
{
	int64_t upper = values[n / 2], lower = values[(n - 1) / 2];

	return upper - (upper - lower) / 2;
}

/* The median distance from median_ns; of two in the middle the larger. Walks from the median
 * outwards, to whichever side is nearer. */
static int64_t deviation_of_sorted(const int64_t *values, size_t n, int64_t median_ns)
{
	size_t below = n / 2, above = n / 2; /* values in [below, above) are nearer */
	int64_t distance_ns = 0;

	while (above - below <= n / 2) {
		int64_t down_ns = below > 0 ? median_ns - values[below - 1] : INT64_MAX;
		int64_t up_ns = above < n ? values[above] - median_ns : INT64_MAX;

		if (down_ns < up_ns)
			below--;
		else
			above++;
		distance_ns = down_ns < up_ns ? down_ns : up_ns;
	}
	return distance_ns;
}

/* Mean distance of neighbours, in the order in which they were added; none counts as more than
 * most_ns, lest one late sample makes it. */
static double mean_difference(const int64_t *values, size_t n, double most_ns)
{
	double sum_ns = 0;

	for (size_t i = 1; i < n; i++)
		sum_ns += fmin(fabs((double)values[i] - (double)values[i - 1]), most_ns);
	return n > 1 ? sum_ns / (double)(n - 1) : 0;
}

/* Standard deviation of a sample's noise. */
static double noise_of(const int64_t *values, size_t n, double deviation_ns)
{
	double of_deviation_ns = SD_OF_DEVIATION * deviation_ns;
	double of_difference_ns =
		SD_OF_DIFFERENCE * mean_difference(values, n, MOST_DIFFERENCE * of_deviation_ns);
	double smaller_ns = fmin(of_deviation_ns, of_difference_ns),
	       larger_ns = fmax(of_deviation_ns, of_difference_ns);

	return larger_ns > DISAGREEMENT * smaller_ns ? smaller_ns : sqrt(smaller_ns * larger_ns);
}

bool samples_take(struct samples *samples, struct middle *out)
{
	size_t n = samples->n;
	double noise_ns, error;
	int64_t *sorted;

	samples->n = 0;
	if (n == 0)
		return false;
	sorted = samples->values + n;
	memcpy(sorted, samples->values, n * sizeof(*sorted));
	sort(sorted, n);
	out->median_ns = median_of_sorted(sorted, n);
	noise_ns = noise_of(samples->values, n,
	                    (double)deviation_of_sorted(sorted, n, out->median_ns));
	error = fmin(ERROR_OF_MEDIAN * noise_ns / ((double)out->median_ns + 1) / sqrt((double)n),
	             MOST_ERROR);
	out->variance = error * error + LEAST_ERROR * LEAST_ERROR;
	return true;
}

double level_of_ns(double duration_ns)
{
	return log(duration_ns + 1);
}

int64_t level_to_ns(double level)
{
	/* The largest level comes from the largest duration, which is not a double. */
	double duration_ns = exp(level) - 1;

	return duration_ns < 0x1p63 ? llround(duration_ns) : INT64_MAX;
}
