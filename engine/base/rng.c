/* rng.c - random numbers that depend on what they are for, not on who asked before. */
#include "engine/base/rng.h"

#include <math.h>
#include <stddef.h>

/* Weyl increment and finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014; constants of variant 13 by Stafford). */
static const uint64_t increment = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t finalise(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t rng_mix(uint64_t seed, uint64_t key)
{
	/* Mixed twice: with one finaliser over a sum or an xor of both, (seed, key) and (key, seed)
	 * or neighbours on a diagonal would draw the same. */
	return finalise((finalise(seed + increment) ^ key) + increment);
}

double rng_uniform(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

/* In (0, 1), never an end: the middles of 2^52 equal intervals, all exact. */
static double uniform_open(uint64_t bits)
{
	return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Horner's scheme; the highest power comes first. */
static double polynomial(const double *coefficients, size_t n, double x)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = sum * x + coefficients[i];
	return sum;
}

/* Peter Acklam's rational approximation of the inverse of the normal distribution function: a / b
 * around the middle, c / d in the tails. */
static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                           6.680131188771972e+01,  -1.328068155288572e+01, 1};
static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00, 1};
static const double p_low = 0.02425;

static double normal_tail(double p)
{
	double q = sqrt(-2 * log(p));

	return polynomial(c, 6, q) / polynomial(d, 5, q);
}

static double normal_inverse(double p)
{
	double q = p - 0.5;

	if (p < p_low)
		return normal_tail(p);
	if (p > 1 - p_low)
		return -normal_tail(1 - p);
	return polynomial(a, 6, q * q) * q / polynomial(b, 6, q * q);
}

double rng_normal(uint64_t bits)
{
	return normal_inverse(uniform_open(bits));
}

double rng_pareto(uint64_t bits)
{
	/* Shape 3 from 1 on: mean 3/2, variance 3/4. */
	return (1 / cbrt(uniform_open(bits)) - 1.5) / sqrt(0.75);
}

double rng_paretonormal(uint64_t bits)
{
	/* Each half is the upper bits of a draw; the lower ones are the middle of what it leaves.
	 */
	const uint64_t middle = UINT64_C(1) << 31;
	double normal = rng_normal((bits & UINT64_C(0xffffffff00000000)) | middle);
	double pareto = rng_pareto(bits << 32 | middle);

	return (0.25 * normal + 0.75 * pareto) / sqrt(0.25 * 0.25 + 0.75 * 0.75);
}
