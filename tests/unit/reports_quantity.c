/* reports_quantity.c - numbers have at most four significant digits and the right unit. */
#include "reports/quantity.h"

#include <math.h>

#include "tests/tap.h"

static const struct report_style unicode = {.columns = 80, .has_unicode = true};
static const struct report_style ascii = {.columns = 80};

static void test_decimals(void)
{
	static const struct {
		double largest;
		int decimals;
	} cases[] = {{0, 0},      {0.5, 4}, {1, 3},      {9.9994, 3}, {9.9996, 2}, {99.99, 2},
	             {99.996, 1}, {123, 1}, {999.96, 0}, {1e9, 0},    {NAN, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_is_int(quantity_decimals(cases[i].largest), cases[i].decimals,
		           "a column up to %g has %d decimals", cases[i].largest,
		           cases[i].decimals);
}

static void test_numbers(void)
{
	char text[QUANTITY_BYTES];

	tap_is_str(quantity_number(1438.4, 0, &unicode, text), "1,438", "thousands are separated");
	tap_is_str(quantity_number(1234567, 0, &unicode, text), "1,235,000",
	           "a long number claims four digits");
	tap_is_str(quantity_number(-1234.5, 1, &unicode, text), "-1,234.5",
	           "a sign is not a digit");
	tap_is_str(quantity_number(999.96, 1, &unicode, text), "1,000.0",
	           "rounding up adds the comma");
	tap_is_str(quantity_number(NAN, 1, &unicode, text), "—", "what is no number is a dash");
	tap_is_str(quantity_number(-INFINITY, 1, &ascii, text), "-", "and a hyphen in ASCII");
	tap_is_str(quantity_count(1234567, text), "1,234,567", "a count keeps every digit");
	tap_is_str(quantity_count(-100, text), "-100",
	           "a negative count has no comma behind its sign");
}

static void test_spans(void)
{
	static const struct {
		double seconds, largest;
		const char *text;
	} cases[] = {
		{0, 0, "0 s"},
		{0.75284, 0.75284, "0.7528 s"},
		{12.3449, 12.3449, "12.34 s"},
		{12.3449, 812, "12.3 s"},
		{999.94, 999.94, "999.9 s"},
		{999.96, 999.96, "16 min 40 s"},
		{1443, 1443, "24 min 03 s"},
		{69.85, 1443.6, "1 min 10 s"},
		{5999.4, 5999.4, "99 min 59 s"},
		{5999.6, 5999.6, "1 h 40 min"},
		{600, 6180, "0 h 10 min"},
		{1e6, 1e6, "277.8 h"},
		{NAN, 5, "-"},
		{5, NAN, "5 s"},
	};
	char text[QUANTITY_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_is_str(quantity_span(cases[i].seconds, cases[i].largest, &ascii, text),
		           cases[i].text, "%g seconds beside %g read %s", cases[i].seconds,
		           cases[i].largest, cases[i].text);
}

static void test_durations_and_ratios(void)
{
	char text[QUANTITY_BYTES];

	tap_is_str(quantity_duration(958.16, &ascii, text), "958.2 ms", "milliseconds stay");
	tap_is_str(quantity_duration(1438.4, &ascii, text), "1.438 s", "long ones are seconds");
	tap_is_str(quantity_duration(0.0125, &ascii, text), "12.50 us",
	           "short ones are microseconds");
	tap_is_str(quantity_duration(999.96, &ascii, text), "1.000 s",
	           "the unit is that of the rounded value");
	tap_is_str(quantity_ratio(1.6149, &ascii, text), "1.61x", "a ratio has two decimals");
	tap_is_str(quantity_ratio(12.345, &ascii, text), "12.3x", "a large one has one");
	tap_is_str(quantity_ratio(431.2, &ascii, text), "431x", "a larger one has none");
	tap_is_str(quantity_ratio(NAN, &unicode, text), "—", "no ratio is a dash");
	tap_is_str(quantity_speed(16, text), "16 times faster than the profile", "a speed");
	tap_is_str(quantity_speed(0.25, text), "4 times slower than the profile", "a slow one");
	tap_is_str(quantity_speed(1, text), "as fast as the profile", "none");
	tap_is_str(quantity_speed(3.14159, text), "3.142 times faster than the profile",
	           "four digits of it");
}

int main(void)
{
	test_decimals();
	test_numbers();
	test_spans();
	test_durations_and_ratios();
	return tap_done();
}
