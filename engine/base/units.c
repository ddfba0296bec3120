/* units.c - quantities with units, read and written.
 *
 * Reading never goes through a double. A decimal fraction times a unit is the digit string times an
 * integer: multiplied from the last digit to the first, the carry that leaves the first digit is
 * the whole part of the product, however many digits there are. Doing it with twice the unit gives
 * the half that rounding needs. */
#include "engine/base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"

static const uint64_t quantity_limit = (uint64_t)1 << 62;

enum { RATIO_DIGITS = 64, RANGE_BYTES = 64 };

struct unit {
	const char *name;
	uint64_t factor;
};

/* A kind of quantity. Units end with a NULL name. */
struct quantity {
	const char *noun;
	const char *example;
	const char *base; /* what the result counts */
	const struct unit *units;
};

static const struct unit duration_units[] = {
	{"ns", 1},
	{"us", NS_PER_US},
	{"ms", NS_PER_MS},
	{"s", NS_PER_S},
	{"min", UINT64_C(60) * NS_PER_S},
	{"h", UINT64_C(3600) * NS_PER_S},
	{NULL, 0},
};

static const struct unit rate_units[] = {
	{"bit", 1},
	{"kbit", 1000},
	{"Mbit", 1000000},
	{"Gbit", 1000000000},
	{"Tbit", 1000000000000},
	{"B", 8},
	{"kB", 8000},
	{"MB", 8000000},
	{"GB", 8000000000},
	{"TB", 8000000000000},
	{NULL, 0},
};

static const struct unit size_units[] = {
	{"B", 1},
	{"kB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", 1000000000000},
	{"KiB", UINT64_C(1) << 10},
	{"MiB", UINT64_C(1) << 20},
	{"GiB", UINT64_C(1) << 30},
	{"TiB", UINT64_C(1) << 40},
	{NULL, 0},
};

static const struct quantity duration = {"duration", "30ms", "ns", duration_units};
static const struct quantity rate = {"rate", "200Gbit", "bit/s", rate_units};
static const struct quantity size = {"size", "4MiB", "bytes", size_units};

static size_t n_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* A decimal number at the start of a text: its digits before and after the point. */
struct decimal {
	const char *whole;
	size_t n_whole;
	const char *fraction;
	size_t n_fraction;
	const char *rest;
};

static bool decimal_scan(const char *text, struct decimal *out)
{
	struct decimal d = {.whole = text, .n_whole = n_digits(text)};

	d.rest = text + d.n_whole;
	if (d.n_whole == 0)
		return false;
	if (*d.rest == '.') {
		d.fraction = d.rest + 1;
		d.n_fraction = n_digits(d.fraction);
		if (d.n_fraction == 0)
			return false;
		d.rest = d.fraction + d.n_fraction;
	}
	*out = d;
	return true;
}

/* Times factor, rounded half up; false when it is more than the limit. */
static bool decimal_times(const struct decimal *d, uint64_t factor, uint64_t *out)
{
	uint64_t most = quantity_limit / factor, whole = 0, carry = 0;

	for (size_t i = 0; i < d->n_whole; i++) {
		uint64_t digit = (uint64_t)(d->whole[i] - '0');

		/* Asked before: ten times the limit does not fit. Every factor leaves room for a
		 * digit. */
		if (whole > (most - digit) / 10)
			return false;
		whole = whole * 10 + digit;
	}
	for (size_t i = d->n_fraction; i-- > 0;)
		carry = ((uint64_t)(d->fraction[i] - '0') * 2 * factor + carry) / 10;
	*out = whole * factor + (carry + 1) / 2;
	return *out <= quantity_limit;
}

static const struct unit *unit_find(const struct quantity *q, const char *name)
{
	for (const struct unit *unit = q->units; unit->name; unit++)
		if (strcmp(unit->name, name) == 0)
			return unit;
	return NULL;
}

static int wrong_unit(const struct quantity *q, const char *text, const char *found,
                      struct err *err)
{
	struct strbuf known = {0};
	int rc;

	for (const struct unit *unit = q->units; unit->name; unit++) {
		if (unit > q->units)
			strbuf_add(&known, unit[1].name ? ", " : " or ");
		strbuf_add(&known, unit->name);
	}
	if (!found)
		rc = err_set(err, -EINVAL, "'%s' is not a %s; write a number and %s, such as %s",
		             text, q->noun, strbuf_text(&known), q->example);
	else if (*found == '\0')
		rc = err_set(err, -EINVAL, "%s '%s' has no unit; write a number and %s, such as %s",
		             q->noun, text, strbuf_text(&known), q->example);
	else
		rc = err_set(err, -EINVAL, "%s '%s' has the unknown unit '%s'; use %s, as in %s",
		             q->noun, text, found, strbuf_text(&known), q->example);
	strbuf_fini(&known);
	return rc;
}

static int quantity_parse(const struct quantity *q, const char *text, int64_t *out, struct err *err)
{
	const struct unit *unit;
	struct decimal number;
	uint64_t value;

	if (!decimal_scan(text, &number))
		return wrong_unit(q, text, NULL, err);
	unit = unit_find(q, number.rest);
	if (!unit)
		return wrong_unit(q, text, number.rest, err);
	if (!decimal_times(&number, unit->factor, &value))
		return err_set(err, -EINVAL, "%s '%s' is too large; the most is 2^62 %s", q->noun,
		               text, q->base);
	*out = (int64_t)value;
	return 0;
}

int units_parse_duration(const char *text, int64_t *ns_out, struct err *err)
{
	return quantity_parse(&duration, text, ns_out, err);
}

int units_parse_rate(const char *text, int64_t *bits_per_s_out, struct err *err)
{
	return quantity_parse(&rate, text, bits_per_s_out, err);
}

int units_parse_size(const char *text, int64_t *bytes_out, struct err *err)
{
	return quantity_parse(&size, text, bytes_out, err);
}

int units_parse_ratio(const char *text, double *ratio_out, struct err *err)
{
	char digits[RATIO_DIGITS + sizeof("e-2")];
	struct decimal number;
	bool is_percent;
	double ratio;

	if (!decimal_scan(text, &number) || (*number.rest != '\0' && strcmp(number.rest, "%") != 0))
		return err_set(err, -EINVAL,
		               "'%s' is not a ratio; write 0 to 1, such as 0.001 or 0.1%%", text);
	if (number.rest - text > RATIO_DIGITS)
		return err_set(err, -EINVAL, "ratio '%s' has more than %d digits", text,
		               RATIO_DIGITS);
	/* The exponent makes 0.1% the same double as 0.001; dividing by 100 would round twice. */
	is_percent = *number.rest == '%';
	snprintf(digits, sizeof(digits), "%.*s%s", (int)(number.rest - text), text,
	         is_percent ? "e-2" : "");
	ratio = strtod(digits, NULL);
	if (ratio > 1)
		return err_set(err, -EINVAL, "ratio '%s' is more than 1, or 100%%", text);
	*ratio_out = ratio;
	return 0;
}

/* "1 to 60", or "1 or more" where nothing but the type is the limit. */
static const char *range_text(int64_t low, int64_t high, char out[RANGE_BYTES])
{
	if (high == INT64_MAX)
		snprintf(out, RANGE_BYTES, "%lld or more", (long long)low);
	else
		snprintf(out, RANGE_BYTES, "%lld to %lld", (long long)low, (long long)high);
	return out;
}

int units_parse_count(const char *text, int64_t low, int64_t high, int64_t *out, struct err *err)
{
	const char *digits = text + (*text == '-');
	char range[RANGE_BYTES];
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (n_digits(digits) == 0 || *end != '\0')
		return err_set(err, -EINVAL, "'%s' is not a whole number; wanted %s", text,
		               range_text(low, high, range));
	if (errno && value > 0 && high == INT64_MAX)
		return err_set(err, -EINVAL, "%s is out of range; wanted at most %lld", text,
		               (long long)high);
	if (errno || value < low || value > high)
		return err_set(err, -EINVAL, "%s is out of range; wanted %s", text,
		               range_text(low, high, range));
	*out = value;
	return 0;
}

/* Four significant digits in the first unit in which they are less than one of the next. */
static char *quantity_format(const struct unit *units, int64_t value, char *out)
{
	double magnitude = value < 0 ? -(double)value : (double)value;
	const struct unit *unit = units;
	char digits[UNITS_TEXT_BYTES];

	for (;; unit++) {
		double in_unit = magnitude / (double)unit->factor;

		/* %.4g would turn to exponents; only the largest unit gets there. */
		snprintf(digits, sizeof(digits), in_unit < 9999.5 ? "%.4g" : "%.0f", in_unit);
		if (!unit[1].name ||
		    strtod(digits, NULL) * (double)unit->factor < (double)unit[1].factor)
			break;
	}
	snprintf(out, UNITS_TEXT_BYTES, "%s%.19s %s", value < 0 ? "-" : "", digits, unit->name);
	return out;
}

char *units_format_duration(int64_t ns, char *out)
{
	/* Seconds up to ten minutes, minutes up to ten hours: 90 s reads better than 1.5 min. */
	static const struct unit units[] = {
		{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}, {NULL, 0},
	};
	static const struct unit long_units[] = {
		{"min", UINT64_C(60) * NS_PER_S},
		{"h", UINT64_C(3600) * NS_PER_S},
		{NULL, 0},
	};
	int64_t ten_minutes_ns = INT64_C(600) * NS_PER_S, ten_hours_ns = 60 * ten_minutes_ns;

	if (ns == 0)
		return strcpy(out, "0 s");
	if (ns < ten_minutes_ns && ns > -ten_minutes_ns)
		return quantity_format(units, ns, out);
	return quantity_format(long_units + (ns >= ten_hours_ns || ns <= -ten_hours_ns), ns, out);
}

char *units_format_rate(int64_t bits_per_s, char *out)
{
	static const struct unit units[] = {
		{"bit/s", 1},           {"kbit/s", 1000},          {"Mbit/s", 1000000},
		{"Gbit/s", 1000000000}, {"Tbit/s", 1000000000000}, {NULL, 0},
	};

	return quantity_format(units, bits_per_s, out);
}

char *units_format_size(int64_t bytes, char *out)
{
	static const struct unit units[] = {
		{"B", 1},
		{"KiB", UINT64_C(1) << 10},
		{"MiB", UINT64_C(1) << 20},
		{"GiB", UINT64_C(1) << 30},
		{"TiB", UINT64_C(1) << 40},
		{NULL, 0},
	};

	return quantity_format(units, bytes, out);
}

char *units_format_span(int64_t ns, char *out)
{
	uint64_t magnitude_ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned long long s = (magnitude_ns + NS_PER_S / 2) / NS_PER_S;
	unsigned long long min = (s + 30) / 60;
	const char *sign = ns < 0 && s > 0 ? "-" : "";

	if (s < 60)
		snprintf(out, UNITS_TEXT_BYTES, "%s%llu s", sign, s);
	else if (s < 3600)
		snprintf(out, UNITS_TEXT_BYTES, "%s%llu min %02llu s", sign, s / 60, s % 60);
	else
		snprintf(out, UNITS_TEXT_BYTES, "%s%llu h %02llu min", sign, min / 60, min % 60);
	return out;
}
