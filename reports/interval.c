/* interval.c - how far a mean of a few repeats can be trusted.
 *
 * The t distribution's tail is the regularised incomplete beta function, by its continued fraction
 * (DLMF 8.17.22, evaluated by Lentz's method); the quantile by bisection, which cannot diverge and
 * is called a handful of times a report. A table of t values was rejected: it stops at some number
 * of repeats. */
#include "reports/interval.h"

#include <math.h>

#include "engine/base/stats.h"

enum { FRACTION_STEPS = 500, BISECTIONS = 200 };

/* One factor of Lentz's method for the continued fraction's term numerator; returns the change of
 * the value. */
static double lentz_step(double numerator, double *c, double *d)
{
	const double tiny = 1e-300;

	*d = 1 + numerator * *d;
	*d = 1 / (fabs(*d) < tiny ? tiny : *d);
	*c = 1 + numerator / *c;
	if (fabs(*c) < tiny)
		*c = tiny;
	return *c * *d;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change = lentz_step(even, &c, &d);

		value *= change;
		change = lentz_step(odd, &c, &d);
		value *= change;
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return value;
}

/* I_x(a, b) */
static double beta_regularised(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double interval_t_tail(double t, double freedom)
{
	return 0.5 * beta_regularised(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double interval_t_quantile(double ratio, double freedom)
{
	double tail = fmin(ratio, 1 - ratio), low = 0, high = 1;

	if (!(ratio > 0 && ratio < 1) || !(freedom >= 1))
		return NAN;
	while (interval_t_tail(high, freedom) > tail && high < 1e300)
		high *= 2;
	for (int i = 0; i < BISECTIONS && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (interval_t_tail(middle, freedom) > tail)
			low = middle;
		else
			high = middle;
	}
	return ratio < 0.5 ? -high : high;
}

struct interval interval_of_mean(const double *values, size_t n, double confidence)
{
	struct interval result = {.mean = n ? stats_mean(values, n) : NAN, .low = NAN, .high = NAN};
	double squares = 0, half;

	if (n < 2)
		return result;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - result.mean) * (values[i] - result.mean);
	half = interval_t_quantile(0.5 + confidence / 2, (double)(n - 1)) *
	       sqrt(squares / (double)(n - 1) / (double)n);
	result.low = result.mean - half;
	result.high = result.mean + half;
	return result;
}

struct interval interval_of_ratio(double *ratios, size_t n, double confidence)
{
	struct interval logs;

	for (size_t i = 0; i < n; i++)
		ratios[i] = log(ratios[i]);
	logs = interval_of_mean(ratios, n, confidence);
	return (struct interval){exp(logs.mean), exp(logs.low), exp(logs.high)};
}
