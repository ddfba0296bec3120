/* model_kernels.c - the arithmetic on elements and rows against the C library's doubles. */
#include <float.h>
#include <math.h>

#include "engine/model/row_kernels.h"
#include "tests/tap.h"

enum { N = 21 };

static void check_exp(void)
{
	double worst = 0;

	for (int i = -87000; i <= 88000; i += 7) {
		float x = (float)i / 1000;
		double want = exp((double)x);

		worst = tap_worst(worst, fabs((double)kernel_exp(x) - want) / want);
	}
	tap_note("exponential: largest relative error %.2g", worst);
	tap_ok(worst < 3e-7, "the exponential is right from e^-87 to e^88");
	tap_ok(kernel_exp(0) == 1, "e^0 is 1");
	tap_ok(kernel_exp(-5000) > 0 && kernel_exp(-1e6f) < 1e-37f, "far below, it is near 0");
	tap_ok(kernel_exp(1e6f) > 1e37f && isfinite(kernel_exp(5000)),
	       "far above, it is large, not infinite");
	tap_ok(isnan(kernel_exp(NAN)), "of no number it is none");
}

static double gelu(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void check_gelu(void)
{
	double worst = 0, worst_slope = 0;
	float slope;

	for (int i = -12000; i <= 12000; i++) {
		double x = i / 1000.0, nudge = 1e-4;

		worst = tap_worst(worst, fabs((double)kernel_gelu((float)x, &slope) - gelu(x)));
		worst_slope = tap_worst(
			worst_slope,
			fabs((double)slope - (gelu(x + nudge) - gelu(x - nudge)) / (2 * nudge)));
	}
	tap_note("GELU: largest error %.2g, of its slope %.2g", worst, worst_slope);
	tap_ok(worst < 1e-6, "GELU is right from -12 to 12");
	tap_ok(worst_slope < 3e-6, "and so is its slope");
	tap_ok(fabsf(kernel_gelu(-60, &slope)) < 1e-30f && fabsf(slope) < 1e-30f,
	       "far below 0 it is 0 and flat");
	tap_ok(kernel_gelu(60, &slope) == 60 && slope == 1, "far above it is its argument");
	tap_ok(isnan(kernel_gelu(NAN, &slope)) && isnan(slope), "of no number it is none");
}

static void check_sums(void)
{
	float a[N], b[N];

	for (int n = 1; n <= N; n++) {
		int sum = 0, product = 0, most = -99;

		for (int i = 0; i < n; i++) {
			int value = (i * 7 + n) % 11 - 15;

			a[i] = (float)value;
			b[i] = (float)(i - 3);
			sum += value;
			product += value * (i - 3);
			most = value > most ? value : most;
		}
		if (!tap_ok(kernel_sum(a, n) == (float)sum && kernel_most(a, n) == (float)most &&
		                    kernel_dot(a, b, n) == (float)product,
		            "sum, product and maximum of %d elements are right", n))
			return;
	}
}

static void check_softmax(void)
{
	float x[N], shifted[N];
	double sum = 0, want = 0;
	float log_sum;

	for (int i = 0; i < N; i++) {
		x[i] = (float)(i % 5) * 3 - 8;
		shifted[i] = x[i] + 20000;
		want += exp((double)x[i] * 0.25);
	}
	log_sum = kernel_softmax(x, N, 0.25f);
	kernel_softmax(shifted, N, 0.25f);
	tap_is_number((double)log_sum, log(want), 1e-6, "the logarithm of the sum is right");
	for (int i = 0; i < N; i++) {
		sum += (double)x[i];
		if (fabs((double)x[i] - exp(((double)(i % 5) * 3 - 8) * 0.25) / want) > 1e-7)
			tap_ok(false, "probability %d is right", i);
		if (x[i] != shifted[i])
			tap_ok(false, "probability %d is the same 20000 higher", i);
	}
	tap_is_number(sum, 1, 1e-6, "probabilities add up to 1");
	x[0] = 1e6f;
	x[1] = -1e6f;
	kernel_softmax(x, 2, 1);
	tap_ok(x[0] == 1 && x[1] < 1e-37f, "a huge difference gives 1 and 0");
	x[1] = NAN;
	kernel_softmax(x, N, 1);
	tap_ok(isnan(x[0]) && isnan(x[N - 1]), "one that is no number spoils the row, openly");
}

static void check_cross_entropy(void)
{
	float x[N];
	double loss, want = 0, sum = 0;

	for (int i = 0; i < N; i++) {
		x[i] = (float)i / 4;
		want += exp((double)x[i]);
	}
	want = log(want) - 2.5;
	loss = (double)kernel_cross_entropy(x, N, 10);
	tap_is_number(loss, want, 1e-6, "cross-entropy is right");
	tap_is_number((double)x[10], exp(-want), 1e-7, "and leaves probabilities");
	kernel_cross_entropy_backward(N, 10, 0.5f, x);
	for (int i = 0; i < N; i++)
		sum += (double)x[i];
	tap_is_number((double)x[10], 0.5 * (exp(-want) - 1), 1e-7, "the target is pulled up");
	tap_is_number(sum, 0, 1e-7, "and all together are neither");
}

static void check_layer_norm(void)
{
	float x[N], normal[N];
	float scale;

	for (int i = 0; i < N; i++)
		x[i] = (float)(i % 7) * 2 - 1;
	scale = kernel_layer_norm(x, N, normal);
	tap_is_number((double)kernel_sum(normal, N), 0, 1e-5, "a normalised row has mean 0");
	tap_is_number((double)kernel_dot(normal, normal, N) / N, 1, 1e-5, "and variance 1");
	tap_is_number((double)scale, 0.25, 1e-6, "its scale is 1 / deviation");
	for (int i = 0; i < N; i++)
		x[i] = 3;
	scale = kernel_layer_norm(x, N, normal);
	tap_ok(isfinite(scale) && normal[0] == 0 && normal[N - 1] == 0,
	       "a row of equal numbers becomes 0");
	x[3] = NAN;
	kernel_layer_norm(x, N, normal);
	tap_ok(isnan(normal[0]), "one that is no number spoils the row, openly");
}

int main(void)
{
	check_exp();
	check_gelu();
	check_sums();
	check_softmax();
	check_cross_entropy();
	check_layer_norm();
	return tap_done();
}
