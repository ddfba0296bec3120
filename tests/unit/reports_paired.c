/* reports_paired.c - speedups from pairs of repeats. */
#include "reports/paired.h"

#include <math.h>

#include "tests/tap.h"

static struct paired of_three(double a, double b, double c)
{
	double ratios[] = {a, b, c};

	return paired_of(ratios, 3);
}

static void test_interval(void)
{
	struct paired paired = of_three(1.2, 1.25, 1.3), inverse = of_three(1 / 1.2, 0.8, 1 / 1.3);

	tap_is_number(paired.ratio, cbrt(1.2 * 1.25 * 1.3), 1e-12,
	              "the ratio is exp of the mean log ratio");
	tap_is_number(paired.ratio * inverse.ratio, 1, 1e-12, "so a over b is b over a inverted");
	tap_is_number(paired.low * inverse.high, 1, 1e-12, "and so is its interval");
	tap_is_number(paired.least, 1.2, 0, "the spread starts at the least pair");
	tap_is_number(paired.most, 1.3, 0, "and ends at the one with the most");
	tap_is_int(paired.pairs, 3, "pairs are counted");
}

static void test_width(void)
{
	double five[] = {1.01, 0.99, 1, 1.02, 0.98};
	struct paired few = of_three(1.2, 1.25, 1.3), many = paired_of(five, 5);
	struct paired slow = {1 / 1.05, 1 / 1.2, 1, 0.8, 1, 6};

	tap_ok(paired_is_wide(&few), "three pairs are few");
	tap_ok(!paired_is_wide(&many), "five are not");
	tap_is_number(paired_width_ratio(&many), 1 / many.low - 1, 1e-12,
	              "the width is that of the farther end");
	tap_is_number(paired_width_ratio(&slow), 0.2, 1e-12, "whichever side it is on");
}

static void test_none(void)
{
	double one = 1.5;
	struct paired single = paired_of(&one, 1), none = paired_of(&one, 0);
	struct paired broken = of_three(1, NAN, 1), zero = of_three(1, 0, 1);
	struct paired same = of_three(1, 1, 1);

	tap_ok(fabs(single.ratio - 1.5) < 1e-12 && isnan(single.low) && isnan(single.high),
	       "one pair has a ratio and no interval");
	tap_ok(!paired_is_wide(&single) && isnan(paired_width_ratio(&single)),
	       "so there is nothing that could be wide");
	tap_ok(none.pairs == 0 && isnan(none.ratio), "no pair has no ratio");
	tap_ok(isnan(broken.ratio) && isnan(broken.low) && broken.pairs == 3,
	       "a pair without a number leaves none");
	tap_ok(isnan(zero.ratio), "nor does one that took no time");
	tap_ok(same.low == 1 && same.high == 1 && paired_width_ratio(&same) == 0,
	       "equal pairs have an interval of no width");
	tap_ok(!paired_is_wide(&same), "and more of them would be no better");
}

int main(void)
{
	test_interval();
	test_width();
	test_none();
	return tap_done();
}
