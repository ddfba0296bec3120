/* monitor_samples.c - tests the middle of an iteration's samples and the error that it is said to
 * have. */
#include <math.h>

#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "engine/monitor/samples_internal.h"
#include "tests/tap.h"

enum { N_MOST = 200, N_TRIALS = 2000, N_MESSAGES = 24 };

static struct middle middle_of(const int64_t *values, size_t n)
{
	struct middle middle = {.median_ns = -1};
	struct samples samples = {0};

	for (size_t i = 0; i < n; i++)
		samples_add(&samples, values[i]);
	samples_take(&samples, &middle);
	samples_fini(&samples);
	return middle;
}

/* Any number of samples, with and without equal ones. */
static void test_median(void)
{
	int64_t values[N_MOST];
	int n_wrong = 0;

	for (size_t n = 1; n <= N_MOST; n++)
		for (uint64_t width = 1; width < 100000; width *= 10) {
			int64_t found_ns;

			for (size_t i = 0; i < n; i++)
				values[i] = (int64_t)(rng_mix(n, i + width) % width);
			found_ns = middle_of(values, n).median_ns;
			n_wrong += found_ns != stats_quantile_ns(values, n, 0.5);
		}
	tap_is_int(n_wrong, 0, "the median is that of the samples, for 1 to %d of them", N_MOST);
}

/* Samples of sd 20 %; each is late five times with that probability. Returns how far medians really
 * are from 1 ms over how far they are said to be, root mean squares. */
static double error_ratio(int n, double late)
{
	double squares = 0, said = 0;
	int64_t values[N_MESSAGES];

	for (uint64_t trial = 0; trial < N_TRIALS; trial++) {
		struct middle middle;

		for (int i = 0; i < n; i++) {
			uint64_t key = rng_mix(trial, (uint64_t)i);
			double factor = exp(0.2 * rng_normal(rng_mix(key, 1)));

			if (rng_uniform(rng_mix(key, 2)) < late)
				factor *= 5;
			values[i] = (int64_t)(1e6 * factor);
		}
		middle = middle_of(values, (size_t)n);
		squares += pow(log((double)middle.median_ns / 1e6), 2);
		said += middle.variance;
	}
	return sqrt(squares / said);
}

static void test_error(void)
{
	tap_is_number(error_ratio(24, 0), 1, 0.15, "the error of 24 samples' median is known");
	tap_is_number(error_ratio(24, 0.01), 1, 0.15, "with outliers as well");
	tap_is_number(error_ratio(8, 0), 1, 0.3, "that of 8 roughly");
}

static double relative_error(const int64_t *values, size_t n)
{
	return sqrt(middle_of(values, n).variance);
}

static void test_patterns(void)
{
	int64_t values[N_MESSAGES];

	for (int i = 0; i < N_MESSAGES; i++)
		values[i] = 1000;
	tap_is_number(relative_error(values, N_MESSAGES), 2e-4, 1e-6, "equal ones leave no doubt");
	tap_is_number(relative_error(values, 1), 2e-4, 1e-6, "nor does one alone");
	for (int i = 0; i < 11; i++)
		values[2 * i] = 1000000;
	tap_is_int(middle_of(values, N_MESSAGES).median_ns, 1000,
	           "11 late ones of 24 do not count");
	tap_is_number(relative_error(values, N_MESSAGES), 2e-4, 1e-6, "and cast no doubt");
	for (int i = 0; i < N_MESSAGES; i++)
		values[i] = 1000 + 100 * i;
	tap_ok(relative_error(values, N_MESSAGES) < 0.02,
	       "nor do ones that queue, of which each takes longer than the one before");
	for (int i = 0; i < N_MESSAGES; i++)
		values[i] = 1000 + 100 * (7 * i % N_MESSAGES);
	tap_ok(relative_error(values, N_MESSAGES) > 0.06, "in another order, they do");
}

static void test_edges(void)
{
	static const int64_t wild[] = {INT64_MAX, INT64_MIN, INT64_MAX, -1, 0};
	struct samples samples = {0};
	struct middle middle;

	tap_ok(!samples_take(&samples, &middle), "without samples there is no middle");
	tap_is_int(middle_of(wild, 5).median_ns, 0, "less than no time counts as none");
	tap_ok(relative_error(wild, 5) <= 1.001, "an error is at most as large as what it is of");
	tap_is_int(middle_of(wild, 1).median_ns, INT64_MAX, "the longest time is kept");
	tap_ok(isfinite(level_of_ns((double)INT64_MAX)), "it has a level");
	for (int64_t ns = 1; ns < (int64_t)1 << 48; ns *= 7)
		if (level_to_ns(level_of_ns((double)ns)) != ns)
			tap_ok(false, "%lld ns are the same as a level", (long long)ns);
	tap_is_int(level_to_ns(level_of_ns(0)), 0, "no time is the same as a level");
	tap_is_int(level_to_ns(60), INT64_MAX, "a level beyond all times is the longest one");
	samples_fini(&samples);
}

int main(void)
{
	test_median();
	test_error();
	test_patterns();
	test_edges();
	return tap_done();
}
