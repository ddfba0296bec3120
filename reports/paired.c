/* paired.c - one thing over another, from interleaved repeats of both.
 *
 * A run is one number. Its iterations are not samples of what is asked: they share the run's luck
 * (where its memory came to lie, which core it got, what else the machine did), and each is like
 * the one before it. An interval pooled over the iterations of all runs takes them for so many
 * answers and is far too narrow; tests/unit/reports_coverage.c shows by how much.
 *
 * Repeats go through the schedules forwards and backwards (A B C C B A), so a steady drift of the
 * machine makes A's share of every second pair as much too large as that of the others too small.
 * In the mean over an even number of pairs it is gone, while it still widens the interval: more
 * than 95 % are covered when the machine drifts, never less. */
#include "reports/paired.h"

#include <math.h>

#include "reports/interval.h"

static const double CONFIDENCE = 0.95;

struct paired paired_of(double *ratios, size_t n)
{
	struct paired out = {NAN, NAN, NAN, NAN, NAN, (int)n};
	struct interval interval;
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		if (!(ratios[i] > 0) || !isfinite(ratios[i]))
			return out;
		least = fmin(least, ratios[i]);
		most = fmax(most, ratios[i]);
	}
	if (n == 0)
		return out;
	interval = interval_of_ratio(ratios, n, CONFIDENCE);
	return (struct paired){interval.mean, interval.low, interval.high, least, most, (int)n};
}

bool paired_is_wide(const struct paired *paired)
{
	return paired->low < paired->high && paired->pairs < PAIRED_FEW;
}

double paired_width_ratio(const struct paired *paired)
{
	return isfinite(paired->low) ? fmax(paired->high, 1 / paired->low) - 1 : NAN;
}
