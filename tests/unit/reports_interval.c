/* reports_interval.c - Student's t against published tables, and intervals against hand
 * calculation. */
#include "reports/interval.h"

#include <math.h>

#include "tests/tap.h"

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, critical values of Student's t (three
 * decimals). */
static const struct {
	double ratio, freedom, t;
} published[] = {
	{0.975, 1, 12.706}, {0.975, 2, 4.303},  {0.975, 3, 3.182},   {0.975, 4, 2.776},
	{0.975, 9, 2.262},  {0.975, 30, 2.042}, {0.975, 100, 1.984}, {0.90, 1, 3.078},
	{0.95, 5, 2.015},   {0.99, 7, 2.998},   {0.995, 10, 3.169},  {0.999, 20, 3.552},
};

static void test_quantiles(void)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
		tap_is_number(
			interval_t_quantile(published[i].ratio, published[i].freedom),
			published[i].t, 0.0005001,
			"the %g quantile of t with %g degrees of freedom is the published one",
			published[i].ratio, published[i].freedom);
	/* One and two degrees of freedom have closed forms: tan(pi (p - 1/2)) and 2 a / sqrt(1 - 4
	 * a^2) sqrt(1/2). */
	tap_is_number(interval_t_quantile(0.975, 1), tan(M_PI * 0.475), 1e-8,
	              "one degree of freedom is Cauchy's distribution");
	tap_is_number(interval_t_quantile(0.975, 2), 2 * 0.475 * sqrt(2 / (1 - 4 * 0.475 * 0.475)),
	              1e-9, "two degrees of freedom agree with their closed form");
	tap_is_number(interval_t_quantile(0.025, 7), -interval_t_quantile(0.975, 7), 1e-12,
	              "the distribution is symmetric");
	tap_is_number(interval_t_quantile(0.975, 1e7), 1.959964, 1e-5,
	              "many degrees of freedom are the normal distribution");
	tap_ok(isnan(interval_t_quantile(1, 3)) && isnan(interval_t_quantile(0.5, 0)),
	       "what has no quantile gives no number");
}

static void test_means(void)
{
	static const double values[] = {1, 2, 3}, same[] = {5, 5};
	struct interval interval = interval_of_mean(values, 3, 0.95);

	tap_is_number(interval.mean, 2, 1e-12, "the mean of 1, 2, 3 is 2");
	tap_is_number(interval.high, 2 + 4.302652730 / sqrt(3), 1e-8,
	              "half its interval is t times the standard error");
	tap_is_number(interval.low, 4 - interval.high, 1e-12,
	              "the interval is centred on the mean");
	interval = interval_of_mean(values, 1, 0.95);
	tap_ok(interval.mean == 1 && isnan(interval.low) && isnan(interval.high),
	       "one value has a mean but no interval");
	interval = interval_of_mean(same, 2, 0.95);
	tap_ok(interval.low == 5 && interval.high == 5,
	       "equal values have an interval of no width");
}

static void test_ratios(void)
{
	double ratios[] = {1.9, 2.0, 2.1}, inverse[] = {1 / 1.9, 1 / 2.0, 1 / 2.1};
	struct interval a = interval_of_ratio(ratios, 3, 0.95);
	struct interval b = interval_of_ratio(inverse, 3, 0.95);

	tap_is_number(a.mean, cbrt(1.9 * 2.0 * 2.1), 1e-12, "ratios have a geometric mean");
	tap_is_number(a.low * b.high, 1, 1e-12,
	              "the interval of a over b is that of b over a inverted");
	tap_ok(a.low < a.mean && a.mean < a.high, "the mean lies in its interval");
}

int main(void)
{
	test_quantiles();
	test_means();
	test_ratios();
	return tap_done();
}
