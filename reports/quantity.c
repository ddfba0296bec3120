/* quantity.c - numbers for people: at most four significant digits, thousands separated. */
#include "reports/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNIFICANT = 4 };

/* Beyond this a number says nothing that a table could show, and its digits would not fit. */
static const double LARGEST = 1e15;

int quantity_decimals(double largest)
{
	int decimals = SIGNIFICANT - 1;

	if (!isfinite(largest) || largest == 0)
		return 0;
	/* What is shown is what counts: 9.9996 is 10.00 in four digits. */
	for (double limit = 9.9995; decimals > 0 && fabs(largest) >= limit; limit *= 10)
		decimals--;
	return fabs(largest) < 0.99995 ? SIGNIFICANT : decimals;
}

double quantity_largest(const double *values, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			largest = fmax(largest, fabs(values[i]));
	return largest;
}

static char *nothing(const struct report_style *style, char *out)
{
	snprintf(out, QUANTITY_BYTES, "%s", style->has_unicode ? "—" : "-");
	return out;
}

/* Put a comma before every third digit in front of the point. */
static char *separate(const char *plain, char *out)
{
	size_t n_whole = strcspn(plain, "."), used = 0, sign = plain[0] == '-';

	for (size_t i = 0; plain[i] && used + 2 < QUANTITY_BYTES; i++) {
		if (i > sign && i < n_whole && (n_whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = plain[i];
	}
	out[used] = '\0';
	return out;
}

/* Rounded to four significant digits, so that a long number does not claim more. */
static double rounded(double value)
{
	double unit = 1;

	while (fabs(value) / unit >= 9999.5)
		unit *= 10;
	return unit > 1 ? round(value / unit) * unit : value;
}

char *quantity_number(double value, int decimals, const struct report_style *style, char *out)
{
	char plain[QUANTITY_BYTES];

	if (!isfinite(value) || fabs(value) > LARGEST)
		return nothing(style, out);
	snprintf(plain, sizeof(plain), "%.*f", decimals, rounded(value));
	return separate(plain, out);
}

char *quantity_count(long long count, char *out)
{
	char plain[QUANTITY_BYTES];

	snprintf(plain, sizeof(plain), "%lld", count);
	return separate(plain, out);
}

char *quantity_span(double seconds, double largest, const struct report_style *style, char *out)
{
	char number[QUANTITY_BYTES];
	long long whole;

	if (!isfinite(seconds) || fabs(seconds) > LARGEST)
		return nothing(style, out);
	if (!(largest >= 999.95)) {
		quantity_number(seconds, quantity_decimals(largest), style, number);
		snprintf(out, QUANTITY_BYTES, "%.40s s", number);
	} else if (largest < 5999.5) {
		whole = llround(seconds);
		snprintf(out, QUANTITY_BYTES, "%lld min %02lld s", whole / 60, llabs(whole % 60));
	} else if (largest < 360000) {
		whole = llround(seconds / 60);
		snprintf(out, QUANTITY_BYTES, "%lld h %02lld min", whole / 60, llabs(whole % 60));
	} else {
		snprintf(out, QUANTITY_BYTES, "%.40s h",
		         quantity_number(seconds / 3600, quantity_decimals(largest / 3600), style,
		                         number));
	}
	return out;
}

char *quantity_duration(double ms, const struct report_style *style, char *out)
{
	char number[QUANTITY_BYTES];
	bool is_long = fabs(ms) >= 999.95, is_short = fabs(ms) < 0.99995 && ms != 0;
	double value = is_long ? ms / 1e3 : is_short ? ms * 1e3 : ms;

	if (!isfinite(ms) || fabs(ms) > LARGEST)
		return nothing(style, out);
	quantity_number(value, quantity_decimals(value), style, number);
	snprintf(out, QUANTITY_BYTES, "%.40s %s", number, is_long ? "s" : is_short ? "us" : "ms");
	return out;
}

char *quantity_ratio(double ratio, const struct report_style *style, char *out)
{
	char number[QUANTITY_BYTES];
	int decimals = ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;

	if (!isfinite(ratio) || fabs(ratio) > LARGEST)
		return nothing(style, out);
	snprintf(out, QUANTITY_BYTES, "%.40sx", quantity_number(ratio, decimals, style, number));
	return out;
}

char *quantity_speed(double speed, char *out)
{
	bool is_faster = speed > 1;

	if (speed == 1 || !isfinite(speed) || !(speed > 0))
		snprintf(out, QUANTITY_BYTES, "as fast as the profile");
	else
		snprintf(out, QUANTITY_BYTES, "%.4g times %s than the profile",
		         is_faster ? speed : 1 / speed, is_faster ? "faster" : "slower");
	return out;
}
