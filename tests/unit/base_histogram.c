/* base_histogram.c - quantiles of a histogram are those of its values, to one per cent. */
#include "engine/base/histogram.h"

#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "tests/tap.h"

enum { N_VALUES = 5000 };

static struct histogram histogram;

static void check_against_sorted(double most_ns)
{
	static const double ratios[] = {0.01, 0.5, 0.95, 1};
	double values[N_VALUES];

	memset(&histogram, 0, sizeof(histogram));
	for (int i = 0; i < N_VALUES; i++) {
		values[i] = floor(2000 * pow(most_ns / 2000, rng_uniform(rng_mix(7, (uint64_t)i))));
		histogram_add(&histogram, (int64_t)values[i]);
	}
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		double wanted = stats_quantile(values, N_VALUES, ratios[i]);
		double got = (double)histogram_quantile_ns(&histogram, ratios[i]);

		tap_is_number(got / wanted, 1, 0.012, "of values up to %g ns quantile %g is %.0f",
		              most_ns, ratios[i], wanted);
	}
}

static void check_edges(void)
{
	memset(&histogram, 0, sizeof(histogram));
	tap_is_int(histogram_quantile_ns(&histogram, 0.5), -1, "no values have no quantile");
	histogram_add(&histogram, -5);
	tap_ok(histogram_quantile_ns(&histogram, 0.5) < 1024, "a negative one is next to nothing");
	histogram_add(&histogram, INT64_MAX);
	tap_ok(histogram_quantile_ns(&histogram, 0) < 1024, "the least is the first");
	tap_ok(histogram_quantile_ns(&histogram, 1) > INT64_C(7000000000000),
	       "one that is too long for it is the longest it knows");
}

/* Neighbouring slots meet: every value lies in one that is about as long as it. */
static void check_borders(void)
{
	int n_wrong = 0;

	for (int bit = 10; bit < 43; bit++)
		for (int64_t value = (INT64_C(1) << bit) - 1; value <= (INT64_C(1) << bit) + 1;
		     value++) {
			memset(&histogram, 0, sizeof(histogram));
			histogram_add(&histogram, value);
			n_wrong +=
				value >= 1024 &&
				fabs((double)histogram_quantile_ns(&histogram, 1) / (double)value -
			             1) > 0.01;
		}
	tap_is_int(n_wrong, 0, "values beside powers of two are known to one per cent");
}

int main(void)
{
	check_against_sorted(1e6);
	check_against_sorted(5e12);
	check_edges();
	check_borders();
	return tap_done();
}
